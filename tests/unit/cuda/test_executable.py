"""The CUDA backend on the emulated driver: fills and copies bit by bit, one launch a run, and nothing left behind."""

import gc

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cuda.bindings import driver as cu

from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.hazards import find_hazards
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.emulated import INSTALLATION, call
from tests.support.emulated_runs import on_device
from tests.support.graphs import GraphMaker

DTYPES = {
    Element.F16: np.dtype(np.float16),
    Element.BF16: np.dtype(ml_dtypes.bfloat16),
    Element.F32: np.dtype(np.float32),
    Element.F64: np.dtype(np.float64),
    Element.I32: np.dtype(np.int32),
}


@pytest.mark.parametrize("value", [0.0, -3.0, 0.1, 2.0**-20, 65504.0, float("inf"), float("nan")])
@pytest.mark.parametrize("element", DTYPES)
def test_fills_have_the_bits_of_the_element_type(element: Element, value: float) -> None:
    if element is Element.I32 and not value.is_integer():
        pytest.skip("an integer plane takes integers")
    maker = GraphMaker()
    plane = maker.plane("p", 7, Role.OUTPUT, element)
    maker.fill(plane, 2, 6, value)
    with on_device(maker.graph()) as executable:
        executable.run()
        found = executable.get("p")
    expected = np.zeros(7, DTYPES[element])
    expected[2:6] = np.array(value).astype(DTYPES[element])
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def test_planes_are_zero_at_first_and_keep_what_is_set() -> None:
    maker = GraphMaker()
    kept, copied = maker.plane("kept", 3, Role.INPUT), maker.plane("copied", 3, Role.OUTPUT)
    maker.copy(maker.write(copied, 1, 3), maker.read(kept, 0, 2))
    with on_device(maker.graph()) as executable:
        assert executable.get("kept").tolist() == executable.get("copied").tolist() == [0, 0, 0]
        executable.set("kept", np.array([1, 2, 3], np.float32))
        executable.run()
        assert executable.get("copied").tolist() == [0, 1, 2]
        executable.set("kept", np.array([[4, 0], [5, 0], [6, 0]], np.float32)[:, 0])  # with gaps between elements
        executable.run()
        assert executable.get("copied").tolist() == [0, 4, 5]


def test_names_types_and_extents() -> None:
    maker = GraphMaker()
    maker.fill(maker.plane("p", 3, Role.OUTPUT))
    with on_device(maker.graph()) as executable:
        for action in (lambda: executable.get("q"), lambda: executable.set("q", [0.0])):
            with pytest.raises(ProblemsFound, match="CG702"):
                action()
        for wrong in (np.zeros(3), np.zeros(4, np.float32)):
            with pytest.raises(ProblemsFound, match="CG703"):
                executable.set("p", wrong)


def test_parts_and_planes_of_nothing() -> None:
    maker = GraphMaker()
    empty, plane = maker.plane("empty", 0, Role.OUTPUT), maker.plane("p", 2, Role.OUTPUT)
    maker.fill(empty, value=1.0)
    maker.fill(plane, 1, 1, 5.0)
    maker.copy(maker.write(plane, 0, 0), maker.read(plane, 1, 1))
    maker.join()
    with on_device(maker.graph()) as executable:
        executable.run()
        assert executable.get("empty").shape == (0,)
        assert executable.get("p").tolist() == [0, 0]


def test_a_run_is_one_launch() -> None:
    maker = GraphMaker()
    plane = maker.plane("p", 50, Role.OUTPUT)
    for number in range(50):
        maker.fill(plane, number, number + 1, float(number))
    with on_device(maker.graph()) as executable:
        calls = INSTALLATION.driver.calls
        before = calls.copy()
        executable.run()
        made = calls - before
    assert made == {"cuCtxPushCurrent": 1, "cuGraphLaunch": 1, "cuStreamSynchronize": 1, "cuCtxPopCurrent": 1}


