"""Which live allocation an address lies in, and the numbers that allocations get.

Receives addresses as nodes hold them; guarantees that allocations are numbered in the order of their first use, which
does not depend on addresses. Device memory is kept as it was allocated. Host memory that copies touch is kept as the
ranges that they touch, ranges that overlap as one.

Source: cuPointerGetAttributes gives zeros for an address that the driver does not know.
"""

import ctypes as c
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field, frozen
from cuda.bindings import driver as cu
from numpy.typing import NDArray

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.model import Allocation, MemoryKind, Place

_ATTRIBUTE = cu.CUpointer_attribute
ASKED = (
    _ATTRIBUTE.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    _ATTRIBUTE.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    _ATTRIBUTE.CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    _ATTRIBUTE.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    _ATTRIBUTE.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
)
HOST_MEMORY, DEVICE_MEMORY = 1, 2  # CUmemorytype


@frozen
class Block:
    """Live memory: its first address, its size, where it lies, and on which device."""

    start: int
    size_bytes: int
    memory: MemoryKind
    device: int

    @property
    def stop(self) -> int:
        """The address behind its last byte."""
        return self.start + self.size_bytes


@define(eq=False)
class MemoryReader:
    """Finds allocations and remembers those that are used.

    Args:
        call: makes the driver's calls, in a context that is current.
        used: in the order of use; the same one may come again.
        read_on_host: starts of host ranges whose bytes a node reads.
    """

    call: Calls
    used: list[Block] = field(factory=list)
    read_on_host: set[int] = field(factory=set)

    def find(self, address: int) -> Block | None:
        """The live allocation that the driver knows an address to lie in."""
        kind, start, size_bytes, managed, device = self.call(
            cu.cuPointerGetAttributes, len(ASKED), list(ASKED), address
        )
        if int(kind) not in (HOST_MEMORY, DEVICE_MEMORY) or not int(size_bytes):
            return None
        on_host = int(kind) == HOST_MEMORY
        memory = MemoryKind.MANAGED if managed else MemoryKind.HOST if on_host else MemoryKind.DEVICE
        return Block(int(start), int(size_bytes), memory, int(device))

    def use(self, block: Block) -> None:
        """Remembers that a node uses an allocation."""
        self.used.append(block)
        if block.memory is MemoryKind.HOST:
            self.read_on_host.add(block.start)

    def use_on_host(self, address: int, size_bytes: int, *, read: bool) -> None:
        """Remembers that a copy uses bytes of the host."""
        self.used.append(Block(address, size_bytes, MemoryKind.HOST, 0))
        if read:
            self.read_on_host.add(address)


@frozen(eq=False)
class MemoryTable:
    """The allocations that a graph uses.

    Args:
        blocks: by number. order: their numbers, by address.
        read: numbers of host ranges whose bytes a node reads.
    """

    blocks: tuple[Block, ...] = field(repr=False)
    read: frozenset[int] = field(repr=False)
    _order: tuple[int, ...] = field(repr=False)
    _starts: tuple[int, ...] = field(repr=False)

    def place(self, address: int) -> Place:
        """The place of an address that lies in one of them. Raises KeyError."""
        position = bisect_right(self._starts, address)
        number = self._order[position - 1] if position else 0
        if not position or address >= self.blocks[number].stop:
            raise KeyError(address)
        return Place(number, address - self.blocks[number].start)

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """Without addresses."""
        return tuple(Allocation(block.size_bytes, block.memory) for block in self.blocks)

    def contents(self, call: Calls, *, device: bool) -> dict[int, NDArray[np.uint8]]:
        """Bytes of host ranges that nodes read, and of all other allocations where `device` asks for them.

        Raises:
            ProblemsFound: CG742 where a copy fails.
        """
        found: dict[int, NDArray[np.uint8]] = {}
        for number, block in enumerate(self.blocks):
            if block.memory is MemoryKind.HOST:
                if number in self.read:
                    found[number] = np.frombuffer(c.string_at(block.start, block.size_bytes), np.uint8)
            elif device:
                found[number] = np.empty(block.size_bytes, np.uint8)
                call(cu.cuMemcpyDtoH, found[number].ctypes.data, block.start, block.size_bytes)
        return found


def table_of(reader: MemoryReader) -> MemoryTable:
    """The allocations that were used, each once."""
    merged = _merge(reader.used)
    starts = [block.start for block in merged]
    numbers: dict[int, int] = {}
    for block in reader.used:
        numbers.setdefault(bisect_right(starts, block.start) - 1, len(numbers))
    blocks = tuple(merged[position] for position in numbers)
    read = {numbers[bisect_right(starts, start) - 1] for start in reader.read_on_host}
    order = tuple(numbers[position] for position in range(len(merged)))
    return MemoryTable(blocks, frozenset(read), order, tuple(starts))


def _merge(blocks: Iterable[Block]) -> list[Block]:
    """Blocks by address; those that overlap become one, which only ranges of the host do."""
    merged: list[Block] = []
    for block in sorted(set(blocks), key=_start_of):
        last = merged[-1] if merged else None
        if last is None or block.start >= last.stop:
            merged.append(block)
        elif block.stop > last.stop:
            merged[-1] = Block(last.start, block.stop - last.start, last.memory, last.device)
    return merged


def _start_of(block: Block) -> Any:
    return block.start, -block.size_bytes
