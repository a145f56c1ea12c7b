"""Relative errors, with the edge cases that a plain division gets wrong."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.models.comparison import Comparison, compare, relative_error


def test_by_hand() -> None:
    expected = np.array([[3.0, 0.0], [0.0, 4.0]])
    got = np.array([[3.0, 0.3], [0.4, 4.0]])
    assert relative_error(expected, got) == pytest.approx(0.1, rel=1e-14)
    assert relative_error(expected, expected) == 0
    assert relative_error(expected, -expected) == pytest.approx(2, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_no_square_overflows_or_is_lost(scale: float) -> None:
    expected = scale * np.array([3.0, 4.0])
    assert relative_error(expected, 1.1 * expected) == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_narrow_planes_are_compared_in_f64(dtype: type) -> None:
    got: NDArray[Any] = np.full(1000, 1 / 3).astype(dtype)
    exact = abs(float(got[0]) - 1 / 3) * 3
    assert relative_error(np.full(1000, 1 / 3), got) == pytest.approx(exact, rel=1e-9)


def test_zeros_and_what_is_not_finite() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    assert relative_error(zeros, zeros) == 0
    assert relative_error(zeros, 1e-300 * ones) == math.inf
    assert relative_error(ones, zeros) == 1
    assert relative_error(np.zeros(0), np.zeros(0)) == 0
    for wrong in (math.nan, math.inf):
        assert relative_error(ones, np.array([1, 1, wrong])) == math.inf
        assert relative_error(np.array([1, 1, wrong]), ones) == math.inf


def test_rows() -> None:
    expected = {"b": np.array([2.0]), "a": np.array([1.0])}
    rows = compare(expected, {"a": np.array([1.5]), "b": np.array([2.0]), "c": np.array([0.0])}, 0.4)
    assert rows == (Comparison("b", 0.0, 0.4), Comparison("a", 0.5, 0.4))
    assert [row.holds for row in rows] == [True, False]
    assert Comparison("a", 0.4, 0.4).holds
    assert not Comparison("a", math.nan, 0.4).holds


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"^got: no plane a"):
        compare({"a": np.zeros(2)}, {}, 1)
    with pytest.raises(ValueError, match=r"^got: a has shape \[1, 2\], expected \[2\]"):
        compare({"a": np.zeros(2)}, {"a": np.zeros((1, 2))}, 1)
