"""Schedules as plain data: the kind of order, and for each node the nodes that it waits for.

Receives a schedule and, when reading, the graph's hazards; guarantees a schedule in which every hazard lies on a path.
What a node waits for follows from hazards and order alone, so what is stored is held against that: it is there
for readers without cgraph. Sets that several nodes share are stored once, as barriers are in memory.
"""

from typing import Any

from cgraph.capture.codec import fields
from cgraph.graph.hazards import Hazard
from cgraph.graph.model import CommandGraph
from cgraph.schedule.model import Order, Schedule
from cgraph.schedule.orders import make_schedule

SCHEDULE_KEYS = ("order", "sizes", "nodes", "waits")


def schedule_data(schedule: Schedule) -> dict[str, Any]:
    """A schedule as plain data: `sizes` and `nodes` are the sets one behind the other, `waits` the set of each node."""
    rows: dict[int, int] = {}
    sets: list[tuple[int, ...]] = []
    for direct in schedule.predecessors:
        if rows.setdefault(id(direct), len(sets)) == len(sets):
            sets.append(direct)
    return {
        "order": schedule.order.value,
        "sizes": [len(direct) for direct in sets],
        "nodes": [node for direct in sets for node in direct],
        "waits": [rows[id(direct)] for direct in schedule.predecessors],
    }


def read_schedule(value: object, place: str, graph: CommandGraph, hazards: tuple[Hazard, ...]) -> Schedule:
    """A schedule of a graph, whose hazards are given. Raises FieldError."""
    order, sizes, nodes, waits = fields.record(value, place, SCHEDULE_KEYS)
    count = len(graph.nodes)
    fields.integers(sizes, f"{place}.sizes", 0, count)
    fields.integers(nodes, f"{place}.nodes", 0, count - 1, sum(sizes))
    fields.integers(waits, f"{place}.waits", 0, len(sizes) - 1, count)
    schedule = make_schedule(graph, hazards, fields.choice(Order, order, f"{place}.order"))
    found = []
    start = 0
    for size in sizes:
        found.append(tuple(nodes[start : start + size]))
        start += size
    if len(set(waits)) < len(found):
        raise fields.wrong(f"{place}.waits", "each set at least once", waits)
    for node, (row, direct) in enumerate(zip(waits, schedule.predecessors, strict=True)):
        if found[row] != direct:
            expected = f"the set {_shown(direct)}, which follows from the commands before node {node}"
            raise fields.FieldError(f"{place}.waits.{node}", expected, _shown(found[row]))
    return schedule


def _shown(nodes: tuple[int, ...]) -> str:
    text = ", ".join(map(str, nodes[:8]))
    return f"[{text}{', …' if len(nodes) > 8 else ''}]"
