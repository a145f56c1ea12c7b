"""Which changes an executable graph takes: the rules of `cuGraphExecUpdate` and of the calls for single nodes.

Where cuda.h says that a change may be refused (the size of a one-dimensional fill or copy), it is refused here, so that
a program that works here works everywhere. A graph is changed as a whole or not at all.
"""

from enum import IntEnum

from attrs import frozen

from cgraph.emulator.driver.executables import ExecNode, GraphExec, Level
from cgraph.emulator.driver.graphs import Graph, Node, child_graph
from cgraph.emulator.driver.memory import Place
from cgraph.emulator.driver.objects import Context
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import CopyWork, FillWork, KernelWork, Work

COOPERATIVE = 2  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE


class UpdateResult(IntEnum):
    """CUgraphExecUpdateResult."""

    SUCCESS = 0
    ERROR = 1
    TOPOLOGY_CHANGED = 2
    NODE_TYPE_CHANGED = 3
    FUNCTION_CHANGED = 4
    PARAMETERS_CHANGED = 5
    NOT_SUPPORTED = 6
    UNSUPPORTED_FUNCTION_CHANGE = 7
    ATTRIBUTES_CHANGED = 8


class Refusal(Exception):  # noqa: N818  (an answer, told to the program as a result)
    """A change that an executable graph does not take.

    Args:
        node: of the new graph, None where none in particular is at fault.
        before: the dependency that does not match, if that is it.
    """

    def __init__(self, result: UpdateResult, text: str, node: Node | None = None, before: Node | None = None) -> None:
        super().__init__(text)
        self.result = result
        self.node = node
        self.before = before


@frozen
class _Levels:
    old: Level
    new: Graph


def update_all(driver: Driver, executable: GraphExec, graph: Graph) -> None:
    """Takes over the work of another graph of the same shape. Raises Refusal."""
    changes: list[tuple[ExecNode, Node]] = []
    waiting = [_Levels(executable.root, graph)]
    while waiting:
        levels = waiting.pop()
        for old, new in _pair(levels.old, levels.new):
            check_change(driver, old, new.work, new)
            if new.attributes.get(COOPERATIVE) != old.attributes.get(COOPERATIVE):
                raise Refusal(UpdateResult.ATTRIBUTES_CHANGED, "cooperative launches stay so", new)
            child = child_graph(new)
            if old.child is not None and child is not None:
                waiting.append(_Levels(old.child, child))
            else:
                changes.append((old, new))
    for old, new in changes:
        old.work, old.attributes = new.work, dict(new.attributes)


def check_change(driver: Driver, old: ExecNode, work: Work, node: Node | None = None) -> None:
    """Raises Refusal where a node cannot do other work."""
    if old.work.type != work.type:
        raise Refusal(UpdateResult.NODE_TYPE_CHANGED, "a node keeps its type", node)
    match old.work, work:
        case KernelWork(function=before), KernelWork(function=after):
            if before.module.context is not after.module.context:
                raise Refusal(UpdateResult.UNSUPPORTED_FUNCTION_CHANGE, "a function keeps its context", node)
        case FillWork(), FillWork():
            _check_fill(driver, old.work, work, node)
        case CopyWork(), CopyWork():
            _check_copy(driver, old.work, work, node)


def _check_fill(driver: Driver, old: FillWork, new: FillWork, node: Node | None) -> None:
    shapes = [(work.width, work.height, work.element_bytes, work.pitch * (work.height > 1)) for work in (old, new)]
    if shapes[0] != shapes[1]:
        raise Refusal(UpdateResult.PARAMETERS_CHANGED, "a fill changes its address and its value only", node)
    if owner(driver, old.address) is not owner(driver, new.address):
        raise Refusal(UpdateResult.PARAMETERS_CHANGED, "a fill stays with its context's memory", node)


def _check_copy(driver: Driver, old: CopyWork, new: CopyWork, node: Node | None) -> None:
    if old.params == new.params:
        return
    if not (old.is_flat and new.is_flat) or old.width != new.width:
        raise Refusal(UpdateResult.PARAMETERS_CHANGED, "a copy of one dimension changes its addresses only", node)
    for before, after in ((old.destination, new.destination), (old.source, new.source)):
        if _kind(driver, before) != _kind(driver, after):
            raise Refusal(UpdateResult.PARAMETERS_CHANGED, "a copy keeps the kinds of its memory", node)


def _kind(driver: Driver, place: Place) -> tuple[bool, int | None]:
    found = owner(driver, place.address) if place.on_device else None
    return place.on_device, None if found is None else found.handle


def owner(driver: Driver, address: int) -> Context | None:
    """The context in which the memory at an address was allocated."""
    found = driver.hardware.memory.find(address)
    if found is None:
        return None
    return next((context for context in driver.contexts if found.address in context.memory), None)


def _pair(level: Level, graph: Graph) -> list[tuple[ExecNode, Node]]:
    """Nodes that stand for each other: from the last ones backwards, edges in their order."""
    old, new = level.nodes, graph.nodes
    if len(old) != len(new):
        raise Refusal(UpdateResult.TOPOLOGY_CHANGED, f"{len(old)} nodes become {len(new)}")
    followed = {before for node in old for before in node.dependencies}
    old_ends = [number for number in range(len(old)) if number not in followed]
    new_ends = [node for node in new if not node.dependents]
    if len(old_ends) != len(new_ends):
        at_fault = new_ends[-1] if len(new_ends) > len(old_ends) else None
        raise Refusal(UpdateResult.TOPOLOGY_CHANGED, f"{len(old_ends)} ends become {len(new_ends)}", at_fault)
    partner: dict[int, Node] = {}
    taken: set[Node] = set()
    waiting = list(zip(old_ends, new_ends, strict=True))
    partner.update(waiting)
    taken.update(new_ends)
    while waiting:
        number, node = waiting.pop()
        dependencies = old[number].dependencies
        if len(dependencies) != len(node.dependencies):
            raise Refusal(UpdateResult.TOPOLOGY_CHANGED, "a node has another number of dependencies", node)
        for before, (new_before, _) in zip(dependencies, node.dependencies, strict=True):
            if partner.get(before) is new_before:
                continue
            if before in partner or new_before in taken:
                raise Refusal(UpdateResult.TOPOLOGY_CHANGED, "a dependency does not match", node, new_before)
            partner[before] = new_before
            taken.add(new_before)
            waiting.append((before, new_before))
    return [(old[number], node) for number, node in partner.items()]
