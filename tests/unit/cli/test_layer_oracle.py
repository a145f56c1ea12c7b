"""What the layer programs should compute: the right weights reach the reference under the right names."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.cli.layer_oracle import layer_bound, layer_expectations
from cgraph.core.elements import Element
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import compile_program
from cgraph.reference.bounds import gradient_bound
from cgraph.reference.layer import LayerOptions, layer_backward, layer_forward
from cgraph.reference.weights import LayerWeights
from cgraph.source import Source
from tests.support.layer_runs import prepare

SIZES: dict[str, int | float] = {
    "cgSeq": 5, "cgHeads": 2, "cgHeadWidth": 4, "cgFfn": 6, "cgLayers": 2, "cgCausal": 0, "cgNormEpsilon": 1e-3,
    "cgRopeBase": 100.0,
}  # fmt: skip
OPTIONS: LayerOptions = {"heads": 2, "causal": False, "epsilon": 1e-3, "rope_base": 100.0}
Planes = dict[str, NDArray[Any]]


def weights(planes: Planes, layer: int) -> LayerWeights:
    return LayerWeights(
        qkv=planes[f"cgQkvWeight {layer}"],
        output=planes[f"cgOutputWeight {layer}"],
        up=planes[f"cgUpWeight {layer}"],
        gate=planes[f"cgGateWeight {layer}"],
        down=planes[f"cgDownWeight {layer}"],
        norm1_gain=planes[f"cgNorm1Gain {layer}"],
        norm1_shift=planes[f"cgNorm1Shift {layer}"],
        norm2_gain=planes[f"cgNorm2Gain {layer}"],
        norm2_shift=planes[f"cgNorm2Shift {layer}"],
    )


def test_a_forward_program() -> None:
    graph = prepare("layer_forward", SIZES, Element.F64).graph
    planes = random_planes((graph,), 0)
    middle, _ = layer_forward(planes["cgInput"], weights(planes, 0), **OPTIONS)
    last, _ = layer_forward(middle, weights(planes, 1), **OPTIONS)
    found = layer_expectations(graph, planes)
    assert found is not None
    expected = {"cgBoundary 0": planes["cgInput"], "cgBoundary 1": middle, "cgBoundary 2": last, "cgOutput": last}
    assert sorted(found) == sorted(expected)
    for name, plane in expected.items():
        np.testing.assert_array_equal(found[name], plane)


def test_a_backward_program_is_judged_from_its_own_boundaries() -> None:
    graph = prepare("layer_backward", SIZES, Element.F64).graph
    planes = random_planes((graph,), 0)
    generator = np.random.default_rng(1)
    planes |= {f"cgBoundary {layer}": generator.standard_normal((5, 8)) for layer in range(2)}
    middle, of_last = layer_backward(planes["cgBoundary 1"], weights(planes, 1), planes["cgOutputGradient"], **OPTIONS)
    first, of_first = layer_backward(planes["cgBoundary 0"], weights(planes, 0), middle, **OPTIONS)
    found = layer_expectations(graph, planes)
    assert found is not None
    assert len(found) == 1 + 2 * 9
    np.testing.assert_array_equal(found["cgInputGradient"], first)
    for layer, gradients in enumerate((of_first, of_last)):
        expected = {
            "cgQkvGradient": gradients.qkv,
            "cgOutputWeightGradient": gradients.output,
            "cgUpGradient": gradients.up,
            "cgGateGradient": gradients.gate,
            "cgDownGradient": gradients.down,
            "cgNorm1GainGradient": gradients.norm1_gain,
            "cgNorm1ShiftGradient": gradients.norm1_shift,
            "cgNorm2GainGradient": gradients.norm2_gain,
            "cgNorm2ShiftGradient": gradients.norm2_shift,
        }
        for family, plane in expected.items():
            np.testing.assert_array_equal(found[f"{family} {layer}"], plane, family)


def test_values_that_the_reference_cannot_judge() -> None:
    graph = prepare("layer_forward", SIZES, Element.F64).graph
    planes = random_planes((graph,), 0)
    assert layer_expectations(graph, {name: plane for name, plane in planes.items() if name != "cgUpWeight 1"}) is None
    assert layer_expectations(graph, {**planes, "cgInput": np.full((5, 8), np.nan)}) is None


@pytest.mark.parametrize("imports", ["", 'import "layer.cg"\n'])
def test_other_programs(imports: str) -> None:
    text = f"{imports}plane x : f32 [3] input\nplane y : f32 [3] output\ndef main = (cgCopy y x)"
    graph = compile_program(Source("other.cg", text), half=Element.F32).graph
    assert layer_expectations(graph, random_planes((graph,), 0)) is None
    assert layer_bound(graph) is None


@pytest.mark.parametrize(("half", "name"), [(Element.F16, "f16"), (Element.BF16, "bf16"), (Element.F32, "f32")])
def test_bounds(half: Element, name: Any) -> None:
    graph = prepare("layer_backward", SIZES, half).graph
    assert layer_bound(graph) == gradient_bound(name, seq=5, width=8, ffn=6, layers=2)


def test_the_bound_of_f64_counts_the_roundings_of_f32_in_f64() -> None:
    graph = prepare("layer_backward", SIZES, Element.F64).graph
    assert layer_bound(graph) == pytest.approx(gradient_bound("f32", seq=5, width=8, ffn=6, layers=2) * 2.0**-29)
    nothing = prepare("layer_backward", {**SIZES, "cgLayers": 0}, Element.F64).graph
    assert layer_bound(nothing) is not None
