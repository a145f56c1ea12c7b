"""The edges of a view, from hazards or from a schedule, each with its reason.

Guarantees a size in proportion to the graph: a barrier of an order by phases, which a schedule keeps as one tuple that
many nodes share, becomes a node of its own where it stands for many edges.
"""

from collections import Counter
from collections.abc import Iterable

from attrs import frozen

from cgraph.graph.hazards import Hazard
from cgraph.schedule.model import Schedule
from cgraph.view.model import ViewEdge, ViewNode

BARRIER_EDGES = 100  # up to here a barrier is drawn as the edges that it stands for


@frozen
class Barrier:
    """A node that stands for all edges from some nodes to others; `first_after` is the first of those that wait."""

    node: ViewNode
    first_after: int


def edges_of_hazards(hazards: Iterable[Hazard]) -> list[ViewEdge]:
    """One edge for each pair of nodes with a hazard, its reason the first of them."""
    hazards = tuple(hazards)
    counts = Counter((hazard.before, hazard.after) for hazard in hazards)
    first = {(hazard.before, hazard.after): hazard for hazard in reversed(hazards)}
    return [_edge(before, after, first[before, after], count) for (before, after), count in counts.items()]


def edges_of_schedule(schedule: Schedule) -> tuple[list[ViewEdge], list[Barrier]]:
    """The edges of a schedule, and the barriers among them, which are nodes numbered after those of the graph."""
    counts = Counter((hazard.before, hazard.after) for hazard in schedule.hazards)
    waiting: dict[int, list[int]] = {}
    for node, direct in enumerate(schedule.predecessors):
        if len(direct) > 1:
            waiting.setdefault(id(direct), []).append(node)
    edges: list[ViewEdge] = []
    barriers: list[Barrier] = []
    behind: dict[int, int] = {}
    for node, (direct, reasons) in enumerate(zip(schedule.predecessors, schedule.reasons, strict=True)):
        shared = waiting.get(id(direct), ())
        if len(direct) * len(shared) > BARRIER_EDGES and len(shared) > 1:
            if id(direct) not in behind:
                number = behind[id(direct)] = len(schedule.predecessors) + len(barriers)
                edges += [ViewEdge(before, number, "order") for before in direct]
                text = f"the next {len(shared)} nodes wait for all of the {len(direct)} before"
                barriers.append(
                    Barrier(ViewNode("join", "barrier", details=(("barrier", text),), flags=("barrier",)), node)
                )
            edges.append(ViewEdge(behind[id(direct)], node, "order"))
            continue
        for before, reason in zip(direct, reasons, strict=True):
            hazard = reason if isinstance(reason, Hazard) else None
            edges.append(_edge(before, node, hazard, counts[before, node]))
    return edges, barriers


def _edge(before: int, after: int, hazard: Hazard | None, count: int) -> ViewEdge:
    if hazard is None:
        return ViewEdge(before, after, "order")
    return ViewEdge(before, after, hazard.kind.value, hazard.plane, hazard.start, hazard.stop, count)
