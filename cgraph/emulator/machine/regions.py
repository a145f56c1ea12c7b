"""Shared and local memory: the same addresses for every block or thread, each with bytes of its own.

Addresses within the space begin at 0; generic addresses add the space's window, so that a generic address tells its
space by its upper half.
"""

import numpy as np

from cgraph.emulator.machine.arrays import Array, DType
from cgraph.emulator.machine.memory import FRESH_BYTE

WINDOW_SHIFT = 32
SHARED_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW = 1, 2, 3
WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAMETER_WINDOW}


class LaneRegion:
    """One space of a wave.

    Args:
        space: `shared` or `local`; label: what reports call it.
        size_bytes: a block's or a thread's share; copies: how many blocks or threads.
        owner_of: for each lane, the number of its share.
    """

    __slots__ = ("_views", "data", "freed", "initialised", "label", "offsets", "size_bytes", "space", "stride_bytes")

    def __init__(self, space: str, label: str, size_bytes: int, copies: int, owner_of: Array) -> None:
        self.space = space
        self.label = label
        self.size_bytes = size_bytes
        self.stride_bytes = -(-size_bytes // 16) * 16
        self.data = np.full(copies * self.stride_bytes, FRESH_BYTE, np.uint8)
        self.initialised = np.zeros(copies * self.stride_bytes, np.uint8)
        self.offsets = owner_of * self.stride_bytes
        self.freed = False
        self._views: dict[tuple[bool, DType], Array] = {}

    @property
    def address(self) -> int:
        """Where the space begins."""
        return 0

    def reset(self) -> None:
        """Makes all bytes fresh."""
        self.data[:] = FRESH_BYTE
        self.initialised[:] = 0

    def view(self, dtype: DType) -> Array:
        """All shares as elements of a type."""
        found = self._views.get((False, dtype))
        if found is None:
            found = self._views[False, dtype] = self.data.view(dtype)
        return found

    def initialised_view(self, dtype: DType) -> Array:
        """The map of written bytes as elements of a type."""
        found = self._views.get((True, dtype))
        if found is None:
            found = self._views[True, dtype] = self.initialised.view(dtype)
        return found
