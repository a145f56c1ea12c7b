"""Rules about what planes hold: nothing unwritten is read, results are complete, given planes stay as they are.

Receives a graph and its hazards; guarantees one named function per rule, each linear in the accesses and hazards.
Bytes past a plane's end are left to the rules about commands.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cgraph.core.roles import Role
from cgraph.diagnostics import Problem
from cgraph.graph.hazards import Hazard, HazardKind
from cgraph.graph.model import Access, CommandGraph, LaunchNode, Node
from cgraph.graph.problems import DeadWrite, UnusedPlane, UnwrittenRead, UnwrittenResult, WriteToGiven
from cgraph.graph.purposes import GIVEN_ROLES, is_result, starts_filled
from cgraph.graph.ranges import Range, describe_range, missing_ranges, overlap
from cgraph.graph.slots import slot_accesses
from cgraph.source import Span

_MAX_RANGES_SHOWN = 3


def unwritten_reads(graph: CommandGraph, hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Every byte that a command reads was given with its plane or written by an earlier command."""
    written = _written_ranges(graph)
    filled = [starts_filled(graph, plane, written=bool(written[plane.index])) for plane in graph.planes]
    sources: defaultdict[tuple[int, int], list[Range]] = defaultdict(list)
    for hazard in hazards:
        if hazard.kind is HazardKind.READ_AFTER_WRITE and not filled[hazard.plane]:
            sources[hazard.after, hazard.plane].append((hazard.start, hazard.stop))
    explained: set[int] = set()
    for node in graph.nodes:
        for access in node.accesses:
            if filled[access.plane] or not access.mode.reads:
                continue
            known = sources.get((node.index, access.plane), ())
            if len(known) == 1 and known[0][0] <= access.start and access.stop <= known[0][1]:
                continue  # one command wrote all of it, as is the rule
            plane = graph.planes[access.plane]
            stop = min(access.stop, plane.size_bytes)
            gap = next(missing_ranges(access.start, stop, known), None)
            if gap is None:
                continue
            later = None if access.plane in explained else _writer_span(graph, written[access.plane], gap, node.index)
            explained.add(access.plane)
            part = describe_range(plane, *gap)
            yield UnwrittenRead(node.origin.span, node.index, node.origin, plane, part, later)


def incomplete_results(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Every output, and every gradient of an input or weight, is written in full.

    An output that no command touches is excused where its gradient is at hand: the graph is then a backward pass, and
    lists the output only because the gradient refers to it.
    """
    written = _written_ranges(graph)
    touched = {access.plane for node in graph.nodes for access in node.accesses}
    bases = {plane.gradient_of for plane in graph.planes}
    for plane in graph.planes:
        if not is_result(graph, plane) or (
            plane.role is Role.OUTPUT and plane.index not in touched and plane.index in bases
        ):
            continue
        ranges = [(start, stop) for _, start, stop in written[plane.index]]
        missing = list(missing_ranges(0, plane.size_bytes, ranges))
        if missing:
            shown = "; ".join(describe_range(plane, *gap) for gap in missing[:_MAX_RANGES_SHOWN])
            more = len(missing) - _MAX_RANGES_SHOWN
            text = f"{shown} and {more} more ranges" if more > 0 else shown
            writer = _writer_span(graph, written[plane.index], (0, plane.size_bytes), -1)
            yield UnwrittenResult(plane.span, plane, text, writer)


def writes_to_given(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Inputs are only read, and weights updated: a command that writes bytes of one reads them too."""
    given = [plane.role in GIVEN_ROLES for plane in graph.planes]
    for node in graph.nodes:
        for access in node.accesses:
            if given[access.plane] and access.mode.writes:
                plane = graph.planes[access.plane]
                if plane.role is Role.WEIGHT and _reads(node, access):
                    continue
                part = describe_range(plane, access.start, access.stop)
                yield WriteToGiven(node.origin.span, node.index, node.origin, plane, part)


def dead_writes(graph: CommandGraph, hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Something reads at least one byte of what a command writes to a scratch plane, before it is overwritten.

    A kernel may fill several planes of which a program needs one. So a dead write counts only where it can be avoided:
    if all writes of the command are dead, or if the slot may be left out.
    """
    readings: defaultdict[tuple[int, int], list[Range]] = defaultdict(list)
    overwritings: dict[tuple[int, int], int] = {}
    for hazard in hazards:
        if graph.planes[hazard.plane].role is Role.SCRATCH:
            if hazard.kind is HazardKind.READ_AFTER_WRITE:
                readings[hazard.before, hazard.plane].append((hazard.start, hazard.stop))
            elif hazard.kind is HazardKind.WRITE_AFTER_WRITE:
                overwritings.setdefault((hazard.before, hazard.plane), hazard.after)
    for node in graph.nodes:
        writes = [access for access in node.accesses if access.mode.writes and access.start < access.stop]
        dead = [
            access
            for access in writes
            if graph.planes[access.plane].role is Role.SCRATCH
            and not any(
                overlap((access.start, access.stop), reading)
                for reading in readings.get((node.index, access.plane), ())
            )
        ]
        if 0 < len(dead) < len(writes) and isinstance(node, LaunchNode):
            avoidable = [access for slot, access in slot_accesses(node) if slot.optional]
            dead = [access for access in dead if access in avoidable]
        for access in dead:
            plane = graph.planes[access.plane]
            overwriting = overwritings.get((node.index, access.plane))
            span = None if overwriting is None else graph.nodes[overwriting].origin.span
            part = describe_range(plane, access.start, access.stop)
            yield DeadWrite(node.origin.span, node.index, node.origin, plane, part, span)


def unused_planes(graph: CommandGraph, declared: Sequence[tuple[str, Span]]) -> Iterator[Problem]:
    """Every declared plane, given as family name and span, is touched, or its gradient is."""
    used = {access.plane for node in graph.nodes for access in node.accesses}
    bases = {graph.planes[plane].gradient_of for plane in used}
    families = {graph.planes[plane].family for plane in used | bases if plane is not None}
    for name, span in declared:
        if name not in families:
            yield UnusedPlane(span, name)


def _reads(node: Node, written: Access) -> bool:
    """Whether a node reads all of the bytes that it writes."""
    read = [
        (access.start, access.stop) for access in node.accesses if access.plane == written.plane and access.mode.reads
    ]
    return next(missing_ranges(written.start, written.stop, read), None) is None


def _written_ranges(graph: CommandGraph) -> list[list[tuple[int, int, int]]]:
    """For each plane, (node, first byte, end) of every write, in program order."""
    written: list[list[tuple[int, int, int]]] = [[] for _ in graph.planes]
    for node in graph.nodes:
        for access in node.accesses:
            if access.mode.writes and access.start < access.stop:
                written[access.plane].append((node.index, access.start, access.stop))
    return written


def _writer_span(graph: CommandGraph, written: Sequence[tuple[int, int, int]], part: Range, after: int) -> Span | None:
    """The first command after node `after` that writes some of the part."""
    for node, start, stop in written:
        if node > after and overlap(part, (start, stop)):
            return graph.nodes[node].origin.span
    return None
