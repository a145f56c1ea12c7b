"""What one command does to memory, held against what it declares and against commands that it is in no order with.

Receives each access of a command to device memory; guarantees that accesses outside the declaration, and accesses to
bytes that such another command used before, are told with the lanes at fault, and that the bytes that the command read
and wrote are known afterwards. Bytes that a command wrote itself it may read. An atomic update is a read and a write.
"""

from collections.abc import Callable, Iterator
from enum import Enum

import numpy as np
from attrs import define, field, frozen

from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.machine.memory import Allocation
from cgraph.emulator.sanitizer.byte_maps import ByteMap
from cgraph.source import Span


class Effect(Enum):
    """What is wrong with an access."""

    UNDECLARED = "undeclared"
    UNORDERED = "unordered"


@frozen
class Rival:
    """Another command that used bytes before. `text` says which and how; `span` is its place in the program."""

    text: str
    span: Span | None = None


@define(eq=False)
class Territory:
    """One allocation, as one command may use it and has used it.

    Args:
        size_bytes: of the allocation.
        readable: half-open ranges of bytes that the command declares to read; writable: likewise. None: all.
        read_by_others, written_by_others: bytes that commands in no order with this one used before; None: none.
        rival: who used some of the bytes `start … stop`; asked only where one did. True stands for an access that
            writes.
    """

    size_bytes: int
    readable: tuple[tuple[int, int], ...] | None = None
    writable: tuple[tuple[int, int], ...] | None = None
    read_by_others: ByteMap | None = None
    written_by_others: ByteMap | None = None
    rival: Callable[[int, int, bool], Rival] | None = None
    read: ByteMap = field(init=False, repr=False)
    written: ByteMap = field(init=False, repr=False)
    _may_read: ByteMap | None = field(init=False, repr=False, default=None)
    _may_write: ByteMap | None = field(init=False, repr=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.read, self.written = ByteMap(self.size_bytes), ByteMap(self.size_bytes)
        self._may_read = _allowed(self.readable, self.size_bytes)
        self._may_write = _allowed(self.writable, self.size_bytes)

    def note_read(self, positions: Array, size_bytes: int) -> Iterator[tuple[Effect, Array]]:
        """Notes reads; gives the accesses at fault."""
        if self._may_read is not None and not _covers(self.readable, positions, size_bytes):
            yield Effect.UNDECLARED, np.nonzero(self._may_read.leaving(positions, size_bytes))[0]
        if self.written_by_others is not None:
            yield Effect.UNORDERED, np.nonzero(self.written_by_others.touching(positions, size_bytes))[0]
        self.read.mark(positions, size_bytes)

    def note_write(self, positions: Array, size_bytes: int) -> Iterator[tuple[Effect, Array]]:
        """Notes writes; gives the accesses at fault."""
        if self._may_write is not None and not _covers(self.writable, positions, size_bytes):
            yield Effect.UNDECLARED, np.nonzero(self._may_write.leaving(positions, size_bytes))[0]
        for others in (self.written_by_others, self.read_by_others):
            if others is not None:
                yield Effect.UNORDERED, np.nonzero(others.touching(positions, size_bytes))[0]
        self.written.mark(positions, size_bytes)
        if self._may_read is not None:
            self._may_read.mark(positions, size_bytes)


@define(eq=False)
class Effects:
    """The effects of one command.

    Args:
        begin: what is known of an allocation beforehand; asked when it is first used.
        territories: what was used so far, by the allocation's address.
    """

    begin: Callable[[Allocation], Territory]
    territories: dict[int, Territory] = field(factory=dict)

    def of(self, allocation: Allocation) -> Territory:
        """What is known of an allocation."""
        found = self.territories.get(allocation.address)
        if found is None:
            found = self.territories[allocation.address] = self.begin(allocation)
        return found


def _allowed(ranges: tuple[tuple[int, int], ...] | None, size_bytes: int) -> ByteMap | None:
    """None where all bytes are allowed."""
    if ranges is None or (0, size_bytes) in ranges:
        return None
    allowed = ByteMap(size_bytes)
    for start, stop in ranges:
        allowed.mark_range(start, stop)
    return allowed


def _covers(ranges: tuple[tuple[int, int], ...] | None, positions: Array, size_bytes: int) -> bool:
    """Whether all accesses lie in one of the ranges."""
    low, high = int(positions.min()), int(positions.max()) + size_bytes
    return any(start <= low and high <= stop for start, stop in ranges or ())
