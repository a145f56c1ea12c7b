import math

import numpy as np
import pytest
from image_cases import HALVES, Array, Half, context, f64, normal, poisoned, relative_error

from cgraph.images import bias_gelu
from cgraph.images.normal_distribution import LARGEST, upper_tail

TOLERANCE = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-5, "bf16": 2e-5}
SIZES = [(1, 1), (7, 3), (33, 65), (70, 301)]
X = np.array([[-5, -2, -1, 0, 1, 2]])
# By hand: the tanh form and the erf form.
BY_HAND = {
    0: [-2.292e-7, -0.0454023, -0.158808, 0, 0.841192, 1.954598],
    1: [-1.433e-6, -0.0455003, -0.158655, 0, 0.841345, 1.954500],
}
erf = np.vectorize(math.erf, otypes=[np.float64])


def activation(x: Array, form: int) -> Array:
    inner = erf(x / math.sqrt(2)) if form else np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    result: Array = x * (1 + inner) / 2
    return result


def slope(x: Array, form: int) -> Array:
    """Richardson's difference of the activation, good to about 1e-12."""
    step = 1e-3

    def difference(h: float) -> Array:
        return (activation(x + h, form) - activation(x - h, form)) / (2 * h)

    coarse, middle, fine = (difference(step * factor) for factor in (4, 2, 1))
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return (16 * second - first) / 15


def forward(half: Half, x: Array, bias: Array, form: int) -> Array:
    out = poisoned(x.shape, half.half)
    bias_gelu.bias_gelu(context(), out_half=out, in_=x, bias=bias, rows=x.shape[0], n=x.shape[1], erf=form)
    return out


def backward(half: Half, dy: Array, x: Array, bias: Array, form: int, threads: int = 2) -> tuple[Array, Array]:
    rows, n = x.shape
    gradient, parts = poisoned(x.shape, half.half), poisoned((-(-rows // 32), n), half.wide)
    bias_gelu.bias_gelu_backward(
        context(threads),
        in_gradient_half=gradient,
        bias_parts=parts,
        dy=dy,
        in_=x,
        bias=bias,
        rows=rows,
        n=n,
        erf=form,
        cg_sum_rows=32,
    )
    return gradient, parts


@pytest.mark.parametrize("form", [0, 1])
def test_values_computed_by_hand(form: int) -> None:
    x = X.astype(np.float32)
    found = forward(HALVES["f32"], x - np.float32(0.5), np.full(6, 0.5, np.float32), form)[0]
    assert np.all(np.abs(found - BY_HAND[form]) <= [1e-9, 1e-7, 1e-6, 0, 1e-6, 1e-6])


def test_the_forms_differ_by_the_known_amounts() -> None:
    # By hand: 4.73e-4 at most, and the slopes 8.68e-4, which a tolerance of 1e-3 would hide.
    half, x = HALVES["f64"], np.linspace(-6, 6, 100_001)[None]
    none, one = np.zeros(x.shape[1]), np.ones(x.shape)
    values = forward(half, x, none, 0) - forward(half, x, none, 1)
    assert np.abs(values).max() == pytest.approx(4.73e-4, rel=2e-3)
    slopes = backward(half, one, x, none, 0)[0] - backward(half, one, x, none, 1)[0]
    assert np.abs(slopes).max() == pytest.approx(8.68e-4, rel=2e-3)


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("rows", "n"), SIZES)
def test_forward(name: str, rows: int, n: int, form: int) -> None:
    half = HALVES[name]
    x, bias = normal((rows, n), half.wide, 1, 3.0), normal((n,), half.wide, 2)
    expected = activation(f64(x) + f64(bias), form)
    assert relative_error(forward(half, x, bias, form), expected) <= TOLERANCE[name] + half.half_unit


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("rows", "n"), SIZES)
def test_backward(name: str, rows: int, n: int, form: int) -> None:
    half = HALVES[name]
    x, bias, dy = (normal(shape, half.wide, seed) for seed, shape in enumerate([(rows, n), (n,), (rows, n)]))
    gradient, parts = backward(half, dy, x, bias, form)
    exact = f64(dy) * slope(f64(x) + f64(bias), form)
    tolerance = max(TOLERANCE[name], 1e-11)
    assert relative_error(gradient, exact) <= tolerance + half.half_unit
    sums = np.stack([exact[first : first + 32].sum(axis=0) for first in range(0, rows, 32)])
    # From the values before they are rounded: no half_unit here.
    assert relative_error(parts, sums) <= 10 * tolerance
    for one, other in zip(backward(half, dy, x, bias, form, threads=1), (gradient, parts), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_far_out(name: str, form: int) -> None:
    half = HALVES[name]
    x = np.array([[-1e18, -100.0, -30.0, 30.0, 100.0, 1e18]], half.wide)
    zeros, ones = np.zeros(6, half.wide), np.ones((1, 6), half.wide)
    assert np.all(np.abs(forward(half, x, zeros, form)[0, :3]) <= 1e-4)
    assert np.array_equal(forward(half, x, zeros, form)[0, 3:], x[0, 3:])
    gradient, _ = backward(half, ones, x, zeros, form)
    assert np.all(np.abs(gradient - [[0, 0, 0, 1, 1, 1]]) <= 1e-9)


@pytest.mark.parametrize(("name", "error"), [("f64", 1e-15), ("f32", 3e-7)])
def test_the_tail_of_the_normal_distribution(name: str, error: float) -> None:
    x = np.linspace(0, LARGEST, 5001).astype(HALVES[name].wide)
    found, work = poisoned(x.shape, x.dtype), poisoned(x.shape, x.dtype)
    upper_tail(x, np.exp(-x * x / 2), found, work)
    expected = [math.erfc(value / math.sqrt(2)) / 2 for value in f64(x)]
    assert np.abs(found - expected).max() <= error
