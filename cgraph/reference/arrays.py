"""Validation of arguments.

Receives whatever NumPy can read as real numbers; guarantees float64 arrays of the stated shape with finite values only.
Ids are integers in a stated range, masks booleans. What the values mean is left to the functions that ask.
"""

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Axis: TypeAlias = int | str | EllipsisType


def real_array(name: str, value: ArrayLike, shape: Sequence[Axis]) -> FloatArray:
    """The value as a float64 array.

    Args:
        name: what the value is called in messages.
        value: anything that NumPy reads as real numbers.
        shape: a size for an axis that must have it, a word for an axis of any size from 1, and `...`, first only, for
            any number of leading axes.

    Raises:
        ValueError: the value is not real, has another shape, has no elements, or holds NaN or infinity.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError  # noqa: TRY301 - astype would drop the imaginary part with a warning only
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected real numbers, got {type(value).__name__}") from None
    leading = bool(shape) and shape[0] is ...
    axes = tuple(shape[1:] if leading else shape)
    trailing = array.shape[array.ndim - len(axes) :] if leading else array.shape
    fits = len(trailing) == len(axes) and all(
        size == axis or not isinstance(axis, int) for size, axis in zip(trailing, axes, strict=True)
    )
    if not fits or array.ndim < len(axes):
        wanted = ", ".join("..." if axis is ... else str(axis) for axis in shape)
        raise ValueError(f"{name}: expected shape [{wanted}], got {list(array.shape)}")
    if array.size == 0:
        raise ValueError(f"{name}: shape {list(array.shape)} has no elements")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(f"{name}: the value at {place} is not finite")
    return array


def positive_number(name: str, value: float) -> float:
    """The value, if it is finite and above 0; otherwise a ValueError that names it."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name}: expected a finite number above 0, got {value}")
    return float(value)


def spread_mask(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The mask at the given shape; a ValueError if it is not boolean or does not broadcast to it."""
    given = np.asarray(mask)
    if given.dtype != np.bool_:
        raise ValueError(f"mask: expected booleans, got {given.dtype}")
    try:
        spread: NDArray[np.bool_] = np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"mask: shape {list(given.shape)} does not broadcast to {list(shape)}") from None
    return spread


def integer_array(name: str, value: ArrayLike, shape: Sequence[int] | None, *, least: int, below: int) -> IntArray:
    """The value as an int64 array.

    Args:
        name: what the value is called in messages.
        value: anything that NumPy reads as integers; booleans are none.
        shape: the shape that it must have; None for any.
        least: the smallest integer allowed.
        below: the smallest that is too great.

    Raises:
        ValueError: the value holds no integers, has another shape or no elements, or an integer is out of range.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected integers, got {type(value).__name__}") from None
    if shape is not None and array.shape != tuple(shape):
        raise ValueError(f"{name}: expected shape {list(shape)}, got {list(array.shape)}")
    if array.size == 0:
        raise ValueError(f"{name}: shape {list(array.shape)} has no elements")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    outside = (array < least) | (array >= below)
    if outside.any():
        place = tuple(np.argwhere(outside)[0].tolist())
        raise ValueError(f"{name}: expected {least} to {below - 1}, got {array[place]} at {list(place)}")
    return array.astype(np.int64)


def boolean_array(name: str, value: ArrayLike, shape: Sequence[int]) -> BoolArray:
    """The value, if it holds booleans in this shape; otherwise a ValueError that names it."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected booleans, got {type(value).__name__}") from None
    if array.dtype != np.bool_:
        raise ValueError(f"{name}: expected booleans, got {array.dtype}")
    if array.shape != tuple(shape):
        raise ValueError(f"{name}: expected shape {list(shape)}, got {list(array.shape)}")
    return array
