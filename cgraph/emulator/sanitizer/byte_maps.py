"""Maps of bytes: which bytes of an allocation something is true of.

Receives accesses of 1 to 16 bytes, those whose size is a power of two aligned to it; guarantees answers for each byte,
at the cost of one NumPy operation for all accesses of an instruction.
"""

import numpy as np
from numpy.typing import NDArray

from cgraph.emulator.machine.arrays import U64, UNSIGNED, Array

_ONES = {size: UNSIGNED[size].type(int.from_bytes(b"\1" * size, "little")) for size in UNSIGNED}


class ByteMap:
    """A mark for each byte, none at first.

    Args:
        size_bytes: of the allocation.
    """

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._marks = np.zeros(-(-size_bytes // 16) * 16, np.uint8)

    def mark(self, positions: Array, size_bytes: int) -> None:
        """Marks the bytes of accesses at positions."""
        if size_bytes in UNSIGNED:
            self._marks.view(UNSIGNED[size_bytes])[positions // size_bytes] = _ONES[size_bytes]
        elif size_bytes == 16:
            self._marks.view(U64).reshape(-1, 2)[positions // 16] = _ONES[8]
        else:
            self._marks[positions[:, None] + np.arange(size_bytes)] = 1

    def mark_range(self, start: int, stop: int) -> None:
        """Marks the bytes `start … stop`."""
        self._marks[start:stop] = 1

    def touching(self, positions: Array, size_bytes: int) -> Array:
        """For each access, whether any of its bytes is marked."""
        return np.asarray(self._rows(positions, size_bytes).any(axis=1))

    def leaving(self, positions: Array, size_bytes: int) -> Array:
        """For each access, whether any of its bytes is not marked."""
        return ~np.asarray(self._rows(positions, size_bytes).all(axis=1))

    def marked(self, start: int, stop: int) -> NDArray[np.bool_]:
        """For each of the bytes `start … stop`, whether it is marked."""
        return self._marks[start:stop].view(bool)

    def packed(self) -> NDArray[np.uint8]:
        """A bit for each byte, eight in one."""
        return np.packbits(self._marks[: self._size_bytes])

    def add_packed(self, bits: NDArray[np.uint8], at: int) -> None:
        """Marks what is marked in a packed map that lies `at` bytes behind the first byte, or before it."""
        other = np.unpackbits(bits)
        start, stop = max(at, 0), min(at + other.size, self._size_bytes)
        if start < stop:
            self._marks[start:stop] |= other[start - at : stop - at]

    def _rows(self, positions: Array, size_bytes: int) -> Array:
        return self._marks[positions[:, None] + np.arange(size_bytes)]
