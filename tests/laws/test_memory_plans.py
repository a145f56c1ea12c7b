"""No order that a schedule allows can tell a shared arena from planes of their own."""

from random import Random

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import Access, CommandGraph, CopyNode, FillNode
from cgraph.memory import lifetimes, reach
from cgraph.memory.model import ALIGNMENT_BYTES, MemoryPlan
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order, Schedule
from cgraph.schedule.orders import make_schedule
from tests.support.random_graphs import graphs, random_extension, reachable

ORDERS = st.sampled_from(Order)
SEEDS = st.integers(0, 2**32)
Bytes = npt.NDArray[np.uint8]


def _planned(graph: CommandGraph, order: Order) -> tuple[Schedule, MemoryPlan]:
    schedule = make_schedule(graph, find_hazards(graph), order)
    return schedule, plan_memory(graph, schedule)


def _uses(graph: CommandGraph) -> dict[int, list[int]]:
    uses: dict[int, list[int]] = {}
    for node in graph.nodes:
        for plane in {access.plane for access in node.accesses}:
            if graph.planes[plane].role is Role.SCRATCH:
                uses.setdefault(plane, []).append(node.index)
    return uses


@settings(max_examples=300, deadline=None)
@given(graphs(max_nodes=20, max_planes=9), ORDERS)
def test_planes_that_share_bytes_are_apart_in_the_partial_order(graph: CommandGraph, order: Order) -> None:
    schedule, plan = _planned(graph, order)
    ancestors = reachable(schedule.predecessors)
    uses = _uses(graph)
    for one, its_uses in uses.items():
        for other, other_uses in uses.items():
            if one >= other:
                continue
            a, b = plan.offsets[one], plan.offsets[other]
            assert a is not None
            assert b is not None
            if a < b + graph.planes[other].size_bytes and b < a + graph.planes[one].size_bytes:
                first = all(use in ancestors[later] for use in its_uses for later in other_uses)
                second = all(use in ancestors[later] for use in other_uses for later in its_uses)
                assert first or second


@settings(max_examples=200, deadline=None)
@given(graphs(max_nodes=20, max_planes=9), ORDERS)
def test_conflicts_are_exactly_the_planes_that_no_order_keeps_apart(graph: CommandGraph, order: Order) -> None:
    schedule = make_schedule(graph, find_hazards(graph), order)
    found = lifetimes.find_lifetimes(graph, schedule)
    conflicts = lifetimes.find_conflicts(found, reach.reach_steps(schedule))
    ancestors = reachable(schedule.predecessors)
    uses = _uses(graph)
    assert [lifetime.plane for lifetime in found] == sorted(uses)
    for place, lifetime in enumerate(found):
        for other_place, other in enumerate(found):
            apart = any(
                all(use in ancestors[later] for use in uses[early] for later in uses[late])
                for early, late in ((lifetime.plane, other.plane), (other.plane, lifetime.plane))
            )
            assert (conflicts[place] >> other_place & 1) == (not apart and place != other_place)


@settings(max_examples=300, deadline=None)
@given(graphs(max_nodes=20, max_planes=9), ORDERS)
def test_plans_are_aligned_inside_the_arena_and_not_below_the_bound(graph: CommandGraph, order: Order) -> None:
    _, plan = _planned(graph, order)
    uses = _uses(graph)
    assert {plane for plane, offset in enumerate(plan.offsets) if offset is not None} == uses.keys()
    for plane in uses:
        offset = plan.offsets[plane]
        assert offset is not None
        assert offset % ALIGNMENT_BYTES == 0
        assert 0 <= offset <= plan.size_bytes - graph.planes[plane].size_bytes
    assert plan.lower_bound_bytes <= plan.size_bytes <= plan.unshared_bytes


@settings(max_examples=200, deadline=None)
@given(graphs(max_nodes=20, max_planes=9))
def test_the_bound_of_a_serial_order_is_what_is_live_at_once(graph: CommandGraph) -> None:
    _, plan = _planned(graph, Order.SERIAL)
    uses = _uses(graph)
    live = [
        sum(
            -(-graph.planes[plane].size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            for plane, nodes in uses.items()
            if nodes[0] <= node <= nodes[-1]
        )
        for node in range(len(graph.nodes))
    ]
    assert plan.lower_bound_bytes == max(live, default=0)


def _run(graph: CommandGraph, order: list[int], memory: list[Bytes]) -> dict[int, list[int]]:
    """Run fills and copies; tell the bytes that each copy moved."""
    moved: dict[int, list[int]] = {}

    def part(access: Access) -> Bytes:
        return memory[access.plane][access.start : access.stop]

    for index in order:
        node = graph.nodes[index]
        if isinstance(node, FillNode):
            part(node.accesses[0])[:] = int(node.value)
        elif isinstance(node, CopyNode):
            moved[index] = part(node.accesses[1]).tolist()
            part(node.accesses[0])[:] = part(node.accesses[1])
    return moved


def _saved(graph: CommandGraph, memory: list[Bytes]) -> list[list[int]]:
    return [memory[plane.index].tolist() for plane in graph.planes if plane.role is Role.SAVED]


@settings(max_examples=300, deadline=None)
@given(graphs(max_nodes=24, max_planes=9, movable=True), ORDERS, SEEDS)
def test_any_allowed_order_in_the_arena_gives_the_bytes_of_a_serial_run(
    graph: CommandGraph, order: Order, number: int
) -> None:
    schedule, plan = _planned(graph, order)
    apart = [np.zeros(plane.size_bytes, np.uint8) for plane in graph.planes]
    moved = _run(graph, list(range(len(graph.nodes))), apart)
    seed = Random(number)  # noqa: S311  (reproducible choices, nothing secret)
    for _ in range(4):
        arena = np.full(plan.size_bytes, 255, np.uint8)
        shared = [
            np.zeros(plane.size_bytes, np.uint8) if offset is None else arena[offset : offset + plane.size_bytes]
            for plane, offset in zip(graph.planes, plan.offsets, strict=True)
        ]
        assert _run(graph, random_extension(list(schedule.predecessors), seed), shared) == moved
        assert _saved(graph, shared) == _saved(graph, apart)
