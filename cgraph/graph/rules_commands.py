"""Rules about single commands: parts lie inside their planes, do not race with each other, and launches are legal.

Receives a graph; guarantees one named function per rule, each linear in the accesses. Whether slots are complete and
of the right kind, and whether a signature's requirements hold, was checked when the graph was built.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from cgraph.core.signatures import Slot, SlotKind
from cgraph.diagnostics import Problem
from cgraph.graph.hazards import Hazard
from cgraph.graph.model import Access, CommandGraph, CopyNode, Image, LaunchNode
from cgraph.graph.problems import (
    BlockOutOfRange,
    CopyOverlap,
    ForbiddenAlias,
    GridOutOfRange,
    MisalignedPart,
    NaturalTooLarge,
    PlaneOverrun,
    SharedMemoryTooLarge,
)
from cgraph.graph.ranges import describe_range, overlap
from cgraph.graph.slots import slot_accesses

# Limits of every CUDA device so far, from the CUDA C++ Programming Guide, "Compute Capabilities"; the dynamic shared
# memory is that of compute capability 9.0, the largest.
GRID_LIMITS = (2**31 - 1, 65_535, 65_535)
BLOCK_THREADS = 1024
BLOCK_LIMIT_Z = 64
SHARED_LIMIT_BYTES = 227 * 1024
NATURAL_LIMIT = 2**31 - 1


def overruns(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Every part lies inside its plane."""
    sizes = [plane.size_bytes for plane in graph.planes]
    for node in graph.nodes:
        for access in node.accesses:
            if access.stop > sizes[access.plane]:
                plane = graph.planes[access.plane]
                part = describe_range(plane, access.start, access.stop)
                needs = -(-access.stop // plane.element.size_bytes)
                yield PlaneOverrun(node.origin.span, node.index, node.origin, plane, part, needs, plane.elements)


def misaligned_parts(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Every part starts at an element."""
    sizes = [plane.element.size_bytes for plane in graph.planes]
    for node in graph.nodes:
        for access in node.accesses:
            if access.start % sizes[access.plane]:
                plane = graph.planes[access.plane]
                part = describe_range(plane, access.start, access.stop)
                size = sizes[access.plane]
                yield MisalignedPart(node.origin.span, node.index, node.origin, plane, part, access.start, size)


def forbidden_aliases(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """Two slots of a launch share bytes that one of them writes only where the signature says so, and exactly."""
    for node in graph.nodes:
        if not isinstance(node, LaunchNode) or _on_distinct_planes(node.accesses):
            continue
        by_plane: defaultdict[int, list[tuple[Slot, Access]]] = defaultdict(list)
        for slot, access in slot_accesses(node):
            by_plane[access.plane].append((slot, access))
        for shared in by_plane.values():
            for (first, one), (second, other) in combinations(shared, 2):
                common = overlap((one.start, one.stop), (other.start, other.stop))
                if common is None or not (one.mode.writes or other.mode.writes):
                    continue
                allowed = second.name in first.aliases or first.name in second.aliases
                if not allowed or (one.start, one.stop) != (other.start, other.stop):
                    plane = graph.planes[one.plane]
                    part = describe_range(plane, *common)
                    span = node.origin.span
                    yield ForbiddenAlias(span, node.index, node.origin, plane, part, first, second, allowed)


def copy_overlaps(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """A copy's source and destination are apart."""
    for node in graph.nodes:
        if isinstance(node, CopyNode) and not _on_distinct_planes(node.accesses):
            one, other = node.accesses
            common = overlap((one.start, one.stop), (other.start, other.stop))
            if common is not None:
                plane = graph.planes[one.plane]
                part = describe_range(plane, *common)
                yield CopyOverlap(node.origin.span, node.index, node.origin, plane, part)


def grid_limits(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """A grid has at least one block on each axis, and no more than a device takes."""
    for node in graph.nodes:
        if isinstance(node, LaunchNode):
            for axis, value, limit in zip("xyz", node.grid, GRID_LIMITS, strict=True):
                if not 1 <= value <= limit:
                    yield GridOutOfRange(node.origin.span, node.index, node.origin, axis, value, limit)


def block_limits(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """A block has at least one thread on each axis, and no more than a device takes."""
    for node in graph.nodes:
        if isinstance(node, LaunchNode):
            x, y, z = node.block
            reason = ""
            if min(node.block) < 1:
                reason = "each axis needs at least 1 thread"
            elif x * y * z > BLOCK_THREADS:
                reason = f"{x * y * z} threads; a block may have at most {BLOCK_THREADS}"
            elif z > BLOCK_LIMIT_Z:
                reason = f"at most {BLOCK_LIMIT_Z} threads in z"
            if reason:
                yield BlockOutOfRange(node.origin.span, node.index, node.origin, node.block, reason)


def shared_memory_limits(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """A block's dynamic shared memory exists."""
    for node in graph.nodes:
        if isinstance(node, LaunchNode) and node.shared_bytes > SHARED_LIMIT_BYTES:
            span = node.origin.span
            yield SharedMemoryTooLarge(span, node.index, node.origin, node.shared_bytes, SHARED_LIMIT_BYTES)


def natural_limits(graph: CommandGraph, _hazards: Sequence[Hazard]) -> Iterator[Problem]:
    """A natural argument fits a 32-bit signed parameter."""
    naturals: dict[Image, tuple[Slot, ...]] = {}
    for node in graph.nodes:
        if isinstance(node, LaunchNode):
            slots = naturals.get(node.image)
            if slots is None:
                of_image = node.image.signature.slots
                slots = naturals[node.image] = tuple(slot for slot in of_image if slot.kind is SlotKind.NATURAL)
            for slot in slots:
                value = node.arguments[slot.number]
                if isinstance(value, int) and value > NATURAL_LIMIT:
                    yield NaturalTooLarge(node.origin.span, node.index, node.origin, slot, value, NATURAL_LIMIT)


def _on_distinct_planes(accesses: Sequence[Access]) -> bool:
    return len({access.plane for access in accesses}) == len(accesses)
