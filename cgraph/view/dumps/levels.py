"""Which nodes and edges make up each graph of a driver's dump.

Receives what a text holds; guarantees that each command is in one level, edges join commands of one level, each pair
once, and that an order of each level is legal. Drivers write all graphs beside each other; which runs which is left
to `expansion`.
"""

import re
from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from cgraph.diagnostics import Problem
from cgraph.view.dumps.model import DotBox, DotEdge, DotGraph, DotNode
from cgraph.view.dumps.order import ordered
from cgraph.view.dumps.problems_dumps import EdgesInCircle, UnknownEnd

_NODE = re.compile(r"(graph_[0-9]+)_node_[0-9]+")
_CLUSTER = re.compile(r"cluster_([0-9]+)")
_GRAPH = re.compile(r"graph_[0-9]+")
MOST_IN_CIRCLE = 8


@frozen
class Link:
    """An edge: numbers of the commands in their level, and of the edge in the text."""

    before: int
    after: int
    edge: int


@define
class Level:
    """One graph: indices of its nodes in the text, its edges, and an order: places in `nodes`."""

    name: str
    nodes: list[int] = field(factory=list)
    links: list[Link] = field(factory=list)
    sequence: list[int] = field(factory=list)


def is_of_driver(graph: DotGraph) -> bool:
    """Whether a text has the names that CUDA and HIP give to graphs and their nodes."""
    if any(node.is_declared and _NODE.fullmatch(node.name) for node in graph.nodes):
        return True
    return not graph.nodes and any(_GRAPH.fullmatch(box.label or "") for box in graph.boxes)


def levels_of_driver(graph: DotGraph) -> tuple[list[Level], list[Problem]]:
    """The graphs of a driver's dump, in its order."""
    levels: dict[str, Level] = {}
    home: dict[int, tuple[Level, int]] = {}
    for box in graph.boxes:
        levels.setdefault(_graph_of_box(box), Level(_graph_of_box(box)))
    for number, node in enumerate(graph.nodes):
        if node.is_declared:
            name = _graph_of_node(graph, node)
            level = levels.setdefault(name, Level(name))
            home[number] = (level, len(level.nodes))
            level.nodes.append(number)
    problems: list[Problem] = []
    for number, edge in enumerate(graph.edges):
        wrong = _wrong_end(graph, edge, home)
        if wrong is not None:
            problems.append(wrong)
            continue
        level, before = home[edge.before]
        level.links.append(Link(before, home[edge.after][1], number))
    found = list(levels.values())
    for level in found:
        problems.extend(arrange_level(graph, level))
    return found, problems


def level_of_all(graph: DotGraph) -> tuple[Level, list[Problem]]:
    """All nodes of a text as one level, for graphs of tools that nobody knows; their boxes do not bound edges."""
    level = Level("", list(range(len(graph.nodes))))
    level.links = [Link(edge.before, edge.after, number) for number, edge in enumerate(graph.edges)]
    return level, list(arrange_level(graph, level))


def arrange_level(graph: DotGraph, level: Level) -> Iterator[Problem]:
    """Keeps one edge of each pair, orders a level, and leaves out edges that no order allows."""
    pairs = {(link.before, link.after): link for link in reversed(level.links)}
    links = list(reversed(pairs.values()))
    found = ordered(len(level.nodes), [(link.before, link.after) for link in links])
    level.sequence = found.sequence
    level.links = [link for number, link in enumerate(links) if number not in found.dropped]
    for number, circle in found.circles:
        names = [graph.nodes[level.nodes[place]].name for place in circle]
        yield EdgesInCircle(graph.edges[links[number].edge].place, _told(names))


def _told(names: Sequence[str]) -> str:
    shown = [name[:40] for name in names[:MOST_IN_CIRCLE]]
    return " → ".join((*shown, *(["…"] if len(names) > MOST_IN_CIRCLE else []), shown[0]))


def _graph_of_box(box: DotBox) -> str:
    if box.label is not None and _GRAPH.fullmatch(box.label):
        return box.label
    number = _CLUSTER.fullmatch(box.name)
    return f"graph_{number[1]}" if number else box.name


def _graph_of_node(graph: DotGraph, node: DotNode) -> str:
    """By its name, else by the box that it is in."""
    named = _NODE.fullmatch(node.name)
    if named is not None:
        return named[1]
    return "" if node.box is None else _graph_of_box(graph.boxes[node.box])


def _wrong_end(graph: DotGraph, edge: DotEdge, home: dict[int, tuple[Level, int]]) -> UnknownEnd | None:
    """The end of an edge that is not declared, or is in another graph than the edge's first end."""
    for end, other in ((edge.before, edge.after), (edge.after, edge.before)):
        if end not in home:
            name = _graph_of_node(graph, graph.nodes[other])
            return UnknownEnd(edge.place, graph.nodes[end].name[:60], name or "the graph")
    if home[edge.before][0] is not home[edge.after][0]:
        return UnknownEnd(edge.place, graph.nodes[edge.after].name[:60], home[edge.before][0].name)
    return None
