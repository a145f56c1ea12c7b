"""Holds the parts of a bundle against each other before anything of it is allocated or launched.

Receives a bundle from anywhere; guarantees that every argument and every access lies inside its plane and follows from
the other, that the schedule is an order of this graph's commands, and that the memory plan has room for its scratch
planes. What kernels do with their arguments is left to the device. Linear in commands and edges.
"""

from collections.abc import Iterator
from math import prod

from cgraph.backends.commands import describe
from cgraph.capture.model import Bundle
from cgraph.capture.problems_replay import BundleInconsistent
from cgraph.core.roles import Role
from cgraph.core.signatures import SlotKind
from cgraph.diagnostics import Problem, ProblemsFound, Severity
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, LaunchNode, Node, PlaneArgument
from cgraph.graph.verify import ERROR_RULES, verify
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

MOST_REPORTED = 20


def check_bundle(bundle: Bundle) -> None:
    """Raises ProblemsFound (CG833, and the problems of `verify`) where parts do not belong together."""
    problems: list[Problem] = []
    for problem in _faults(bundle):
        problems.append(problem)
        if len(problems) == MOST_REPORTED:
            break
    if not problems:
        # The rules of graphs read indices and counts, which are known to be good only now.
        problems = [
            problem for problem in verify(bundle.graph, rules=ERROR_RULES) if problem.severity is Severity.ERROR
        ]
    if problems:
        raise ProblemsFound(problems)


def _faults(bundle: Bundle) -> Iterator[Problem]:
    graph = bundle.graph
    for index, plane in enumerate(graph.planes):
        if plane.index != index:
            yield BundleInconsistent(plane.span, f"plane {plane.name} says that it is number {plane.index}")
    for index, node in enumerate(graph.nodes):
        for what in _node_faults(graph, index, node):
            yield BundleInconsistent(node.origin.span, f"{describe(node)}: {what}", node.origin)
    for what in (*_schedule_faults(graph, bundle.schedule), *_plan_faults(graph, bundle.plan)):
        yield BundleInconsistent(None, what)
    count = len(bundle.images)
    if len(bundle.module_of) != count:
        yield BundleInconsistent(None, f"{len(bundle.module_of)} images have a module, the graph has {count}")
    elif any(module is not None and not 0 <= module < len(bundle.modules) for module in bundle.module_of):
        yield BundleInconsistent(None, "an image's module is none of the bundle's")


def _node_faults(graph: CommandGraph, index: int, node: Node) -> Iterator[str]:
    if node.index != index:
        yield f"it stands at {index}"
    if node.phase is not None and not 0 <= node.phase < len(graph.phases):
        yield f"there is no phase {node.phase}"
    for access in node.accesses:
        if not 0 <= access.plane < len(graph.planes):
            yield f"there is no plane {access.plane}"
            return
        plane = graph.planes[access.plane]
        if not 0 <= access.start <= access.stop <= plane.size_bytes:
            part = f"bytes {access.start} to {access.stop}"
            yield f"it touches {part} of plane {plane.name}, which has {plane.size_bytes}"
    modes = [access.mode.writes for access in node.accesses]
    sizes = {access.stop - access.start for access in node.accesses}
    if isinstance(node, LaunchNode):
        yield from _launch_faults(graph, node)
    elif isinstance(node, FillNode) and modes != [True]:
        yield "a fill writes one part"
    elif isinstance(node, CopyNode) and (modes != [True, False] or len(sizes) != 1):
        yield "a copy writes as many bytes as it reads"


def _launch_faults(graph: CommandGraph, node: LaunchNode) -> Iterator[str]:
    slots = node.image.signature.slots
    if not len(slots) == len(node.arguments) == len(node.extents):
        yield f"it has {len(node.arguments)} arguments for {len(slots)} slots"
        return
    accesses = iter(node.accesses)
    for slot, argument, extent in zip(slots, node.arguments, node.extents, strict=True):
        if slot.kind is not SlotKind.POINTER:
            kinds = int if slot.kind is SlotKind.NATURAL else int | float
            if isinstance(argument, bool) or not isinstance(argument, kinds):
                yield f"slot {slot.name} is no {slot.kind.value}"
            continue
        if argument is None and slot.optional:
            continue
        if not isinstance(argument, PlaneArgument) or not 0 <= argument.plane < len(graph.planes):
            yield f"slot {slot.name} names no plane of the graph"
            return
        plane, access = graph.planes[argument.plane], next(accesses, None)
        element = slot.element or plane.element
        stop = argument.offset + prod(extent) * element.size_bytes
        if not 0 <= argument.offset <= stop <= plane.size_bytes:
            part = f"bytes {argument.offset} to {stop}"
            yield f"slot {slot.name} is {part} of plane {plane.name}, which has {plane.size_bytes}"
        stated = None if access is None else (access.plane, access.start, access.stop, access.mode)
        if stated != (argument.plane, argument.offset, stop, slot.access):
            yield f"what it touches does not follow from slot {slot.name}"
    if next(accesses, None) is not None:
        yield "it touches more than its slots name"


def _schedule_faults(graph: CommandGraph, schedule: Schedule) -> Iterator[str]:
    count = len(graph.nodes)
    if sorted(schedule.sequence) != list(range(count)) or len(schedule.predecessors) != count:
        yield "the schedule does not have each command once"
        return
    place = [0] * count
    for position, index in enumerate(schedule.sequence):
        place[index] = position
    # Commands behind one barrier share one tuple; its last place is found once.
    latest: dict[int, int] = {}
    for index, before in enumerate(schedule.predecessors):
        if id(before) not in latest:
            inside = all(0 <= earlier < count for earlier in before)
            latest[id(before)] = max((place[earlier] for earlier in before), default=-1) if inside else count
        if latest[id(before)] >= place[index]:
            yield f"command {index} runs before one that it waits for"


def _plan_faults(graph: CommandGraph, plan: MemoryPlan) -> Iterator[str]:
    if len(plan.offsets) != len(graph.planes):
        yield f"the memory plan has {len(plan.offsets)} places for {len(graph.planes)} planes"
        return
    for plane, offset in zip(graph.planes, plan.offsets, strict=True):
        if offset is None:
            continue
        if plane.role is not Role.SCRATCH:
            yield f"plane {plane.name} is no scratch plane and lies among them"
        if not 0 <= offset <= plan.size_bytes - plane.size_bytes:
            yield f"plane {plane.name} does not lie in the arena"
