"""Shadows of memory: one number for each granule of bytes, as fine as the accesses so far.

Receives accesses of any size; guarantees that an access covers whole granules: a shadow is refined when a smaller
access comes, so accesses side by side never look like one.
"""

import numpy as np

from cgraph.emulator.machine.arrays import Array, DType


class Shadow:
    """One number for each granule.

    Args:
        size_bytes: of the memory; granule_bytes: at first; dtype: of the numbers, which begin as 0.
    """

    def __init__(self, size_bytes: int, granule_bytes: int, dtype: DType) -> None:
        self.granule_bytes = granule_bytes
        self.values = np.zeros(-(-size_bytes // granule_bytes), dtype)

    def refine(self, granule_bytes: int) -> None:
        """Makes granules of that size, if they are larger."""
        if granule_bytes < self.granule_bytes:
            self.values = np.repeat(self.values, self.granule_bytes // granule_bytes)
            self.granule_bytes = granule_bytes

    def places(self, positions: Array, size_bytes: int) -> Array:
        """The granules of accesses at byte positions: [accesses], or [accesses, granules each]."""
        if size_bytes & (size_bytes - 1):
            self.refine(1)
            return positions[:, None] + np.arange(size_bytes)
        self.refine(size_bytes)
        shift = self.granule_bytes.bit_length() - 1
        first = positions >> shift
        count = size_bytes >> shift
        return first if count == 1 else first[:, None] + np.arange(count)


def by_granule(values: Array, places: Array) -> Array:
    """One value for each access, so that it combines with the access's granules."""
    return values if places.ndim == 1 else values[:, None]


def per_access(found: Array) -> Array:
    """Which accesses something is true of, if it is true of any of their granules."""
    return found if found.ndim == 1 else np.asarray(found.any(axis=1))
