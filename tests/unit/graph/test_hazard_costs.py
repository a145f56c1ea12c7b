"""The work for one node does not grow with the number of nodes, in the layouts that programs have."""

from collections.abc import Callable

import pytest

from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.graph.verify import verify
from cgraph.schedule.cost import critical_path
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.calls import count_calls
from tests.support.graphs import GraphMaker


def few_planes(count: int) -> CommandGraph:
    maker = GraphMaker()
    planes = [maker.plane(f"p {number}", 64) for number in range(8)]
    for number in range(count):
        maker.launch(
            maker.write(planes[number % 8]), maker.read(planes[(number + 1) % 8]), maker.read(planes[(number + 3) % 8])
        )
    return maker.graph()


def many_parts(count: int) -> CommandGraph:
    maker = GraphMaker()
    plane = maker.plane("p", count)
    for number in range(count):
        other = number * 7919 % count
        maker.launch(maker.write(plane, number, number + 1), maker.read(plane, other, other + 1))
    return maker.graph()


def parts_backwards(count: int) -> CommandGraph:
    maker = GraphMaker()
    plane = maker.plane("p", count + 8)
    for number in reversed(range(count)):
        maker.launch(maker.accumulate(plane, number, number + 8))
    return maker.graph()


def parts_and_the_whole_read_in_turn(count: int) -> CommandGraph:
    maker = GraphMaker()
    plane, small = maker.plane("p", count), maker.plane("q", 4)
    maker.fill(plane)
    for number in range(count // 2):
        maker.launch(maker.write(small), maker.read(plane, number, number + 1))
        maker.launch(maker.write(small), maker.read(plane))
    maker.fill(plane)
    return maker.graph()


@pytest.mark.parametrize("layout", [few_planes, many_parts, parts_backwards, parts_and_the_whole_read_in_turn])
def test_hazards_and_checks_cost_the_same_per_node(layout: Callable[[int], CommandGraph]) -> None:
    small, large = layout(1000), layout(8000)
    assert count_calls(lambda: find_hazards(large)) < 8 * 1.3 * count_calls(lambda: find_hazards(small))
    assert count_calls(lambda: verify(large)) < 8 * 1.3 * count_calls(lambda: verify(small))


@pytest.mark.parametrize("order", list(Order))
def test_schedules_cost_the_same_per_node(order: Order) -> None:
    calls = []
    for count in (1000, 8000):
        graph = few_planes(count)
        hazards = find_hazards(graph)
        calls.append(
            count_calls(
                lambda graph=graph, hazards=hazards: critical_path(graph, make_schedule(graph, hazards, order))  # type: ignore[misc]
            )
        )
    assert calls[1] < 8 * 1.1 * calls[0]
