"""Makes a schedule of a graph, in one of three orders.

Receives a graph and its hazards; guarantees that every hazard lies on a path of the schedule. Memory may later ask
which nodes are surely apart in time; it gets its answer from these paths alone.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from cgraph.graph.hazards import Hazard
from cgraph.graph.model import CommandGraph
from cgraph.schedule.model import Order, Reason, Schedule
from cgraph.schedule.reduction import transitive_reduction


def make_schedule(graph: CommandGraph, hazards: tuple[Hazard, ...], order: Order) -> Schedule:
    """The schedule of a graph.

    `SERIAL` is a chain in program order. `PHASE` runs the outermost phases one after the other, each command outside
    phases being a run of its own, and keeps only true dependencies inside a run. `DATAFLOW` keeps only true
    dependencies. Dependencies are transitively reduced, so no edge follows from others.

    Args:
        graph: what the hazards were found in.
        hazards: as `find_hazards` returns them, sorted by the later node.
        order: how much freedom to leave.
    """
    count = len(graph.nodes)
    first_hazards: list[dict[int, Hazard]] = [{} for _ in range(count)]
    for hazard in hazards:
        first_hazards[hazard.after].setdefault(hazard.before, hazard)
    if order is Order.SERIAL:
        predecessors: Sequence[tuple[int, ...]] = [(node - 1,) if node else () for node in range(count)]
    elif order is Order.DATAFLOW:
        predecessors = transitive_reduction([tuple(sorted(hazards_of)) for hazards_of in first_hazards])
    else:
        predecessors = _with_barriers(graph, first_hazards)
    reasons = _reasons(predecessors, first_hazards, order)
    return Schedule(order, tuple(range(count)), tuple(predecessors), tuple(reasons), hazards)


def phase_runs(graph: CommandGraph) -> Iterator[range]:
    """The nodes of each run of an outermost phase, and of each command outside phases, in program order."""
    outermost: list[int] = []
    for phase in graph.phases:
        outermost.append(phase.index if phase.parent is None else outermost[phase.parent])
    start = 0
    for node in graph.nodes[1:]:
        before = graph.nodes[node.index - 1].phase
        if node.phase is None or before is None or outermost[node.phase] != outermost[before]:
            yield range(start, node.index)
            start = node.index
    if graph.nodes:
        yield range(start, len(graph.nodes))


def _with_barriers(graph: CommandGraph, first_hazards: Sequence[dict[int, Hazard]]) -> list[tuple[int, ...]]:
    """True dependencies inside each run; every first node of a run waits for every last node of the run before."""
    runs = list(phase_runs(graph))
    predecessors = transitive_reduction(
        [tuple(sorted(before for before in first_hazards[node] if before in run)) for run in runs for node in run]
    )
    ends: tuple[int, ...] = ()
    for run in runs:
        has_successor = {before for node in run for before in predecessors[node]}
        for node in run:
            predecessors[node] = predecessors[node] or ends
        ends = tuple(node for node in run if node not in has_successor)
    return predecessors


def _reasons(
    predecessors: Sequence[tuple[int, ...]], first_hazards: Sequence[dict[int, Hazard]], order: Order
) -> Iterator[tuple[Reason, ...]]:
    """Nodes behind one barrier share the tuple that names the order alone, as they share their predecessors."""
    without: tuple[tuple[int, ...], tuple[Reason, ...]] = ((), ())
    for direct, hazards_of in zip(predecessors, first_hazards, strict=True):
        if direct is not without[0]:
            without = (direct, (order,) * len(direct))
        reasons: list[Reason] | None = None
        for before, hazard in hazards_of.items():
            place = bisect_left(direct, before)
            if place < len(direct) and direct[place] == before:
                if reasons is None:
                    reasons = list(without[1])
                reasons[place] = hazard
        yield without[1] if reasons is None else tuple(reasons)
