"""Device memory: allocations at addresses that are never given out twice.

Receives sizes and bytes; guarantees that addresses are multiples of 256, that a gap lies between any two allocations,
and that each byte is known to be written or not. Fresh bytes are all ones: a NaN in every floating type, so that what
nothing wrote is seen in results. Who may access which byte is left to the machine.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

# Addresses look like those of a device, and any address near 0 belongs to nothing.
FIRST_ADDRESS = 0x7_0000_0000
ALIGNMENT_BYTES = 256
GAP_BYTES = 4096
FRESH_BYTE = 0xFF

Bytes = NDArray[np.uint8]


def _padded_bytes(size_bytes: int, value: int) -> Bytes:
    """Bytes that begin at a multiple of 64 and may be viewed as elements of any type up to 16 bytes."""
    whole = -(-size_bytes // 16) * 16
    raw = np.full(whole + 64, value, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + whole]


@define(eq=False)
class Allocation:
    """One allocation.

    Args:
        address: of its first byte; size_bytes: as asked for.
        label: what lies in it, such as a plane's name; printed in reports.
        data: its bytes, padded to a multiple of 16; initialised: 1 for each byte that something wrote.
        freed: whether it was given back; its bytes are gone then.
    """

    address: int
    size_bytes: int
    label: str
    data: Bytes = field(repr=False)
    initialised: Bytes = field(repr=False)
    freed: bool = False
    space: ClassVar[str] = "global"
    _views: dict[tuple[bool, object], NDArray[Any]] = field(init=False, repr=False, factory=dict)

    @property
    def stop(self) -> int:
        """The address behind its last byte."""
        return self.address + self.size_bytes

    def view(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Its bytes as elements of a type of up to 16 bytes."""
        found = self._views.get((False, dtype))
        if found is None:
            found = self._views[False, dtype] = self.data.view(dtype)
        return found

    def initialised_view(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Its map of written bytes as elements of a type of up to 16 bytes."""
        found = self._views.get((True, dtype))
        if found is None:
            found = self._views[True, dtype] = self.initialised.view(dtype)
        return found


class DeviceMemory:
    """All memory of one device."""

    def __init__(self) -> None:
        self._next = FIRST_ADDRESS
        self._addresses: list[int] = []
        self._allocations: dict[int, Allocation] = {}

    def allocate(self, size_bytes: int, label: str = "") -> int:
        """Gives out fresh memory.

        Args:
            size_bytes: at least 1.
            label: what lies in it, for reports.

        Returns:
            Its address, a multiple of 256.

        Raises:
            ValueError: the size is not positive.
            MemoryError: the machine underneath has no such memory.
        """
        if size_bytes <= 0:
            raise ValueError(f"an allocation has at least 1 byte, not {size_bytes}")
        address = self._next
        allocation = Allocation(
            address, size_bytes, label or f"allocation at {address:#x}", _padded_bytes(size_bytes, FRESH_BYTE),
            _padded_bytes(size_bytes, 0),
        )  # fmt: skip
        step = size_bytes + GAP_BYTES
        self._next += -(-step // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        self._allocations[address] = allocation
        insort(self._addresses, address)
        return address

    def free(self, address: int) -> None:
        """Takes memory back. Its place is remembered, so that a later use is reported as one.

        Raises:
            KeyError: no live allocation begins at the address.
        """
        allocation = self._allocations.get(address)
        if allocation is None or allocation.freed:
            raise KeyError(address)
        nothing = np.empty(0, np.uint8)
        self._allocations[address] = Allocation(
            address, allocation.size_bytes, allocation.label, nothing, nothing, freed=True
        )
        allocation.freed = True

    def label(self, address: int, label: str) -> None:
        """Names what lies in the allocation that begins at the address.

        Raises:
            KeyError: no allocation begins at the address.
        """
        self._allocations[address].label = label

    def find(self, address: int) -> Allocation | None:
        """The live allocation that holds the byte at the address, if any."""
        found = self.nearest(address)
        return found if found is not None and address < found.stop and not found.freed else None

    def nearest(self, address: int) -> Allocation | None:
        """The last allocation, live or freed, that begins at or before the address."""
        position = bisect_right(self._addresses, address)
        return self._allocations[self._addresses[position - 1]] if position else None

    def __iter__(self) -> Iterator[Allocation]:
        """The live allocations, by address."""
        return (found for address in self._addresses if not (found := self._allocations[address]).freed)

    def read(self, address: int, size_bytes: int) -> bytes:
        """Bytes of one allocation, written or not.

        Raises:
            KeyError: the range is not inside one live allocation.
        """
        allocation, part = self._part(address, size_bytes)
        return allocation.data[part].tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Puts bytes into one allocation, and marks them as written.

        Raises:
            KeyError: the range is not inside one live allocation.
        """
        values = np.frombuffer(data, np.uint8)
        allocation, part = self._part(address, values.size)
        allocation.data[part] = values
        allocation.initialised[part] = 1

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Writes a pattern of 1, 2 or 4 bytes `count` times, as `cuMemsetD8`, `D16` and `D32` do.

        Raises:
            KeyError: the range is not inside one live allocation.
        """
        allocation, part = self._part(address, len(pattern) * count)
        allocation.data[part].reshape(count, len(pattern))[:] = np.frombuffer(pattern, np.uint8)
        allocation.initialised[part] = 1

    def copy(self, target: int, source: int, size_bytes: int) -> None:
        """Copies bytes, and with each whether it was written. The ranges may overlap.

        Raises:
            KeyError: a range is not inside one live allocation.
        """
        from_allocation, from_part = self._part(source, size_bytes)
        to_allocation, to_part = self._part(target, size_bytes)
        to_allocation.data[to_part] = from_allocation.data[from_part].copy()
        to_allocation.initialised[to_part] = from_allocation.initialised[from_part].copy()

    def array(self, address: int, size_bytes: int) -> Bytes:
        """A view of the bytes of one allocation. Who writes through it marks nothing as written.

        Raises:
            KeyError: the range is not inside one live allocation.
        """
        allocation, part = self._part(address, size_bytes)
        return allocation.data[part]

    def initialised(self, address: int, size_bytes: int) -> Bytes:
        """A view of the map of written bytes: 1 for each byte that something wrote.

        Raises:
            KeyError: the range is not inside one live allocation.
        """
        allocation, part = self._part(address, size_bytes)
        return allocation.initialised[part]

    def _part(self, address: int, size_bytes: int) -> tuple[Allocation, slice]:
        allocation = self.find(address)
        if allocation is None or size_bytes < 0 or address + size_bytes > allocation.stop:
            raise KeyError(address)
        start = address - allocation.address
        return allocation, slice(start, start + size_bytes)
