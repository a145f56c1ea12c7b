"""What the tests of images share: element types, random planes, complex-step derivatives and bounds.

The derivative of a real analytic function along one input is imag(f(x + ih))/h for a tiny h, with no difference taken
and so no digits lost (Squire and Trapp, 1998): an independent way to every gradient here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cgraph.images.context import HostContext
from cgraph.images.team import Team

Array = NDArray[Any]
STEP = 1e-30


class Half(NamedTuple):
    """A choice of `half`: the type of half planes, that of f32 planes, and their unit roundoffs."""

    half: np.dtype[Any]
    wide: np.dtype[Any]
    half_unit: float
    wide_unit: float


HALVES = {
    "f32": Half(np.dtype("f4"), np.dtype("f4"), 2.0**-24, 2.0**-24),
    "f64": Half(np.dtype("f8"), np.dtype("f8"), 2.0**-53, 2.0**-53),
    "f16": Half(np.dtype("f2"), np.dtype("f4"), 2.0**-11, 2.0**-24),
    "bf16": Half(np.dtype(ml_dtypes.bfloat16), np.dtype("f4"), 2.0**-8, 2.0**-24),
}


def context(threads: int = 2) -> HostContext:
    return HostContext(Team(threads))


def normal(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int, scale: float = 1.0) -> Array:
    """Standard normal values, already rounded to the type, so that a test's float64 copy of them is exact."""
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def poisoned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An output: every element that the image forgets stays NaN."""
    return np.full(shape, np.nan, dtype)


def f64(array: Array) -> Array:
    return array.astype(np.float64)


def relative_error(actual: Array, expected: Array) -> float:
    """In the Frobenius norm."""
    return float(np.linalg.norm(f64(actual) - expected) / np.linalg.norm(expected))


def complex_step_gradient(function: Callable[[Array], Array], point: Array, dy: Array) -> Array:
    """The gradient of sum(dy · function(point)) in float64; the function must take complex128 and be analytic."""
    gradient = np.empty(point.size)
    moved = point.astype(np.complex128)
    for index in range(point.size):
        moved.flat[index] += 1j * STEP
        gradient[index] = np.sum(dy * function(moved).imag) / STEP
        moved.flat[index] = point.flat[index]
    return gradient.reshape(point.shape)
