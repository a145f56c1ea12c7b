"""The text form of a schedule: one line a node, with what it waits for and why.

Receives a graph and its schedule; guarantees the same text for the same schedule.
"""

from collections.abc import Iterator
from itertools import islice

from cgraph.graph.hazards import Hazard
from cgraph.graph.model import CommandGraph
from cgraph.graph.text import hazard_text
from cgraph.schedule.cost import critical_path, levels
from cgraph.schedule.model import Schedule

MAX_EDGES_SHOWN = 8


def schedule_text(graph: CommandGraph, schedule: Schedule) -> str:
    """The whole schedule. A node behind a wide barrier names its first predecessors and counts the others."""
    return "".join(f"{line}\n" for line in _lines(graph, schedule))


def _lines(graph: CommandGraph, schedule: Schedule) -> Iterator[str]:
    node_levels = levels(schedule)
    edges = sum(len(direct) for direct in schedule.predecessors)
    depth = max(node_levels, default=-1) + 1
    yield f"schedule {schedule.order.value}: {len(schedule.sequence)} nodes, {edges} edges, {depth} levels"
    path = critical_path(graph, schedule)
    yield f"critical path {path.cost_us:.1f} us: {' '.join(map(str, path.nodes))}"
    for node in schedule.sequence:
        direct = schedule.predecessors[node]
        line = f"node {node} level {node_levels[node]}"
        if direct:
            edges_of_node = islice(zip(direct, schedule.reasons[node], strict=True), MAX_EDGES_SHOWN)
            line += " after " + ", ".join(
                f"{before} ({hazard_text(graph, reason) if isinstance(reason, Hazard) else 'order'})"
                for before, reason in edges_of_node
            )
        if len(direct) > MAX_EDGES_SHOWN:
            line += f" and {len(direct) - MAX_EDGES_SHOWN} more"
        yield line
