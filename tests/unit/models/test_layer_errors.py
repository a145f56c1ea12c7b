"""The layer programs on the host: gradients within their bounds of the reference, and the same bits in every order."""

import numpy as np
import pytest

from cgraph.cli.layer_oracle import layer_expectations
from cgraph.core.elements import Element
from cgraph.models.comparison import compare
from cgraph.models.random_planes import random_planes
from cgraph.reference.bounds import Half, gradient_bound
from cgraph.schedule.model import Order
from tests.support.layer_runs import Planes, Prepared, prepare

SIZES: tuple[dict[str, int | float], ...] = (
    {"cgSeq": 1, "cgHeads": 1, "cgHeadWidth": 16, "cgFfn": 17, "cgLayers": 1, "cgCausal": 1, "cgRecompute": 1},
    {"cgSeq": 7, "cgHeads": 3, "cgHeadWidth": 6, "cgFfn": 33, "cgLayers": 2, "cgCausal": 0, "cgRecompute": 0},
    {"cgSeq": 33, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 50, "cgLayers": 3, "cgCausal": 1, "cgRecompute": 0},
    {"cgSeq": 64, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 64, "cgLayers": 2, "cgCausal": 1, "cgRecompute": 1},
    {"cgSeq": 129, "cgHeads": 4, "cgHeadWidth": 8, "cgFfn": 65, "cgLayers": 1, "cgCausal": 0, "cgRecompute": 1},
    {"cgSeq": 200, "cgHeads": 1, "cgHeadWidth": 24, "cgFfn": 32, "cgLayers": 1, "cgCausal": 1, "cgRecompute": 1},
)
ROUNDED: dict[Element, Half] = {Element.F16: "f16", Element.BF16: "bf16"}
GRADIENTS_OF_A_LAYER = 9


def bound_of(half: Element, sizes: dict[str, int | float]) -> float:
    if half in ROUNDED:
        width = int(sizes["cgHeads"] * sizes["cgHeadWidth"])
        lengths = {"seq": int(sizes["cgSeq"]), "ffn": int(sizes["cgFfn"]), "layers": int(sizes["cgLayers"])}
        return gradient_bound(ROUNDED[half], width=width, **lengths)
    return {Element.F64: 1e-10, Element.F32: 2e-5}[half]


def prepared_pair(
    sizes: dict[str, int | float], half: Element, order: Order = Order.DATAFLOW
) -> tuple[Prepared, Prepared]:
    return prepare("layer_forward", sizes, half, order), prepare("layer_backward", sizes, half, order)


def run_both(forward: Prepared, backward: Prepared, seed: int) -> tuple[Planes, Planes]:
    """What the backward program was given, and what it left."""
    values = random_planes((forward.graph, backward.graph), seed)
    given = {**values, **forward.run(values)}
    return given, backward.run(given)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("half", [Element.F64, Element.F32, Element.F16, Element.BF16])
def test_every_gradient_keeps_its_bound(sizes: dict[str, int | float], half: Element) -> None:
    forward, backward = prepared_pair(sizes, half)
    given, got = run_both(forward, backward, seed=1)
    expected = layer_expectations(backward.graph, given)
    assert expected is not None
    assert len(expected) == 1 + GRADIENTS_OF_A_LAYER * sizes["cgLayers"]
    assert [row for row in compare(expected, got, bound_of(half, sizes)) if not row.holds] == []


@pytest.mark.parametrize("half", [Element.F64, Element.F32, Element.F16, Element.BF16])
def test_the_forward_pass_keeps_the_same_bound(half: Element) -> None:
    sizes = SIZES[2]
    forward = prepare("layer_forward", sizes, half)
    values = random_planes((forward.graph,), 2)
    expected = layer_expectations(forward.graph, values)
    assert expected is not None
    assert sorted(expected) == ["cgBoundary 0", "cgBoundary 1", "cgBoundary 2", "cgBoundary 3", "cgOutput"]
    assert [row for row in compare(expected, forward.run(values), bound_of(half, sizes)) if not row.holds] == []


@pytest.mark.parametrize(
    ("parameter", "value"), [("cgCausal", 0), ("cgNormEpsilon", 1e-2), ("cgRopeBase", 100.0), ("cgHeads", 4)]
)
def test_other_parameters_do_not_keep_even_the_loosest_bound(parameter: str, value: float) -> None:
    sizes = SIZES[3]
    forward, backward = prepared_pair(sizes, Element.BF16)
    given, got = run_both(forward, backward, seed=1)
    changed = {**sizes, parameter: value}
    changed["cgHeadWidth"] = 32 // int(changed["cgHeads"])
    other = prepare("layer_backward", changed, Element.BF16)
    expected = layer_expectations(other.graph, given)
    assert expected is not None
    rows = compare(expected, got, bound_of(Element.F16, sizes))
    assert [row for row in rows if not row.holds] != []


@pytest.mark.parametrize("half", [Element.F64, Element.F32, Element.F16, Element.BF16])
@pytest.mark.parametrize("sizes", SIZES[1:4], ids=str)
def test_every_order_and_every_run_give_the_same_bits(sizes: dict[str, int | float], half: Element) -> None:
    left = []
    for order in Order:
        forward, backward = prepared_pair(sizes, half, order)
        given, first = run_both(forward, backward, seed=3)
        backward.executable.run()
        left += [{**given, **first}, {**given, **backward.planes()}]
    names = sorted(left[0])
    assert len(names) > GRADIENTS_OF_A_LAYER * sizes["cgLayers"]
    for other in left[1:]:
        assert sorted(other) == names
        for name in names:
            assert np.array_equal(as_bytes(left[0][name]), as_bytes(other[name])), name


def as_bytes(
    plane: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.frombuffer(plane.tobytes(), np.uint8)
