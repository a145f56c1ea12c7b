"""Memory that a dump's commands allocate and free: planes, when they are in use, and what is never freed.

Receives commands in a legal order; guarantees a plane for each allocation with a known size, because an address may be
allocated again after it was freed. Memory that the graph does not allocate has no plane: nobody knows its size.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from attrs import define, field, frozen

from cgraph.view.dumps.commands import Command, Transfer
from cgraph.view.model import Mode, ViewAccess, ViewArgument, ViewLifetime, ViewPlane

NEVER_FREED = "never freed"
NOT_ALLOCATED = "frees what this graph did not allocate"
ALLOCATED_TWICE = "allocates what is in use"


@define
class Touched:
    """What one command does with planes."""

    arguments: list[ViewArgument] = field(factory=list)
    accesses: list[ViewAccess] = field(factory=list)
    flags: list[str] = field(factory=list)


@define
class Memory:
    """All planes, and by number of command what it does with them."""

    planes: list[ViewPlane] = field(factory=list)
    lifetimes: list[ViewLifetime] = field(factory=list)
    touched: dict[int, Touched] = field(factory=dict)


@frozen
class _Block:
    """A block that is in use: its plane, its first byte, and who allocated it when."""

    plane: int
    address: int
    size_bytes: int
    number: int
    position: int


def follow_memory(commands: Sequence[tuple[int, Command]], *, is_whole: bool) -> Memory:
    """Goes through commands, each with its number, in order.

    Args:
        commands: of the whole graph.
        is_whole: whether none is missing; otherwise nobody knows what has no counterpart.
    """
    lowest = min((command.address or 0 for _, command in commands if command.size_bytes is not None), default=0)
    follower = _Follower(lowest, is_whole)
    for position, (number, command) in enumerate(commands):
        if command.kind == "alloc":
            follower.allocate(number, command, position)
        elif command.kind == "free":
            follower.free(number, command, position)
        elif command.transfer is not None:
            follower.move(number, command.transfer)
    follower.finish(len(commands) - 1)
    return follower.memory


@define
class _Follower:
    """Blocks in use by their address; `sorted_addresses` finds the one that an address is in."""

    lowest: int
    is_whole: bool
    memory: Memory = field(factory=Memory)
    live: dict[int, _Block] = field(factory=dict)
    sorted_addresses: list[int] = field(factory=list)

    def allocate(self, number: int, command: Command, position: int) -> None:
        address, size_bytes = command.address, command.size_bytes
        if address is None or size_bytes is None:
            return
        touched = self._touched(number)
        if address in self.live:
            touched.flags.append(ALLOCATED_TWICE)
            self._end(self.live[address], position)
        else:
            insort(self.sorted_addresses, address)
        plane = len(self.memory.planes)
        name, doc, offset = f"allocation {plane}", f"0x{address:016X} in the dump", address - self.lowest
        self.memory.planes.append(ViewPlane(name, name, None, None, "memory", size_bytes, offset, doc=doc))
        self.live[address] = _Block(plane, address, size_bytes, number, position)
        touched.arguments.append(ViewArgument("dptr", plane, 0))

    def free(self, number: int, command: Command, position: int) -> None:
        if command.address is None:
            return
        block = self.live.pop(command.address, None)
        if block is None:
            if self.is_whole:
                self._touched(number).flags.append(NOT_ALLOCATED)
            return
        self.sorted_addresses.pop(bisect_left(self.sorted_addresses, block.address))
        self._touched(number).arguments.append(ViewArgument("dptr", block.plane, 0))
        self._end(block, position)

    def move(self, number: int, transfer: Transfer) -> None:
        self._side(number, "destination", transfer.destination, transfer.destination_span_bytes, "write")
        self._side(number, "source", transfer.source, transfer.source_span_bytes, "read")

    def finish(self, position: int) -> None:
        """What is in use still at the end is never freed."""
        for block in self.live.values():
            if self.is_whole:
                self._touched(block.number).flags.append(NEVER_FREED)
            self._end(block, position)
        self.memory.lifetimes.sort(key=lambda lifetime: lifetime.plane)

    def _touched(self, number: int) -> Touched:
        return self.memory.touched.setdefault(number, Touched())

    def _end(self, block: _Block, position: int) -> None:
        self.memory.lifetimes.append(ViewLifetime(block.plane, block.position, position))

    def _side(self, number: int, slot: str, address: int | None, span_bytes: int | None, mode: Mode) -> None:
        """One side of a transfer, where it lies in a block of this graph."""
        place = 0 if address is None else bisect_right(self.sorted_addresses, address)
        if address is None or not place:
            return
        block = self.live[self.sorted_addresses[place - 1]]
        start = address - block.address
        if start >= block.size_bytes:
            return
        touched = self._touched(number)
        touched.arguments.append(ViewArgument(slot, block.plane, start, access=mode))
        if span_bytes is None:
            return
        if start + span_bytes > block.size_bytes:
            touched.flags.append(f"{mode}s past the end of what was allocated")
        stop = min(start + span_bytes, block.size_bytes)
        touched.accesses.append(ViewAccess(block.plane, start, stop, mode))
