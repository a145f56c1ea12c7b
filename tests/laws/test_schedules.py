"""Every schedule of a random graph orders what conflicts, and says no more than it must."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.graph.hazards import Hazard, find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.schedule.cost import critical_path, levels, node_cost_us
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule, phase_runs
from cgraph.schedule.reduction import transitive_reduction
from tests.support.random_graphs import conflicting_pairs, graphs, reachable

ORDERS = st.sampled_from(Order)


@settings(max_examples=300, deadline=None)
@given(graphs(), ORDERS)
def test_conflicting_nodes_are_ordered_as_in_the_program(graph: CommandGraph, order: Order) -> None:
    schedule = make_schedule(graph, find_hazards(graph), order)
    ancestors = reachable(schedule.predecessors)
    assert all(first in ancestors[second] for first, second in conflicting_pairs(graph))
    assert all(before < node for node, direct in enumerate(schedule.predecessors) for before in direct)
    assert schedule.sequence == tuple(range(len(graph.nodes)))


@settings(max_examples=300, deadline=None)
@given(graphs(), ORDERS)
def test_no_edge_follows_from_others(graph: CommandGraph, order: Order) -> None:
    schedule = make_schedule(graph, find_hazards(graph), order)
    ancestors = reachable(schedule.predecessors)
    for direct in schedule.predecessors:
        assert direct == tuple(sorted(set(direct)))
        assert not any(one in ancestors[other] for one in direct for other in direct)


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_dataflow_orders_only_what_conflicts_order(graph: CommandGraph) -> None:
    schedule = make_schedule(graph, find_hazards(graph), Order.DATAFLOW)
    conflicts: list[list[int]] = [[] for _ in graph.nodes]
    for first, second in conflicting_pairs(graph):
        conflicts[second].append(first)
    assert reachable(schedule.predecessors) == reachable(conflicts)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_phases_order_their_runs_and_true_dependencies(graph: CommandGraph) -> None:
    schedule = make_schedule(graph, find_hazards(graph), Order.PHASE)
    run_of = {node: number for number, run in enumerate(phase_runs(graph)) for node in run}
    edges = [
        [first for first in range(second) if run_of[first] != run_of[second] or (first, second) in conflicts]
        for conflicts in [conflicting_pairs(graph)]
        for second in range(len(graph.nodes))
    ]
    assert reachable(schedule.predecessors) == reachable(edges)


@settings(max_examples=200, deadline=None)
@given(graphs(), ORDERS)
def test_every_edge_has_its_reason(graph: CommandGraph, order: Order) -> None:
    hazards = find_hazards(graph)
    between = {(hazard.before, hazard.after) for hazard in hazards}
    schedule = make_schedule(graph, hazards, order)
    for node, (direct, reasons) in enumerate(zip(schedule.predecessors, schedule.reasons, strict=True)):
        for before, reason in zip(direct, reasons, strict=True):
            if isinstance(reason, Hazard):
                assert (reason.before, reason.after) == (before, node)
            else:
                assert reason is order
                assert (before, node) not in between


@settings(max_examples=100, deadline=None)
@given(graphs(), ORDERS)
def test_the_critical_path_is_the_costliest_of_all_paths(graph: CommandGraph, order: Order) -> None:
    schedule = make_schedule(graph, find_hazards(graph), order)
    path = critical_path(graph, schedule)
    model_cost = [node_cost_us(node) for node in graph.nodes]
    paths: list[list[tuple[float, int]]] = []
    for node, direct in enumerate(schedule.predecessors):
        ways = [(cost + model_cost[node], length + 1) for before in direct for cost, length in set(paths[before])]
        paths.append(ways or [(model_cost[node], 1)])
    every = [cost for ways in paths for cost, _ in ways]
    assert path.cost_us == pytest.approx(max(every, default=0.0))
    assert sum(model_cost[node] for node in path.nodes) == pytest.approx(path.cost_us)
    assert all(before in schedule.predecessors[node] for before, node in zip(path.nodes, path.nodes[1:], strict=False))
    assert list(levels(schedule)) == [max(length for _, length in ways) - 1 for ways in paths]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sets(st.integers(1, 12)), max_size=24), st.sampled_from([1, 2, 5, 16, 8192]))
def test_reduction_is_the_least_set_of_edges_with_the_same_paths(back: list[set[int]], block_sources: int) -> None:
    direct = [tuple(sorted({node - step for step in steps if step <= node})) for node, steps in enumerate(back)]
    reduced = transitive_reduction(direct, block_sources)
    ancestors = reachable(direct)
    assert reachable(reduced) == ancestors
    assert all(set(few) <= set(many) for few, many in zip(reduced, direct, strict=True))
    assert not any(one in ancestors[other] for few in reduced for one in few for other in few)
