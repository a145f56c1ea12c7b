"""Dependencies between commands, derived from the bytes that they touch.

Receives a graph; guarantees that any two nodes of which one writes bytes that the other touches are ordered by a path
of hazards, in program order, and that each hazard names a nearest earlier node: a reader waits for the last writer of
its bytes, a writer for those who have read them since, or for the last writer where nobody has. Nothing is said about
which of these orders a schedule keeps as edges.

Cost: every plane is walked alone, with its byte boundaries compressed to ranks. The work is in proportion to the
accesses and to the hazards found, times the logarithm of the number of distinct boundaries on a plane.
"""

from collections.abc import Iterator
from enum import Enum
from operator import attrgetter, itemgetter
from typing import NamedTuple

from cgraph.core.roles import AccessMode
from cgraph.graph.intervals import LastWriters, Readers
from cgraph.graph.model import CommandGraph
from cgraph.graph.ranges import missing_ranges


class HazardKind(Enum):
    """What goes wrong if the later node runs first."""

    READ_AFTER_WRITE = "read-after-write"
    WRITE_AFTER_READ = "write-after-read"
    WRITE_AFTER_WRITE = "write-after-write"


class Hazard(NamedTuple):
    """Node `before` must end before node `after` starts, because of the bytes `start … stop` of a plane."""

    kind: HazardKind
    before: int
    after: int
    plane: int
    start: int
    stop: int


_START = attrgetter("start")


class _Touch(NamedTuple):
    """One node reading, or writing, bytes of the plane at hand."""

    node: int
    writes: bool
    start: int
    stop: int


def find_hazards(graph: CommandGraph) -> tuple[Hazard, ...]:
    """Every nearest dependency, sorted by the later node, then the earlier one, the plane and the first byte.

    A node never depends on itself: it reads all of its bytes before it writes any. Adjacent bytes with the same two
    nodes and the same kind are one hazard.
    """
    hazards: list[Hazard] = []
    for plane, touches in enumerate(_touches_by_plane(graph)):
        if any(touch.writes for touch in touches):
            start, stop = touches[0].start, touches[0].stop
            whole = all(touch.start == start and touch.stop == stop for touch in touches)
            hazards.extend(_whole_hazards(plane, touches) if whole else _plane_hazards(plane, touches))
    hazards.sort(key=itemgetter(2, 1, 3, 4))
    return tuple(hazards)


def _touches_by_plane(graph: CommandGraph) -> list[list[_Touch]]:
    """For each plane, what touches it in program order; a node's reads stand before its writes, parts that meet joined.

    A node that names the same bytes twice, as both sides of a sum may do, then waits for them once.
    """
    touches: list[list[_Touch]] = [[] for _ in graph.planes]
    for node in graph.nodes:
        accesses = sorted(node.accesses, key=_START) if len(node.accesses) > 1 else node.accesses
        for access in accesses:
            if access.mode is not AccessMode.WRITE and access.start < access.stop:
                _add(touches[access.plane], _Touch(node.index, False, access.start, access.stop))
        for access in accesses:
            if access.mode is not AccessMode.READ and access.start < access.stop:
                _add(touches[access.plane], _Touch(node.index, True, access.start, access.stop))
    return touches


def _add(touches: list[_Touch], touch: _Touch) -> None:
    if touches:
        node, writes, start, stop = touches[-1]
        if node == touch.node and writes == touch.writes and touch.start <= stop:
            touches[-1] = _Touch(node, writes, start, max(stop, touch.stop))
            return
    touches.append(touch)


def _whole_hazards(plane: int, touches: list[_Touch]) -> Iterator[Hazard]:
    """As `_plane_hazards`, where all touch the same bytes, as on most planes: one writer and one list of readers."""
    _, _, start, stop = touches[0]
    writer: int | None = None
    readers: list[int] = []
    for node, writes, _, _ in touches:
        if not writes:
            if writer is not None:
                yield Hazard(HazardKind.READ_AFTER_WRITE, writer, node, plane, start, stop)
            readers.append(node)
            continue
        for reader in readers:
            if reader != node:
                yield Hazard(HazardKind.WRITE_AFTER_READ, reader, node, plane, start, stop)
        if writer is not None and not readers:
            yield Hazard(HazardKind.WRITE_AFTER_WRITE, writer, node, plane, start, stop)
        writer, readers = node, []


def _plane_hazards(plane: int, touches: list[_Touch]) -> Iterator[Hazard]:
    points = sorted({point for touch in touches for point in (touch.start, touch.stop)})
    ranks = {point: rank for rank, point in enumerate(points)}
    writers, readers = LastWriters(len(points) - 1), Readers(len(points) - 1)
    for node, writes, first_byte, end_byte in touches:
        start, stop = ranks[first_byte], ranks[end_byte]
        if not writes:
            for writer, first, end in writers.joined(start, stop):
                if writer != node:
                    yield Hazard(HazardKind.READ_AFTER_WRITE, writer, node, plane, points[first], points[end])
            readers.add(start, stop, node)
            continue
        pieces = readers.take(start, stop)
        for reader, first, end in pieces:
            if reader != node:
                yield Hazard(HazardKind.WRITE_AFTER_READ, reader, node, plane, points[first], points[end])
        for unread in missing_ranges(start, stop, ((first, end) for _, first, end in pieces)):
            for writer, first, end in writers.joined(*unread):
                if writer != node:
                    yield Hazard(HazardKind.WRITE_AFTER_WRITE, writer, node, plane, points[first], points[end])
        writers.write(start, stop, node)
