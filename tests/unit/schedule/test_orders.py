"""The three orders, on graphs small enough to know the answer."""

import pytest

from cgraph.core.roles import Role
from cgraph.graph.hazards import Hazard, HazardKind, find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.schedule.model import Order, Schedule
from cgraph.schedule.orders import make_schedule, phase_runs
from cgraph.schedule.reduction import transitive_reduction
from tests.support.graphs import GraphMaker


def _schedule(graph: CommandGraph, order: Order) -> Schedule:
    return make_schedule(graph, find_hazards(graph), order)


def _diamond(maker: GraphMaker) -> None:
    """Fill a; copy it to b and to c; add both to d. The fill of e depends on nothing."""
    a, b, c, d, e = (maker.plane(name, 4, Role.SAVED) for name in "abcde")
    maker.fill(a)
    maker.copy(maker.write(b), maker.read(a))
    maker.copy(maker.write(c), maker.read(a))
    maker.fill(e)
    maker.launch(maker.write(d), maker.read(b), maker.read(c), maker.read(a))


def test_serial_is_a_chain_that_still_names_hazards() -> None:
    maker = GraphMaker()
    _diamond(maker)
    schedule = _schedule(maker.graph(), Order.SERIAL)
    assert schedule.predecessors == ((), (0,), (1,), (2,), (3,))
    assert schedule.reasons[1] == (Hazard(HazardKind.READ_AFTER_WRITE, 0, 1, 0, 0, 16),)
    assert schedule.reasons[2] == (Order.SERIAL,)
    assert schedule.sequence == (0, 1, 2, 3, 4)


def test_dataflow_keeps_true_dependencies_without_those_that_follow() -> None:
    maker = GraphMaker()
    _diamond(maker)
    schedule = _schedule(maker.graph(), Order.DATAFLOW)
    assert schedule.predecessors == ((), (0,), (0,), (), (1, 2))
    assert [reason.plane for reason in schedule.reasons[4] if isinstance(reason, Hazard)] == [1, 2]


def test_phases_run_one_after_the_other_and_are_free_inside() -> None:
    maker = GraphMaker()
    planes = [maker.plane(f"p {number}", 4, Role.SAVED) for number in range(8)]
    with maker.phase("first"):
        maker.fill(planes[0])
        with maker.phase("inner"):
            maker.fill(planes[1])
            maker.copy(maker.write(planes[2]), maker.read(planes[0]))
    with maker.phase("second"):
        maker.fill(planes[3])
        maker.copy(maker.write(planes[4]), maker.read(planes[2]))
        maker.copy(maker.write(planes[5]), maker.read(planes[3]))
    maker.fill(planes[6])
    maker.fill(planes[7])
    schedule = _schedule(maker.graph(), Order.PHASE)
    assert schedule.predecessors == ((), (), (0,), (1, 2), (1, 2), (3,), (4, 5), (6,))
    assert schedule.reasons[3] == (Order.PHASE, Order.PHASE)
    assert [isinstance(reason, Hazard) for reason in schedule.reasons[4]] == [False, True]
    assert schedule.predecessors[3] is schedule.predecessors[4]


def test_runs_of_the_same_outermost_phase_are_apart() -> None:
    maker = GraphMaker()
    plane = maker.plane("p", 4)
    for _ in range(2):
        with maker.phase("again"):
            maker.fill(plane)
            with maker.phase("inner"):
                maker.fill(plane)
    maker.join()
    maker.join()
    assert list(phase_runs(maker.graph())) == [range(2), range(2, 4), range(4, 5), range(5, 6)]


@pytest.mark.parametrize("order", list(Order))
def test_an_empty_graph_has_an_empty_schedule(order: Order) -> None:
    schedule = _schedule(GraphMaker().graph(), order)
    assert (schedule.sequence, schedule.predecessors, schedule.reasons) == ((), (), ())


@pytest.mark.parametrize("block_sources", [1, 2, 3, 8192])
def test_reduction_of_a_full_order_is_a_chain(block_sources: int) -> None:
    full = [tuple(range(node)) for node in range(20)]
    assert transitive_reduction(full, block_sources) == [()] + [(node - 1,) for node in range(1, 20)]
