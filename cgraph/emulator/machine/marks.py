"""The maps of written bytes: 1 for written, 0 for not, 2 for bytes that a cp.async will write."""

from typing import Any

import numpy as np

from cgraph.emulator.machine.accesses import Region
from cgraph.emulator.machine.arrays import U64, UNSIGNED, Array

WRITTEN, PENDING = 1, 2
_WRITTEN_WORDS = {size: UNSIGNED[size].type(int.from_bytes(bytes([WRITTEN]) * size, "little")) for size in UNSIGNED}
_PENDING_WORDS = {size: UNSIGNED[size].type(int.from_bytes(bytes([PENDING]) * size, "little")) for size in UNSIGNED}


def mark_written(region: Region, positions: Array, size_bytes: int) -> None:
    """Marks the bytes at positions, aligned to their size (1 to 16), as written."""
    _mark(region, positions, size_bytes, _WRITTEN_WORDS)


def mark_pending(region: Region, positions: Array, size_bytes: int) -> None:
    """Marks the bytes at positions as to be written by a copy that was not waited for."""
    _mark(region, positions, size_bytes, _PENDING_WORDS)


def _mark(region: Region, positions: Array, size_bytes: int, words: dict[int, Any]) -> None:
    if size_bytes == 16:
        region.initialised_view(U64).reshape(-1, 2)[positions // 16] = words[8]
    else:
        region.initialised_view(UNSIGNED[size_bytes])[positions // size_bytes] = words[size_bytes]


def find_unwritten(region: Region, positions: Array, size_bytes: int) -> Array:
    """Places in `positions` whose bytes are not all written."""
    if size_bytes == 16:
        rows = region.initialised_view(U64).reshape(-1, 2)[positions // 16]
        return np.nonzero((rows != _WRITTEN_WORDS[8]).any(axis=1))[0]
    if size_bytes not in UNSIGNED:
        rows = region.initialised[positions[:, None] + np.arange(size_bytes)]
        return np.nonzero((rows != WRITTEN).any(axis=1))[0]
    found = region.initialised_view(UNSIGNED[size_bytes])[positions // size_bytes]
    return np.nonzero(found != _WRITTEN_WORDS[size_bytes])[0]
