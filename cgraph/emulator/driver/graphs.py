"""Graphs as a program builds them: nodes, edges between them, copies of whole graphs.

Guarantees that edges join nodes of one graph, none twice. Whether there is a cycle is seen when a graph is
instantiated.
"""

from collections import Counter
from itertools import count
from typing import Any

from attrs import define, evolve, field

from cgraph.emulator.driver.layouts import EdgeData
from cgraph.emulator.driver.objects import Context
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.user_objects import UserObject, release_all, share
from cgraph.emulator.driver.work import ChildWork, KernelWork, Work

NO_EDGE_DATA = bytes(EdgeData())

_numbers = count(1)


@define(eq=False)
class Node:
    """A node.

    Args:
        number: counts the nodes that were added to its graph.
        context: in which it runs.
        dependencies: the nodes that it waits for, with the edges' data, in the order in which the edges were added.
        dependents: the nodes that wait for it.
        attributes: of a kernel node, by number.
        reported: memory behind the pointers that the program was given when it asked for the node's parameters.
    """

    graph: "Graph"
    number: int
    work: Work
    context: Context
    dependencies: list[tuple["Node", bytes]] = field(factory=list)
    dependents: list[tuple["Node", bytes]] = field(factory=list)
    attributes: dict[int, bytes] = field(factory=dict)
    reported: Any = None
    handle: int = 0


@define(eq=False)
class Graph:
    """A graph.

    Args:
        number: counts all graphs of the process.
        owner: the child graph node that it belongs to, None for a graph of the program's own.
        clones: its node for each node of the graph that it was cloned from.
        added: how many nodes were ever added.
        reported: memory behind the pointers that the program was given when it asked about a capture.
        user_objects: what the program wants to outlive the graph, and how many references the graph has.
    """

    owner: Node | None = None
    number: int = field(factory=lambda: next(_numbers))
    nodes: list[Node] = field(factory=list)
    clones: dict[Node, Node] = field(factory=dict)
    added: int = 0
    reported: Any = None
    user_objects: Counter[UserObject] = field(factory=Counter)
    handle: int = 0


def graph_of(driver: Driver, handle: int) -> Graph:
    """The graph behind a handle. Raises DriverError: INVALID_VALUE."""
    return driver.handles.get(Graph, handle, Result.INVALID_VALUE)


def node_of(driver: Driver, handle: int, kind: type[Work] | None = None) -> Node:
    """The node behind a handle, of a kind. Raises DriverError: INVALID_VALUE."""
    node = driver.handles.get(Node, handle, Result.INVALID_VALUE)
    if kind is not None and not isinstance(node.work, kind):
        raise DriverError(Result.INVALID_VALUE, f"{handle:#x} is no {kind.__name__}")
    return node


def new_graph(driver: Driver, owner: Node | None = None) -> Graph:
    """An empty graph."""
    graph = Graph(owner)
    driver.handles.add(graph)
    return graph


def add_node(
    driver: Driver, graph: Graph, work: Work, context: Context, dependencies: list[tuple[Node, bytes]]
) -> Node:
    """A new node of a graph. A child graph is copied: later changes of it are none of the node's.

    Raises:
        DriverError: INVALID_VALUE for a dependency that is not in the graph, or is named twice.
    """
    for before, _ in dependencies:
        if before.graph is not graph:
            raise DriverError(Result.INVALID_VALUE, "a dependency is in another graph")
    if len({before for before, _ in dependencies}) != len(dependencies):
        raise DriverError(Result.INVALID_VALUE, "a dependency is named twice")
    node = Node(graph, graph.added, work, context)
    if isinstance(work, KernelWork):
        node.attributes.update(work.attributes)
    if isinstance(work, ChildWork):
        node.work = ChildWork(clone(driver, work.graph, node))
    driver.handles.add(node)
    graph.added += 1
    graph.nodes.append(node)
    for before, data in dependencies:
        connect(before, node, data)
    return node


def connect(before: Node, after: Node, data: bytes) -> None:
    """Adds an edge. Raises DriverError: INVALID_VALUE where it is there already, or joins two graphs."""
    if before.graph is not after.graph or before is after:
        raise DriverError(Result.INVALID_VALUE, "an edge joins two nodes of one graph")
    if any(found is before for found, _ in after.dependencies):
        raise DriverError(Result.INVALID_VALUE, "there is such an edge already")
    after.dependencies.append((before, data))
    before.dependents.append((after, data))


def disconnect(before: Node, after: Node) -> None:
    """Removes an edge. Raises DriverError: INVALID_VALUE where there is none."""
    kept = [edge for edge in after.dependencies if edge[0] is not before]
    if len(kept) == len(after.dependencies):
        raise DriverError(Result.INVALID_VALUE, "there is no such edge")
    after.dependencies = kept
    before.dependents = [edge for edge in before.dependents if edge[0] is not after]


def remove_node(driver: Driver, node: Node) -> None:
    """Removes a node and its edges."""
    for before, _ in list(node.dependencies):
        disconnect(before, node)
    for after, _ in list(node.dependents):
        disconnect(node, after)
    node.graph.nodes.remove(node)
    driver.handles.remove(node)
    if isinstance(node.work, ChildWork):
        destroy_graph(driver, node.work.graph)


def destroy_graph(driver: Driver, graph: Graph) -> None:
    """Forgets a graph, its nodes and their child graphs."""
    waiting = [graph]
    while waiting:
        ended = waiting.pop()
        driver.handles.remove(ended)
        release_all(driver.handles, ended.user_objects)
        for node in ended.nodes:
            driver.handles.remove(node)
            if isinstance(node.work, ChildWork):
                waiting.append(node.work.graph)


def clone(driver: Driver, graph: Graph, owner: Node | None = None) -> Graph:
    """A copy of a graph and of the child graphs in it. It remembers which node each of its nodes stands for."""
    first = new_graph(driver, owner)
    waiting = [(graph, first)]
    while waiting:
        original, copied = waiting.pop()
        for node in original.nodes:
            twin = Node(copied, node.number, node.work, node.context, attributes=dict(node.attributes))
            driver.handles.add(twin)
            copied.nodes.append(twin)
            copied.clones[node] = twin
            if isinstance(node.work, ChildWork):
                child = new_graph(driver, twin)
                twin.work = evolve(node.work, graph=child)
                waiting.append((node.work.graph, child))
        for node in original.nodes:
            twin = copied.clones[node]
            twin.dependencies = [(copied.clones[before], data) for before, data in node.dependencies]
            twin.dependents = [(copied.clones[after], data) for after, data in node.dependents]
        copied.added = original.added
        copied.user_objects = share(original.user_objects)
    return first


def is_default(data: bytes) -> bool:
    """Whether an edge's data says nothing."""
    return data == NO_EDGE_DATA


def child_graph(node: Node) -> Graph | None:
    """The graph inside a child graph node."""
    if isinstance(node.work, ChildWork):
        graph: Graph = node.work.graph
        return graph
    return None
