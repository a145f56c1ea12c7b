from typing import Any

import ml_dtypes
import numpy as np
import pytest
from image_cases import HALVES, Half, context, f64, normal, poisoned

from cgraph.images import elementwise

LENGTHS = [1, 3, 16384, 100_003]


@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8")])
@pytest.mark.parametrize("length", LENGTHS)
def test_sums_and_products_are_correctly_rounded(dtype: np.dtype[Any], length: int) -> None:
    a, b = normal((length,), dtype, 1), normal((length,), dtype, 2)
    for function, exact in ((elementwise.add, np.add), (elementwise.multiply, np.multiply)):
        out = poisoned((length,), dtype)
        function(context(), out=out, a=a, b=b, n=length)
        # f64 holds the exact sum and product of two f32 numbers of like size, up to one more rounding.
        assert np.array_equal(out, exact(f64(a), f64(b)).astype(dtype))


@pytest.mark.parametrize("length", LENGTHS)
def test_outputs_may_be_an_input(length: int) -> None:
    a, b = normal((length,), np.dtype("f4"), 3), normal((length,), np.dtype("f4"), 4)
    expected = (f64(a) + 2.0 * f64(b)).astype("f4")
    elementwise.add(context(), out=b, a=b, b=b, n=length)
    elementwise.add(context(), out=a, a=a, b=b, n=length)
    assert np.array_equal(a, expected)


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize("length", LENGTHS)
def test_casts_are_the_nearest(half: Half, length: int) -> None:
    source = normal((length,), half.wide, 5)
    out = poisoned((length,), half.half)
    elementwise.cast_down(context(), out=out, in_=source, n=length)
    smallest = 2.0**-25 if half.half == np.float16 else 0.0  # half the spacing of f16's subnormal numbers
    assert np.all(np.abs(f64(out) - f64(source)) <= np.maximum(half.half_unit * np.abs(f64(source)), smallest))


@pytest.mark.parametrize(
    ("dtype", "value", "rounded"),
    [
        (np.dtype("f2"), 1 + 2**-11, 1.0),
        (np.dtype("f2"), 1 + 3 * 2**-11, 1 + 2**-9),
        (np.dtype("f2"), 65519.0, 65504.0),
        (np.dtype("f2"), 65520.0, np.inf),
        (np.dtype("f2"), -1e9, -np.inf),
        (np.dtype(ml_dtypes.bfloat16), 1 + 2**-8, 1.0),
        (np.dtype(ml_dtypes.bfloat16), 1 + 3 * 2**-8, 1 + 2**-6),
        (np.dtype(ml_dtypes.bfloat16), 3.4e38, np.inf),
    ],
)
def test_ties_go_to_even_and_overflow_to_infinity(dtype: np.dtype[Any], value: float, rounded: float) -> None:
    out = np.zeros(1, dtype)
    elementwise.cast_down(context(), out=out, in_=np.array([value], np.float32), n=1)
    assert float(out[0]) == rounded
