"""Memory plans as plain data.

Receives a plan and, when reading, its graph and schedule; guarantees a plan in which every scratch plane has a place,
aligned and inside the arena, and in which planes that may be in use at the same time share no byte. How good a plan is
was the planner's business; its figures are held against the graph as far as they follow from it.
"""

from collections.abc import Sequence
from typing import Any

from cgraph.capture.codec import fields
from cgraph.capture.codec.places import NOTHING
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.memory.lifetimes import Lifetime, find_conflicts, find_lifetimes
from cgraph.memory.model import ALIGNMENT_BYTES, MemoryPlan, aligned
from cgraph.memory.reach import reach_steps
from cgraph.schedule.model import Schedule

PLAN_KEYS = ("offsets", "size_bytes", "lower_bound_bytes", "unshared_bytes", "persistent_bytes")


def plan_data(plan: MemoryPlan) -> dict[str, Any]:
    """A plan as plain data."""
    return {
        "offsets": [NOTHING if offset is None else offset for offset in plan.offsets],
        "size_bytes": plan.size_bytes,
        "lower_bound_bytes": plan.lower_bound_bytes,
        "unshared_bytes": plan.unshared_bytes,
        "persistent_bytes": plan.persistent_bytes,
    }


def read_plan(value: object, place: str, graph: CommandGraph, schedule: Schedule) -> MemoryPlan:
    """A plan of a graph and its schedule. Raises FieldError."""
    offsets, size_bytes, lower_bound_bytes, unshared_bytes, persistent_bytes = fields.record(value, place, PLAN_KEYS)
    here = f"{place}.offsets"
    fields.integers(offsets, here, NOTHING, count=len(graph.planes))
    touched = {access.plane for node in graph.nodes for access in node.accesses}
    for plane, offset in zip(graph.planes, offsets, strict=True):
        if (plane.role is Role.SCRATCH and plane.index in touched) is (offset == NOTHING):
            expected = "-1, for it is not in the arena" if offset >= 0 else "a place in the arena"
            raise fields.wrong(f"{here}.{plane.index}", expected, offset)
        if offset > 0 and (offset % ALIGNMENT_BYTES or plane.size_bytes == 0):
            expected = f"a multiple of {ALIGNMENT_BYTES}" if plane.size_bytes else "0 for a plane without a byte"
            raise fields.wrong(f"{here}.{plane.index}", expected, offset)
    lifetimes = find_lifetimes(graph, schedule)
    sizes_bytes = [aligned(graph.planes[lifetime.plane].size_bytes) for lifetime in lifetimes]
    starts = [offsets[lifetime.plane] for lifetime in lifetimes]
    ends = [start + length for start, length in zip(starts, sizes_bytes, strict=True)]
    persistent = sum(plane.size_bytes for plane in graph.planes if plane.role is not Role.SCRATCH)
    for key, found, expected_bytes in (
        ("size_bytes", size_bytes, max(ends, default=0)),
        ("unshared_bytes", unshared_bytes, sum(sizes_bytes)),
        ("persistent_bytes", persistent_bytes, persistent),
    ):
        if type(found) is not int or found != expected_bytes:
            raise fields.wrong(f"{place}.{key}", f"{expected_bytes}, as the planes say", found)
    fields.integer(lower_bound_bytes, f"{place}.lower_bound_bytes", max(sizes_bytes, default=0), size_bytes)
    _check_sharing(graph, lifetimes, starts, ends, find_conflicts(lifetimes, reach_steps(schedule)), here)
    return MemoryPlan(
        tuple(None if offset == NOTHING else offset for offset in offsets),
        size_bytes,
        lower_bound_bytes,
        unshared_bytes,
        persistent_bytes,
    )


def _check_sharing(
    graph: CommandGraph,
    lifetimes: Sequence[Lifetime],
    starts: Sequence[int],
    ends: Sequence[int],
    conflicts: Sequence[int],
    place: str,
) -> None:
    """Planes that conflict share no byte: one sweep over the arena, planes that cover the place at hand as bits."""
    changes = sorted([(end, 0, block) for block, end in enumerate(ends)] + [(s, 1, b) for b, s in enumerate(starts)])
    covering = 0
    for _, begins, block in changes:
        if not begins:
            covering ^= 1 << block
            continue
        both = covering & conflicts[block]
        if both:
            other = graph.planes[lifetimes[both.bit_length() - 1].plane].name
            plane = graph.planes[lifetimes[block].plane]
            expected = f"a place apart from {other}, which may be in use at the same time as {plane.name}"
            raise fields.FieldError(f"{place}.{plane.index}", expected, f"{starts[block]}")
        covering |= 1 << block
