"""A command graph with an order as Graphviz text.

Receives a graph and the order that a schedule gives it; guarantees valid DOT whatever names contain: phases are nested
clusters, edges without a hazard (the order alone asks for them) are dashed. Layout is left to Graphviz.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

from cgraph.graph.hazards import Hazard
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, LaunchNode, Node
from cgraph.graph.origins import short_place
from cgraph.graph.text import hazard_text, node_text, written_planes


class Ordered(Protocol):
    """What is needed of a schedule, which stands later in the line than this module."""

    @property
    def predecessors(self) -> Sequence[Sequence[int]]:
        """For each node, those it waits for."""

    @property
    def reasons(self) -> Sequence[Sequence[object]]:
        """For each of these edges its hazard, or something else."""


def dot_text(graph: CommandGraph, schedule: Ordered) -> str:
    """One directed graph; a node's tooltip is what it does and where it comes from."""
    return "".join(f"{line}\n" for line in _lines(graph, schedule))


def _lines(graph: CommandGraph, schedule: Ordered) -> Iterator[str]:
    yield f"digraph {_quoted(graph.entry)} {{"
    yield "  node [shape=box];"
    yield from _clusters(graph)
    for node, (direct, reasons) in enumerate(zip(schedule.predecessors, schedule.reasons, strict=True)):
        for before, reason in zip(direct, reasons, strict=True):
            if isinstance(reason, Hazard):
                yield f"  n{before} -> n{node} [tooltip={_quoted(hazard_text(graph, reason))}];"
            else:
                yield f'  n{before} -> n{node} [style=dashed, tooltip="order"];'
    yield "}"


def _clusters(graph: CommandGraph) -> Iterator[str]:
    """Every node inside the clusters of its phases."""
    nodes: defaultdict[int | None, list[Node]] = defaultdict(list)
    inner: defaultdict[int | None, list[int]] = defaultdict(list)
    for node in graph.nodes:
        nodes[node.phase].append(node)
    for phase in graph.phases:
        inner[phase.parent].append(phase.index)
    pending: list[tuple[int | None, str]] = [(phase, "  ") for phase in reversed(inner[None])]
    for node in nodes[None]:
        yield f"  {_node_line(graph, node)}"
    while pending:
        number, indent = pending.pop()
        if number is None:
            yield f"{indent}}}"
            continue
        yield f"{indent}subgraph cluster_{number} {{"
        yield f"{indent}  label={_quoted(graph.phases[number].title or graph.phases[number].name)};"
        for node in nodes[number]:
            yield f"{indent}  {_node_line(graph, node)}"
        pending.append((None, indent))
        pending.extend((phase, indent + "  ") for phase in reversed(inner[number]))


def _node_line(graph: CommandGraph, node: Node) -> str:
    name = "join"
    if isinstance(node, LaunchNode):
        name = node.image.signature.name
    elif isinstance(node, FillNode):
        name = "fill"
    elif isinstance(node, CopyNode):
        name = "copy"
    label = "\n".join([f"{node.index} {name}", *written_planes(graph, node)])
    tooltip = f"{node_text(graph, node)}\n{short_place(node.origin.span)}"
    return f"n{node.index} [label={_quoted(label)}, tooltip={_quoted(tooltip)}];"


def _quoted(text: str) -> str:
    r"""A DOT string; a line end becomes `\n`, which Graphviz centres the line for."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
