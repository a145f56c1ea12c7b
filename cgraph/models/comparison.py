"""Planes beside what they should be: one relative error for each, and the bound that it must keep.

Receives arrays by plane name; which bound is right is the caller's knowledge.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Comparison(NamedTuple):
    """‖got - expected‖ / ‖expected‖ of one plane, Euclidean norms, and its bound."""

    name: str
    error: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the error keeps the bound."""
        return self.error <= self.bound


def compare(
    expected: Mapping[str, NDArray[Any]], got: Mapping[str, NDArray[Any]], bound: float
) -> tuple[Comparison, ...]:
    """A row for each expected plane, in their order.

    Args:
        expected: arrays by plane name.
        got: arrays of the same shapes; others may be among them.
        bound: of every row.

    Raises:
        ValueError: a plane is missing, or its shape differs.
    """
    rows = []
    for name, plane in expected.items():
        if name not in got:
            raise ValueError(f"got: no plane {name}")
        if got[name].shape != plane.shape:
            raise ValueError(f"got: {name} has shape {list(got[name].shape)}, expected {list(plane.shape)}")
        rows.append(Comparison(name, relative_error(plane, got[name]), bound))
    return tuple(rows)


def relative_error(expected: NDArray[Any], got: NDArray[Any]) -> float:
    """‖got - expected‖ / ‖expected‖, worked out in f64.

    It is 0 where both are zero everywhere, and infinite where only `expected` is or where a value is not finite.
    """
    wanted, found = np.asarray(expected, np.float64), np.asarray(got, np.float64)
    if not (np.isfinite(wanted).all() and np.isfinite(found).all()):
        return float("inf")
    # Scaled, so that no square overflows or is lost.
    scale = float(np.abs(wanted).max(initial=0.0))
    if scale == 0:
        return float("inf") if found.any() else 0.0
    difference = np.linalg.norm((found / scale - wanted / scale).ravel())
    return float(difference / np.linalg.norm((wanted / scale).ravel()))
