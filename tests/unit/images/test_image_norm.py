import numpy as np
import pytest
from image_cases import HALVES, Array, Half, complex_step_gradient, context, f64, normal, poisoned, relative_error

from cgraph.images import norm

EPSILON = 1e-5
TOLERANCE = {"f32": 2e-6, "f64": 1e-13, "f16": 2e-6, "bf16": 2e-6}
SIZES = [(1, 1), (1, 7), (3, 5), (33, 17), (65, 8)]


def normalised(x: Array, epsilon: float = EPSILON) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    result: Array = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
    return result


def run_forward(half: Half, x: Array, gain: Array, shift: Array) -> tuple[Array, Array]:
    out, statistics = poisoned(x.shape, half.half), poisoned((x.shape[0], 2), half.wide)
    rows, width = x.shape
    norm.layer_norm(
        context(),
        out_half=out,
        statistics=statistics,
        in_=x,
        gain=gain,
        shift=shift,
        rows=rows,
        width=width,
        epsilon=EPSILON,
    )
    return out, statistics


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("rows", "width"), [*SIZES, (130, 1000)])
def test_forward(name: str, rows: int, width: int) -> None:
    half = HALVES[name]
    x = normal((rows, width), half.wide, 1, 3.0) + half.wide.type(2.0)
    gain, shift = normal((width,), half.wide, 2), normal((width,), half.wide, 3)
    out, statistics = run_forward(half, x, gain, shift)
    exact = f64(x)
    expected = normalised(exact) * f64(gain) + f64(shift)
    assert relative_error(out, expected) <= TOLERANCE[name] + half.half_unit
    assert relative_error(statistics[:, 0], exact.mean(axis=1)) <= TOLERANCE[name]
    assert relative_error(statistics[:, 1], 1.0 / np.sqrt(exact.var(axis=1) + EPSILON)) <= TOLERANCE[name]


def test_a_far_mean_costs_no_digits_of_the_variance() -> None:
    # The mean of squares less the square of the mean would leave nothing here: 1e8 has a spacing of 8 in f32.
    x = np.array([[10000.0, 10001.0, 10002.0, 10003.0]], np.float32)
    _, statistics = run_forward(HALVES["f32"], x, np.ones(4, np.float32), np.zeros(4, np.float32))
    assert abs(float(statistics[0, 1]) - 1.0 / np.sqrt(1.25 + EPSILON)) <= 1e-6


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("rows", "width"), SIZES)
@pytest.mark.parametrize("block_rows", [1, 8, 32])
def test_backward(name: str, rows: int, width: int, block_rows: int) -> None:
    half = HALVES[name]
    x, dy = normal((rows, width), half.wide, 1), normal((rows, width), half.wide, 2)
    gain = normal((width,), half.wide, 3)
    _, statistics = run_forward(half, x, gain, gain)
    blocks = -(-rows // block_rows)
    input_gradient = poisoned((rows, width), half.wide)
    gain_parts, shift_parts = poisoned((blocks, width), half.wide), poisoned((blocks, width), half.wide)
    norm.layer_norm_backward_rows(
        context(),
        input_gradient=input_gradient,
        gain_parts=gain_parts,
        shift_parts=shift_parts,
        in_=x,
        dy=dy,
        gain=gain,
        statistics=statistics,
        rows=rows,
        width=width,
        cg_norm_block_rows=block_rows,
    )
    gain_gradient, shift_gradient = poisoned((width,), half.wide), poisoned((width,), half.wide)
    norm.layer_norm_backward_sum(
        context(),
        gain_gradient=gain_gradient,
        shift_gradient=shift_gradient,
        gain_parts=gain_parts,
        shift_parts=shift_parts,
        parts=blocks,
        width=width,
    )
    normal_x, upper = normalised(f64(x)), f64(dy)
    first = slice(0, block_rows)
    expected_input = complex_step_gradient(normalised, f64(x), upper * f64(gain))
    # One channel has zero variance: its gradient is exactly 0 in theory, so an absolute bound is all there is.
    scale = max(float(np.linalg.norm(expected_input)), float(np.linalg.norm(upper)))
    assert np.linalg.norm(f64(input_gradient) - expected_input) <= 10.0 * TOLERANCE[name] * scale
    for actual, expected in (
        (gain_gradient, (upper * normal_x).sum(axis=0)),
        (shift_gradient, upper.sum(axis=0)),
        (gain_parts[0], (upper * normal_x)[first].sum(axis=0)),
        (shift_parts[0], upper[first].sum(axis=0)),
    ):
        assert np.linalg.norm(f64(actual) - expected) <= TOLERANCE[name] * max(1.0, float(np.linalg.norm(upper)))
