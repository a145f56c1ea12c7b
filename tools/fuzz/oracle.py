"""Whether a bundle that was let through is safe: every rule again, from its definition and by brute force.

Receives a loaded bundle of a few commands; raises Unsafe where something is out of place. It shares no code
with what validates bundles: hazards are found pair by pair, order by walking the schedule from each node.
"""

from itertools import combinations
from math import prod

from cgraph.capture.model import Bundle
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import SlotKind
from cgraph.graph.model import CommandGraph, LaunchNode, PlaneArgument
from cgraph.memory.model import MemoryPlan

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4}
WRITES = {AccessMode.READ: False, AccessMode.WRITE: True, AccessMode.ACCUMULATE: True}


class Unsafe(Exception):  # noqa: N818  (a finding, not an error of ours)
    """A bundle that was let through breaks a rule."""


def check_safe(bundle: Bundle) -> None:
    """Raises Unsafe where a bundle breaks a rule."""
    graph = bundle.graph
    _check_planes(graph)
    _check_accesses(graph)
    reached = _before(bundle)
    _check_order(graph, reached)
    _check_memory(graph, bundle.plan, reached)
    for name, array in bundle.data.items():
        plane = next(plane for plane in graph.planes if plane.name == name)
        _expect(array.shape == plane.extent, "contents have the extent of their plane")
        _expect(array.dtype.itemsize == SIZES[plane.element.value], "contents have the element of their plane")


def _expect(holds: bool, rule: str) -> None:
    if not holds:
        raise Unsafe(rule)


def _bytes(graph: CommandGraph, index: int) -> int:
    plane = graph.planes[index]
    return prod(plane.extent) * SIZES[plane.element.value]


def _check_planes(graph: CommandGraph) -> None:
    _expect(len({plane.name for plane in graph.planes}) == len(graph.planes), "each plane has a name of its own")
    for index, plane in enumerate(graph.planes):
        _expect(plane.index == index, "a plane knows its index")
        _expect(all(type(size) is int and size >= 0 for size in plane.extent), "extents are natural numbers")
        _expect(0 <= _bytes(graph, index) < 2**63, "a plane has less than 2^63 bytes")
        _expect(
            plane.gradient_of is None or 0 <= plane.gradient_of < len(graph.planes), "a gradient is that of a plane"
        )


def _check_accesses(graph: CommandGraph) -> None:
    for index, node in enumerate(graph.nodes):
        _expect(node.index == index, "a node knows its index")
        _expect(node.phase is None or 0 <= node.phase < len(graph.phases), "a node is in a phase of the graph")
        for access in node.accesses:
            _expect(0 <= access.start <= access.stop <= _bytes(graph, access.plane), "a part lies inside its plane")
            _expect(access.start % SIZES[graph.planes[access.plane].element.value] == 0, "a part starts at an element")
            given = graph.planes[access.plane].role is Role.INPUT
            _expect(not (given and WRITES[access.mode]), "inputs are only read")
        if isinstance(node, LaunchNode):
            _check_launch(graph, node)


def _check_launch(graph: CommandGraph, node: LaunchNode) -> None:
    slots = node.image.signature.slots
    _expect(len(slots) == len(node.arguments) == len(node.extents), "each slot has an argument and an extent")
    parts = []
    for slot, argument, extent in zip(slots, node.arguments, node.extents, strict=True):
        if slot.kind is SlotKind.NATURAL:
            _expect(type(argument) is int, "a natural slot has an int")
            _expect(0 <= argument < 2**31, "a natural fits a kernel's int")
        elif slot.kind is SlotKind.FLOAT:
            _expect(type(argument) is float, "a float slot has a float")
        elif argument is None:
            _expect(slot.optional, "only optional slots are left out")
        else:
            _expect(isinstance(argument, PlaneArgument), "a pointer slot has a plane")
            plane = graph.planes[argument.plane]
            _expect(plane.element is slot.element, "a plane has the element of its slot")
            stop = argument.offset + prod(extent) * SIZES[plane.element.value]
            _expect(
                0 <= argument.offset <= stop <= _bytes(graph, argument.plane),
                "what a kernel touches lies inside the plane",
            )
            parts.append((slot, argument.plane, argument.offset, stop))
    touched = [(access.plane, access.start, access.stop) for access in node.accesses]
    _expect([part[1:] for part in parts] == touched, "accesses are those of the arguments")
    for (one, plane, start, stop), (other, its_plane, its_start, its_stop) in combinations(parts, 2):
        shares = plane == its_plane and max(start, its_start) < min(stop, its_stop)
        if shares and (one.access is not AccessMode.READ or other.access is not AccessMode.READ):
            _expect(other.name in one.aliases or one.name in other.aliases, "slots share bytes only where they may")
    _expect(
        all(1 <= size <= limit for size, limit in zip(node.grid, (2**31 - 1, 65535, 65535), strict=True)),
        "a grid is one that devices take",
    )
    _expect(all(size >= 1 for size in node.block), "a block has threads")
    _expect(prod(node.block) <= 1024, "a block has at most 1024 threads")
    _expect(node.block[2] <= 64, "a block is at most 64 deep")
    _expect(0 <= node.shared_bytes <= 227 * 1024, "a block has its shared memory")


def _before(bundle: Bundle) -> list[set[int]]:
    """For each node all nodes that come before it in every run."""
    schedule, count = bundle.schedule, len(bundle.graph.nodes)
    _expect(sorted(schedule.sequence) == list(range(count)), "the sequence has each node once")
    _expect(len(schedule.predecessors) == count, "each node waits for something or nothing")
    reached: list[set[int]] = [set() for _ in range(count)]
    done: set[int] = set()
    for node in schedule.sequence:
        for earlier in schedule.predecessors[node]:
            _expect(earlier in done, "the order has a cycle, or the sequence is none of it")
            reached[node] |= {earlier, *reached[earlier]}
        done.add(node)
    return reached


def _check_order(graph: CommandGraph, reached: list[set[int]]) -> None:
    touches = [(node.index, access) for node in graph.nodes for access in node.accesses]
    for (first, one), (second, other) in combinations(touches, 2):
        shares = one.plane == other.plane and max(one.start, other.start) < min(one.stop, other.stop)
        if shares and first != second and (WRITES[one.mode] or WRITES[other.mode]):
            _expect(first in reached[second] or second in reached[first], f"nodes {first} and {second} race")


def _check_memory(graph: CommandGraph, plan: MemoryPlan, reached: list[set[int]]) -> None:
    uses: dict[int, set[int]] = {}
    for node in graph.nodes:
        for access in node.accesses:
            uses.setdefault(access.plane, set()).add(node.index)
    placed = []
    for plane, offset in enumerate(plan.offsets):
        scratch = graph.planes[plane].role is Role.SCRATCH and plane in uses
        _expect((offset is not None) == scratch, "the scratch planes in use are in the arena, and no others")
        if offset is not None and _bytes(graph, plane):
            _expect(offset % 256 == 0, "places are aligned")
            _expect(0 <= offset <= offset + _bytes(graph, plane) <= plan.size_bytes, "places lie inside the arena")
            placed.append((plane, offset, offset + _bytes(graph, plane)))
    for (one, start, stop), (other, its_start, its_stop) in combinations(placed, 2):
        if max(start, its_start) < min(stop, its_stop):
            first = all(a in reached[b] for a in uses[one] for b in uses[other])
            second = all(b in reached[a] for a in uses[one] for b in uses[other])
            _expect(first or second, f"planes {one} and {other} share bytes while in use")
