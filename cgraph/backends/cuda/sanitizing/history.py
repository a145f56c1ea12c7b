"""What the commands of a run have touched, and which of them no path of edges orders.

Receives the bytes that each command really used; guarantees for the next command a map of the bytes that earlier ones
used with which it is in no order. Scratch planes that share bytes of the arena share them here, too, though each is an
allocation of its own while the program is checked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from cgraph.backends.commands import describe
from cgraph.emulator.sanitizer.byte_maps import ByteMap
from cgraph.emulator.sanitizer.effects import Rival, Territory
from cgraph.graph.model import CommandGraph, Plane
from cgraph.memory.model import MemoryPlan
from cgraph.memory.reach import marks_before, reach_steps
from cgraph.schedule.model import Schedule

Bits = NDArray[np.uint8]


@frozen(eq=False)
class _Touch:
    """Bytes of one allocation that a command used, a bit for each."""

    node: int
    read: Bits = field(repr=False)
    written: Bits = field(repr=False)


@frozen(eq=False)
class _Neighbour:
    """An allocation with the same bytes: `key` is its address, `at` its first byte, counted from this one's."""

    key: int
    at: int
    plane: Plane | None


@define(eq=False)
class History:
    """The commands so far.

    Args:
        graph: of the program; before: for each command, the bits of all that a path of edges puts before it.
        neighbours: of planes in the arena, by address; itself is one of them.
    """

    graph: CommandGraph
    before: list[int] = field(repr=False)
    neighbours: Mapping[int, tuple[_Neighbour, ...]] = field(repr=False)
    _touches: defaultdict[int, list[_Touch]] = field(factory=lambda: defaultdict(list), repr=False)

    def of(self, key: int, node: int) -> Iterator[tuple[_Neighbour, _Touch]]:
        """Earlier uses of an allocation's bytes by commands in no order with this one."""
        for neighbour in self.neighbours.get(key, (_Neighbour(key, 0, None),)):
            for touch in self._touches.get(neighbour.key, ()):
                if not self.before[node] >> touch.node & 1:
                    yield neighbour, touch

    def foreign(self, key: int, size_bytes: int, node: int) -> tuple[ByteMap | None, ByteMap | None]:
        """Bytes that such commands read, and those that they wrote; None where there are no such commands."""
        read: ByteMap | None = None
        written: ByteMap | None = None
        for neighbour, touch in self.of(key, node):
            read, written = read or ByteMap(size_bytes), written or ByteMap(size_bytes)
            read.add_packed(touch.read, neighbour.at)
            written.add_packed(touch.written, neighbour.at)
        return read, written

    def rival(self, key: int, node: int, start: int, stop: int, *, writes: bool) -> Rival:
        """The first such command that used some of the bytes `start … stop`, one of the two writing."""
        positions, size_bytes = np.array([start]), stop - start
        for neighbour, touch in self.of(key, node):
            for bits, verb in ((touch.written, "wrote"), (touch.read, "read")):
                used = ByteMap(stop)
                used.add_packed(bits, neighbour.at)
                if (verb == "wrote" or writes) and used.touching(positions, size_bytes)[0]:
                    return self._named(neighbour, touch, verb, key)
        return Rival("another command used them")

    def add(self, node: int, territories: Mapping[int, Territory]) -> None:
        """Remembers what a command used."""
        for key, territory in territories.items():
            self._touches[key].append(_Touch(node, territory.read.packed(), territory.written.packed()))

    def _named(self, neighbour: _Neighbour, touch: _Touch, verb: str, key: int) -> Rival:
        command = self.graph.nodes[touch.node]
        other = neighbour.plane if neighbour.key != key else None
        them = "them" if other is None else f"plane {other.name}, to which the plan gives the same bytes,"
        return Rival(f"{describe(command)}, {verb} {them} before", command.origin.span)


def begin_history(graph: CommandGraph, schedule: Schedule, plan: MemoryPlan, addresses: tuple[int, ...]) -> History:
    """A history without a command; `addresses` are the planes' in the machine's memory, by index."""
    before = marks_before(reach_steps(schedule), {node.index: 1 << node.index for node in graph.nodes})
    return History(graph, before, _neighbours(graph, plan, addresses))


def _neighbours(graph: CommandGraph, plan: MemoryPlan, addresses: tuple[int, ...]) -> dict[int, tuple[_Neighbour, ...]]:
    """Planes of the arena that share bytes, each with itself."""
    places = sorted(
        (offset, plane.index)
        for plane, offset in zip(graph.planes, plan.offsets, strict=True)
        if offset is not None and plane.size_bytes
    )
    found: defaultdict[int, list[_Neighbour]] = defaultdict(list)
    for number, (offset, index) in enumerate(places):
        stop = offset + graph.planes[index].size_bytes
        found[index].append(_Neighbour(addresses[index], 0, graph.planes[index]))
        for other_offset, other in places[number + 1 :]:
            if other_offset >= stop:
                break
            found[index].append(_Neighbour(addresses[other], other_offset - offset, graph.planes[other]))
            found[other].append(_Neighbour(addresses[index], offset - other_offset, graph.planes[index]))
    return {addresses[index]: tuple(neighbours) for index, neighbours in found.items()}
