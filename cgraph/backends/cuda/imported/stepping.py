"""Each node of an imported graph by itself, as a graph that has nothing else.

Receives an imported graph; guarantees an order that its edges allow, the same each time, and for each node a graph that
does what the node does. A child graph is one node. Nobody says which memory a kernel writes, only which it was given.
"""

from heapq import heapify, heappop, heappush

import attrs

from cgraph.backends.cuda.imported.model import (
    ChildGraphNode,
    ImportedGraph,
    ImportedNode,
    KernelNode,
    Level,
    MemcpyNode,
    MemsetNode,
)


def topological_order(level: Level) -> list[int]:
    """Indices of nodes, each behind those that it waits for; of several that could follow the lowest."""
    waiting = [0] * len(level.nodes)
    after: list[list[int]] = [[] for _ in level.nodes]
    for edge in level.edges:
        waiting[edge.after] += 1
        after[edge.before].append(edge.after)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    heapify(ready)
    order = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for following in after[index]:
            waiting[following] -= 1
            if waiting[following] == 0:
                heappush(ready, following)
    return order


def alone(graph: ImportedGraph, index: int) -> ImportedGraph:
    """A graph of one node of the first level, with the child graphs below it."""
    node = graph.levels[0].nodes[index]
    if not isinstance(node, ChildGraphNode):
        return attrs.evolve(graph, levels=(Level((node,), ()),))
    below = _levels_below(graph, node)
    numbers = {level: number for number, level in enumerate(below, 1)}
    levels = (
        attrs.evolve(
            graph.levels[level], nodes=tuple(_renumbered(inner, numbers) for inner in graph.levels[level].nodes)
        )
        for level in below
    )
    return attrs.evolve(graph, levels=(Level((_renumbered(node, numbers),), ()), *levels))


def named_allocations(graph: ImportedGraph, index: int) -> tuple[int, ...]:
    """Allocations into which a node of the first level may write, ascending: those that it was given addresses of.

    A kernel may read more addresses from memory; what it writes there is seen at the nodes that were given those.
    """
    node = graph.levels[0].nodes[index]
    nodes: list[ImportedNode] = [node]
    if isinstance(node, ChildGraphNode):
        nodes = [inner for level in _levels_below(graph, node) for inner in graph.levels[level].nodes]
    found: set[int] = set()
    for inner in nodes:
        match inner:
            case KernelNode():
                found.update(relocation.place.allocation for relocation in inner.relocations)
            case MemsetNode():
                found.add(inner.target.allocation)
            case MemcpyNode():
                found.add(inner.target.place.allocation)
    return tuple(sorted(found))


def _levels_below(graph: ImportedGraph, node: ChildGraphNode) -> list[int]:
    """The node's level and all levels inside it, ascending, so that each stands behind the one that has its node."""
    found, open_levels = [], [node.level]
    while open_levels:
        level = open_levels.pop()
        found.append(level)
        open_levels += [inner.level for inner in graph.levels[level].nodes if isinstance(inner, ChildGraphNode)]
    return sorted(found)


def _renumbered(node: ImportedNode, numbers: dict[int, int]) -> ImportedNode:
    return ChildGraphNode(numbers[node.level]) if isinstance(node, ChildGraphNode) else node
