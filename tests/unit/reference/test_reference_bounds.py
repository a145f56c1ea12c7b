"""The error bounds against a stack that rounds where a device does: never below what is seen, never ten times above."""

import math
from collections.abc import Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from attrs import evolve
from rounded_layer import Plane, rounded_stack_gradients

from cgraph.reference.bounds import (
    F32_PLANES,
    HALF_PLANES,
    MEAN_SQUARE,
    UNIT_ROUNDOFF,
    Half,
    gradient_bound,
    worst_case_bound,
)
from cgraph.reference.layer import LayerOptions
from cgraph.reference.stack import stack_backward
from cgraph.reference.weights import LayerWeights, random_weights

ROUNDED: tuple[Half, ...] = ("f32", "f16", "bf16")
SEEDS = 6


def single(plane: Plane | np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Plane:
    return plane.astype(np.float32)


def errors(
    half: Half, options: LayerOptions, *, seq: int, head_width: int, ffn: int, layers: int, seed: int, slip: float = 1.0
) -> Iterator[float]:
    """Each gradient's relative error; `slip` scales the up weights that only the rounded stack sees."""
    generator = np.random.default_rng((seed, seq, head_width))
    width = options["heads"] * head_width
    drawn = [random_weights(generator, width=width, ffn=ffn) for _ in range(layers)]
    weights = [LayerWeights(**{name: single(p).astype(float) for name, p in layer.named().items()}) for layer in drawn]
    x, dy = single(generator.standard_normal((2, seq, width)))
    dx, exact = stack_backward(x, weights, dy, **options)
    slipped = [evolve(layer, up=layer.up * slip) for layer in weights]
    found_dx, found = rounded_stack_gradients(x, slipped, dy, half, options)
    yield float(np.linalg.norm(found_dx - dx) / np.linalg.norm(dx))
    for of_layer, expected in zip(found, exact, strict=True):
        for name, plane in expected.named().items():
            yield float(np.linalg.norm(of_layer[name] - plane) / np.linalg.norm(plane))


def settings(heads: int, *, causal: bool) -> LayerOptions:
    return {"heads": heads, "causal": causal, "epsilon": 1e-5, "rope_base": 10000.0}


@pytest.mark.parametrize("half", ROUNDED)
@pytest.mark.parametrize(
    ("seq", "heads", "head_width", "ffn", "layers"),
    [
        (1, 2, 8, 33, 1),
        (7, 4, 4, 17, 2),
        (16, 2, 16, 48, 4),
        (64, 2, 16, 64, 1),
        (64, 4, 8, 129, 3),
        (128, 2, 32, 256, 1),
        (256, 1, 24, 32, 1),
        (33, 4, 16, 150, 2),
    ],
)
def test_bound_holds_and_is_tight(half: Half, *, seq: int, heads: int, head_width: int, ffn: int, layers: int) -> None:
    sizes = {"seq": seq, "ffn": ffn, "layers": layers}
    seen = max(
        error
        for seed in range(SEEDS)
        for error in errors(half, settings(heads, causal=seed % 2 == 0), head_width=head_width, seed=seed, **sizes)
    )
    bound = gradient_bound(half, width=heads * head_width, **sizes)
    assert seen <= bound <= 10 * seen


def test_a_thousandth_more_in_one_matrix_is_seen_in_f32() -> None:
    sizes = {"seq": 16, "ffn": 32, "layers": 1}
    options = settings(2, causal=True)
    bound = gradient_bound("f32", width=16, **sizes)
    assert max(errors("f32", options, head_width=8, seed=0, **sizes)) <= bound
    assert max(errors("f32", options, head_width=8, seed=0, slip=1.001, **sizes)) > 10 * bound


@pytest.mark.parametrize(("half", "limit"), [("f32", 2e-5), ("f16", 1e-2), ("bf16", 8e-2)])
@pytest.mark.parametrize("width", [32, 64, 256, 1024])
@pytest.mark.parametrize("seq", [1, 64, 1024])
def test_bound_is_small_enough_to_show_a_fault(half: Half, limit: float, *, width: int, seq: int) -> None:
    assert gradient_bound(half, seq=seq, width=width, ffn=1024, layers=1) <= limit


@pytest.mark.parametrize("half", [*ROUNDED, "f64"])
def test_bound_grows_with_every_size_and_stays_below_the_worst_case(half: Half) -> None:
    base = {"seq": 64, "width": 64, "ffn": 64, "layers": 1}
    bound = gradient_bound(half, **base)
    for name in ("seq", "ffn", "layers"):
        assert gradient_bound(half, **{**base, name: 4 * base[name]}) > bound
        assert worst_case_bound(half, **{**base, name: 4 * base[name]}) > worst_case_bound(half, **base)
    assert bound < worst_case_bound(half, **base)


def test_mean_square_of_a_rounding_error() -> None:
    # Significands of products spread evenly on a logarithmic scale (Benford's law).
    values = np.exp2(np.random.default_rng(0).uniform(0, 8, 200_000)).astype(np.float32)
    for half, kind in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        relative = values.astype(kind).astype(np.float32) / values - 1
        assert np.abs(relative).max() <= UNIT_ROUNDOFF[half]
        assert float((relative**2).mean()) / UNIT_ROUNDOFF[half] ** 2 == pytest.approx(MEAN_SQUARE, rel=0.02)


def test_roundoffs_are_half_of_the_spacing_at_one() -> None:
    for half, kind in (("f64", np.float64), ("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        assert UNIT_ROUNDOFF[half] == float(ml_dtypes.finfo(kind).eps) / 2  # type: ignore[no-untyped-call]


def test_worst_case_by_hand() -> None:
    # Sums: 14 of the width, 3 of ffn, 6 of seq; 20 half planes and 20 f32 planes.
    terms = 14 * 32 + 3 * 48 + 6 * 16
    by_hand = 2 * (Fraction(20, 2**11) + Fraction(20 + terms, 2**24))
    assert worst_case_bound("f16", seq=16, width=32, ffn=48, layers=2) == pytest.approx(float(by_hand), rel=1e-12)


def test_planes_are_counted_once() -> None:
    assert len(set(HALF_PLANES)) == len(HALF_PLANES)
    assert len(set(F32_PLANES)) == len(F32_PLANES)


def test_random_bound_by_hand() -> None:
    terms = 14 * 33 + 3 * 48 + 6 * 8
    squares = 20 / 2**16 + (20 + terms / 2) / 2**48
    by_hand = 4 * (2 * 3 * 8) ** (2 / 32) * math.sqrt(3 / (8 * math.log(2)) * squares)
    assert gradient_bound("bf16", seq=8, width=33, ffn=48, layers=3) == pytest.approx(by_hand, rel=1e-12)


def test_names_what_is_wrong() -> None:
    sizes = {"seq": 8, "width": 32, "ffn": 48, "layers": 1}
    with pytest.raises(ValueError, match=r"^half: expected one of f64, f32, f16, bf16, got 'f8'"):
        gradient_bound("f8", **sizes)  # type: ignore[arg-type]
    for name, value in (("seq", 0), ("width", 1), ("ffn", 0), ("layers", 0)):
        with pytest.raises(ValueError, match=f"^{name}: "):
            gradient_bound("f32", **{**sizes, name: value})
