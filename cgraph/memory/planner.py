"""Plans the arena that all scratch planes of a graph share.

Receives a graph and its schedule; guarantees that two planes share bytes only if every use of one comes before every
use of the other in the schedule's partial order. A plan therefore belongs to its schedule. Whether a plane is read
before it is written was checked by `verify`.
"""

from collections.abc import Iterator, Sequence

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.memory.lifetimes import Lifetime, find_conflicts, find_lifetimes, largest_together_bytes
from cgraph.memory.model import MemoryPlan, aligned
from cgraph.memory.placement import place_blocks
from cgraph.memory.reach import reach_steps
from cgraph.schedule.model import Schedule


def plan_memory(graph: CommandGraph, schedule: Schedule) -> MemoryPlan:
    """The best of a few greedy plans; the search ends when one meets the lower bound.

    A scratch plane without a byte lies at offset 0.
    """
    lifetimes = find_lifetimes(graph, schedule)
    sizes_bytes = [aligned(graph.planes[lifetime.plane].size_bytes) for lifetime in lifetimes]
    conflicts = find_conflicts(lifetimes, reach_steps(schedule))
    lower_bound_bytes = largest_together_bytes(lifetimes, sizes_bytes, conflicts)
    best: tuple[list[int], int] | None = None
    for turn in _turns(lifetimes, sizes_bytes):
        plan = place_blocks(sizes_bytes, conflicts, turn)
        if best is None or plan[1] < best[1]:
            best = plan
        if best[1] == lower_bound_bytes:
            break
    places, size_bytes = best or ([], 0)
    offsets: list[int | None] = [None] * len(graph.planes)
    for node in graph.nodes:
        for access in node.accesses:
            if graph.planes[access.plane].role is Role.SCRATCH:
                offsets[access.plane] = 0
    for lifetime, offset in zip(lifetimes, places, strict=True):
        offsets[lifetime.plane] = offset
    persistent_bytes = sum(plane.size_bytes for plane in graph.planes if plane.role is not Role.SCRATCH)
    return MemoryPlan(tuple(offsets), size_bytes, lower_bound_bytes, sum(sizes_bytes), persistent_bytes)


def _turns(lifetimes: Sequence[Lifetime], sizes_bytes: Sequence[int]) -> Iterator[list[int]]:
    """Orders in which to place planes: large first, long-lived and large first, as the program uses them."""
    blocks = range(len(lifetimes))
    first = [lifetime.uses[0] for lifetime in lifetimes]
    length = [lifetime.uses[-1] - lifetime.uses[0] + 1 for lifetime in lifetimes]
    yield sorted(blocks, key=lambda block: (-sizes_bytes[block], first[block]))
    yield sorted(blocks, key=lambda block: (-sizes_bytes[block] * length[block], first[block]))
    yield sorted(blocks, key=lambda block: (first[block], -sizes_bytes[block]))