@pytest.mark.parametrize("order", Order)
def test_the_edges_are_those_of_the_schedule(order: Order) -> None:
    maker = GraphMaker()
    planes = [maker.plane(f"p {number}", 4, Role.OUTPUT) for number in range(3)]
    for _ in range(2):
        with maker.phase("phase"):
            for number, plane in enumerate(planes):
                maker.fill(plane, 0, 4, float(number))
    graph = maker.graph()
    schedule = make_schedule(graph, find_hazards(graph), order)
    with on_device(graph, order) as executable:
        pieces = executable.instantiated.pieces
        node_of = {int(handle): index for index, ((_, handle),) in enumerate(pieces)}
        count = call(cu.cuGraphGetEdges, executable.instantiated.graph)[3]
        before, after, _data, _count = call(cu.cuGraphGetEdges, executable.instantiated.graph, count)
        direct: dict[int, set[int]] = {}
        for one, other in zip(before, after, strict=True):
            direct.setdefault(int(other), set()).add(int(one))
        found = {}
        for handle, index in node_of.items():
            waits = set()
            for one in direct.get(handle, ()):
                # An empty node where several commands wait for the same ones stands for its own predecessors.
                waits |= {one} if one in node_of else direct[one]
            found[index] = {node_of[one] for one in waits}
    assert found == {index: set(schedule.predecessors[index]) for index in range(6)}


def test_barriers_cost_no_more_than_the_commands_on_both_sides() -> None:
    maker = GraphMaker()
    planes = [maker.plane(f"p {number}", 1, Role.OUTPUT) for number in range(40)]
    for _ in range(2):
        with maker.phase("phase"):
            for plane in planes:
                maker.fill(plane)
    with on_device(maker.graph(), Order.PHASE) as executable:
        assert call(cu.cuGraphGetEdges, executable.instantiated.graph)[3] == 80


def test_times_of_all_commands_and_the_same_bits() -> None:
    maker = GraphMaker()
    double, half = maker.plane("d", 3, Role.OUTPUT, Element.F64), maker.plane("h", 3, Role.OUTPUT, Element.F16)
    maker.fill(double, 0, 2, 0.1)
    maker.copy(maker.write(double, 2, 3), maker.read(double, 0, 1))
    maker.fill(half, 1, 3, 0.1)
    maker.join()
    times: dict[int, float] = {}
    with on_device(maker.graph()) as executable, on_device(maker.graph()) as timed:
        executable.run()
        timed.run(lambda index, elapsed_ms: times.update({index: elapsed_ms}))
        for name in ("d", "h"):
            assert timed.get(name).tobytes() == executable.get(name).tobytes()
    assert sorted(times) == [0, 1, 2, 3]
    assert min(times.values()) >= 0


def test_everything_is_given_back() -> None:
    driver = INSTALLATION.driver
    gc.collect()
    before = driver.allocated_bytes, len(driver.handles.all(object))
    maker = GraphMaker()
    maker.fill(maker.plane("p", 1000, Role.OUTPUT))
    maker.copy(maker.write(maker.plane("q", 1000)), maker.read(0))
    executable = on_device(maker.graph())
    executable.run()
    executable.close()
    executable.close()
    assert (driver.allocated_bytes, len(driver.handles.all(object))) == before
    forgotten = on_device(maker.graph())
    del forgotten
    gc.collect()
    assert (driver.allocated_bytes, len(driver.handles.all(object))) == before


def test_nothing_is_left_behind_by_a_preparation_that_fails() -> None:
    driver = INSTALLATION.driver
    gc.collect()
    before = driver.allocated_bytes, len(driver.handles.all(object))
    maker = GraphMaker()
    maker.fill(maker.plane("small", 10, Role.OUTPUT))
    maker.fill(maker.plane("huge", 1 << 40, Role.OUTPUT))
    with pytest.raises(ProblemsFound, match="CG718"):
        on_device(maker.graph())
    assert (driver.allocated_bytes, len(driver.handles.all(object))) == before


def test_a_failed_call_names_the_command() -> None:
    maker = GraphMaker()
    plane = maker.plane("p", 4, Role.OUTPUT)
    maker.fill(plane, 0, 2)
    # Past the plane's end, which `verify` would have said.
    maker.copy(maker.write(plane, 0, 2), maker.read(plane, 1000, 1002))
    with pytest.raises(ProblemsFound) as stopped:
        on_device(maker.graph())
    (problem,) = stopped.value.problems
    assert problem.render_title() == "cuGraphAddMemcpyNode failed: CUDA_ERROR_INVALID_VALUE, invalid argument"
    assert problem.render_label() == "command 1, a copy"
    assert problem.span == maker.span(1)
