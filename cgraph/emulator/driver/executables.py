"""Executable graphs: a copy of a graph's work with all child graphs, whose nodes run in an order that the edges allow.

Receives a graph; guarantees that later changes of it change nothing here. Which changes an executable graph takes is
left to `updating`.
"""

from collections import Counter

from attrs import define, field

from cgraph.emulator.driver.capturing import clock_ms
from cgraph.emulator.driver.graphs import Graph, Node, child_graph
from cgraph.emulator.driver.hardware import KernelFault
from cgraph.emulator.driver.objects import Context
from cgraph.emulator.driver.ordering import Ordering
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.user_objects import UserObject, share
from cgraph.emulator.driver.work import Work, perform


@define(eq=False)
class ExecNode:
    """A node of an executable graph.

    Args:
        source: the node that it was made from.
        dependencies: places in its level of those that it waits for, in the order of the edges.
        child: the level of a child graph, None for other nodes.
        enabled: whether its work is done.
    """

    source: Node
    work: Work
    context: Context
    dependencies: tuple[int, ...]
    attributes: dict[int, bytes]
    child: "Level | None" = None
    enabled: bool = True


@define(eq=False)
class Level:
    """The nodes of a graph or of a child graph."""

    nodes: list[ExecNode]


@define(eq=False)
class GraphExec:
    """An executable graph.

    Args:
        root: the outermost level.
        by_source: each node of every level by the node that it was made from.
        steps: what is run: nodes, and None where a child graph begins and ends.
        predecessors: the steps that each step waits for.
        user_objects: what must outlive it, as `Graph` has it.
    """

    flags: int
    root: Level
    by_source: dict[Node, ExecNode]
    steps: list[ExecNode | None]
    predecessors: list[list[int]]
    number: int
    uploaded: bool = False
    user_objects: Counter[UserObject] = field(factory=Counter)
    handle: int = field(default=0)

    def find(self, node: Node) -> ExecNode:
        """The node that was made from a node of the graph. Raises DriverError: INVALID_VALUE."""
        if node not in self.by_source:
            raise DriverError(Result.INVALID_VALUE, "the node is not in the graph that was instantiated")
        return self.by_source[node]


class Cycle(Exception):  # noqa: N818  (an answer, told to the program as a result)
    """A graph that has no order.

    Args:
        node: one on the cycle or behind it.
    """

    def __init__(self, node: Node) -> None:
        super().__init__("the graph has a cycle")
        self.node = node


def instantiate(graph: Graph, flags: int) -> GraphExec:
    """An executable copy of a graph. Raises Cycle."""
    by_source: dict[Node, ExecNode] = {}
    root = _copy_levels(graph, by_source)
    steps, predecessors = _flatten(root)
    in_order = set(Ordering(None).order(predecessors))
    for step, node in enumerate(steps):
        if step not in in_order and node is not None:
            raise Cycle(node.source)
    objects = Counter[UserObject]()
    waiting = [graph]
    while waiting:
        level = waiting.pop()
        objects.update(share(level.user_objects))
        waiting.extend(child for node in level.nodes if (child := child_graph(node)) is not None)
    return GraphExec(flags, root, by_source, steps, predecessors, graph.number, user_objects=objects)


def launch(driver: Driver, context: Context, executable: GraphExec) -> None:
    """Runs all nodes. As on a device, what goes wrong fails the context, not the launch."""
    for step in driver.ordering.order(executable.predecessors):
        node = executable.steps[step]
        if node is None or not node.enabled:
            continue
        found = driver.hardware.found
        try:
            perform(driver, context, node.work, clock_ms)
        except DriverError as error:
            text = f"a graph's node touches memory that is not there: {error.reason}"
            driver.fail(context, KernelFault(Result.ILLEGAL_ADDRESS, text))
        if driver.hardware.found > found:
            driver.culprits.append((node.source.handle, driver.hardware.found - found))
        if context.fault is not None:
            return


def _copy_levels(graph: Graph, by_source: dict[Node, ExecNode]) -> Level:
    root = Level([])
    waiting = [(graph, root)]
    while waiting:
        original, level = waiting.pop()
        place = {node: number for number, node in enumerate(original.nodes)}
        for node in original.nodes:
            dependencies = tuple(place[before] for before, _ in node.dependencies)
            made = ExecNode(node, node.work, node.context, dependencies, dict(node.attributes))
            by_source[node] = made
            level.nodes.append(made)
            child = child_graph(node)
            if child is not None:
                made.child = Level([])
                waiting.append((child, made.child))
    return root


def _flatten(root: Level) -> tuple[list[ExecNode | None], list[list[int]]]:
    """All levels' nodes as steps; a child graph lies between a step that begins it and one that ends it."""
    steps: list[ExecNode | None] = []
    predecessors: list[list[int]] = []

    def add(node: ExecNode | None) -> int:
        steps.append(node)
        predecessors.append([])
        return len(steps) - 1

    waiting: list[tuple[Level, int | None, int | None]] = [(root, None, None)]
    while waiting:
        level, begin, end = waiting.pop()
        entries: list[int] = []
        exits: list[int] = []
        for node in level.nodes:
            if node.child is None:
                entries.append(add(node))
                exits.append(entries[-1])
            else:
                entries.append(add(None))
                exits.append(add(None))
                waiting.append((node.child, entries[-1], exits[-1]))
        followed: set[int] = set()
        for node, entry in zip(level.nodes, entries, strict=True):
            predecessors[entry].extend(exits[before] for before in node.dependencies)
            followed.update(node.dependencies)
            if not node.dependencies and begin is not None:
                predecessors[entry].append(begin)
        if end is not None and begin is not None:
            last = [exits[number] for number in range(len(exits)) if number not in followed]
            predecessors[end].extend(last or [begin])
    return steps, predecessors
