"""Costs, levels and the critical path, by numbers worked out by hand."""

import pytest

from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.schedule.cost import CostModel, critical_path, levels, node_cost_us
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from cgraph.schedule.text import schedule_text
from tests.support.graphs import GraphMaker

MODEL = CostModel(overhead_us=1.0, bandwidth_bytes_per_us=100.0, operations_per_us=1000.0)


def _maker() -> GraphMaker:
    """Two branches from a small fill: a copy of 400 bytes, and an accumulation into 200 bytes; then both are read."""
    maker = GraphMaker()
    a, b, c = maker.plane("a", 100, Role.SAVED), maker.plane("b", 50, Role.SAVED), maker.plane("c", 100, Role.SAVED)
    maker.fill(a)
    maker.copy(maker.write(c), maker.read(a))
    maker.launch(maker.accumulate(b), maker.read(a, 0, 50))
    maker.launch(maker.read(b), maker.read(c))
    maker.join()
    return maker


def test_costs_of_nodes() -> None:
    costs = [node_cost_us(node, MODEL) for node in _maker().graph().nodes]
    assert costs == pytest.approx([1 + 4, 1 + 8, 1 + 2 * 2 + 2, 1 + 2 + 4, 0])


def test_a_product_costs_its_operations_where_they_take_longer() -> None:
    maker = GraphMaker()
    out = maker.plane("out", 6, Role.SAVED)
    maker.launch(maker.write(out), naturals=[("m", 20), ("n", 30), ("k", 10)])
    maker.launch(maker.write(out), naturals=[("m", 1), ("n", 1), ("k", 1)])
    first, second = maker.graph().nodes
    assert node_cost_us(first, MODEL) == pytest.approx(1 + 2 * 20 * 30 * 10 / 1000)
    assert node_cost_us(second, MODEL) == pytest.approx(1 + 24 / 100)


def test_critical_path_and_levels() -> None:
    graph = _maker().graph()
    schedule = make_schedule(graph, find_hazards(graph), Order.DATAFLOW)
    assert levels(schedule) == (0, 1, 1, 2, 0)
    path = critical_path(graph, schedule, MODEL)
    assert path.nodes == (0, 1, 3)
    assert path.cost_us == pytest.approx(5 + 9 + 7)
    serial = critical_path(graph, make_schedule(graph, find_hazards(graph), Order.SERIAL), MODEL)
    assert serial.nodes == (0, 1, 2, 3)  # the join after them costs nothing
    assert serial.cost_us == pytest.approx(5 + 9 + 7 + 7)


def test_nothing_costs_nothing() -> None:
    graph = GraphMaker().graph()
    assert critical_path(graph, make_schedule(graph, (), Order.DATAFLOW)) == ((), 0.0)


def test_schedule_text() -> None:
    graph = _maker().graph()
    assert schedule_text(graph, make_schedule(graph, find_hazards(graph), Order.PHASE)) == (
        "schedule phase: 5 nodes, 4 edges, 5 levels\n"
        "critical path 5.2 us: 0 1 2 3\n"
        "node 0 level 0\n"
        "node 1 level 1 after 0 (read-after-write a[0:100])\n"
        "node 2 level 2 after 1 (order)\n"
        "node 3 level 3 after 2 (read-after-write b[0:50])\n"
        "node 4 level 4 after 3 (order)\n"
    )


def test_schedule_text_counts_the_edges_of_a_wide_barrier() -> None:
    maker = GraphMaker()
    with maker.phase("wide"):
        for number in range(12):
            maker.fill(maker.plane(f"p {number}", 1, Role.SAVED))
    maker.join()
    graph = maker.graph()
    last = schedule_text(graph, make_schedule(graph, find_hazards(graph), Order.PHASE)).splitlines()[-1]
    assert last.startswith("node 12 level 1 after 0 (order), 1 (order)")
    assert last.endswith("7 (order) and 4 more")
