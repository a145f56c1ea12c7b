"""A dump as the DOT language has it: boxes, nodes and edges, before anybody asks what they mean."""

from collections.abc import Mapping

from attrs import define, field, frozen

from cgraph.diagnostics import Problem
from cgraph.source import Source, Span


@frozen
class DotBox:
    """A subgraph.

    Args:
        name: `cluster_2`; "" where it has none.
        label: raw, as it stands there. is_html: in angle brackets.
        parent: index of the box around it, smaller than its own.
        place: the word `subgraph`, or the brace of a subgraph without one.
    """

    name: str
    label: str | None
    parent: int | None
    place: Span
    is_html: bool = False


@frozen
class DotNode:
    """A node; `box` is the innermost box that names it. `is_html`: its label is in angle brackets.

    Args:
        is_declared: it has a statement of its own and is not just the end of an edge.
    """

    name: str
    attributes: Mapping[str, str]
    box: int | None
    place: Span
    is_html: bool = False
    is_declared: bool = True


@frozen
class DotEdge:
    """Node `after` waits for node `before`: indices of nodes."""

    before: int
    after: int
    attributes: Mapping[str, str]
    box: int | None
    place: Span


@define
class DotGraph:
    """All that a text holds, in its order, and what is wrong with it."""

    source: Source
    name: str = ""
    label: str | None = None
    is_html: bool = False
    boxes: list[DotBox] = field(factory=list)
    nodes: list[DotNode] = field(factory=list)
    edges: list[DotEdge] = field(factory=list)
    problems: list[Problem] = field(factory=list)
