"""Planes of the host in arrays of others, and scalars that change between runs."""

import tracemalloc
from typing import Any

import attrs
import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.backends.devices import HOST
from cgraph.backends.host import HostExecutable, prepare_host
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.hazards import find_hazards
from cgraph.images import registry
from cgraph.memory.planner import plan_memory
from cgraph.pipeline import compile_program, lower
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from cgraph.source import Source
from tests.support.bundles import THRICE
from tests.support.graphs import GraphMaker


def thrice() -> HostExecutable:
    """y and z are 3·x."""
    compiled = compile_program(Source("thrice.cg", THRICE))
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, HOST)
    assert isinstance(executable, HostExecutable)
    return executable


def drawn(seed: int, size: int = 40) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def reasons(error: pytest.ExceptionInfo[ProblemsFound]) -> tuple[str, ...]:
    (problem,) = error.value.problems
    assert problem.code == "CG744"
    return tuple(problem.notes())


def test_a_bound_plane_is_the_array() -> None:
    executable = thrice()
    given, result = drawn(1), np.full(40, 9, np.float32)
    executable.rebind("x", given)
    executable.rebind("y", result)
    executable.run()
    expected = given + given + given
    assert np.array_equal(result, expected)
    assert np.array_equal(executable.get("z"), expected)
    given[:] = drawn(2)
    executable.run()
    assert np.array_equal(result, given + given + given)
    executable.set("x", drawn(3))
    assert np.array_equal(given, drawn(3))


def test_only_commands_of_the_plane_are_bound_again() -> None:
    executable = thrice()
    before = [call for _, call in executable.commands]
    executable.rebind("z", np.zeros(40, np.float32))
    after = [call for _, call in executable.commands]
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, True, False]


def test_an_array_lives_as_long_as_it_is_bound() -> None:
    executable = thrice()
    executable.rebind("x", drawn(4))  # nobody else holds it
    others = [np.full(40, np.nan, np.float32) for _ in range(100)]
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(4) + drawn(4) + drawn(4))
    assert len(others) == 100


def test_an_array_that_is_resized_in_place_is_followed() -> None:
    executable = thrice()
    given = np.empty(40, np.float32)
    executable.rebind("x", given)
    # Its memory grows, so that it must move, and comes back at another place with the size that fits.
    given.resize(4_000_000, refcheck=False)
    given.resize(40, refcheck=False)
    given[:] = drawn(5)
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(5) + drawn(5) + drawn(5))


def test_an_array_that_does_not_fit_any_more_is_refused() -> None:
    executable = thrice()
    given = np.zeros(40, np.float32)
    executable.rebind("x", given)
    given.resize(8_000_000, refcheck=False)
    for action in (executable.run, lambda: executable.get("x"), lambda: executable.set("x", drawn(1))):
        with pytest.raises(ProblemsFound) as stopped:
            action()
        assert reasons(stopped) == ("the plane has the extent [40], the array [8000000]",)


def test_an_array_that_shrinks_where_it_is_is_refused() -> None:
    executable = thrice()
    given = np.zeros(40, np.float32)
    executable.rebind("x", given)
    given.resize(39, refcheck=False)
    with pytest.raises(ProblemsFound) as stopped:
        executable.run()
    assert reasons(stopped) == ("the plane has the extent [40], the array [39]",)


@attrs.frozen
class Foreign:
    """An array of another library, which may move."""

    holder: list[NDArray[Any]]

    def __dlpack__(self, **options: Any) -> Any:
        return self.holder[0].__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.holder[0].__dlpack_device__()


def test_arrays_of_other_libraries() -> None:
    executable = thrice()
    foreign = Foreign([drawn(6)])
    executable.rebind("x", foreign)
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(6) + drawn(6) + drawn(6))
    foreign.holder[0] = drawn(7)
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(7) + drawn(7) + drawn(7))
    foreign.holder[0] = drawn(7).astype(np.float64)
    with pytest.raises(ProblemsFound) as stopped:
        executable.run()
    assert reasons(stopped) == ("the plane holds float32, the array float64",)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def test_what_cannot_be_bound() -> None:
    executable = thrice()
    bytes_ = np.zeros(200, np.uint8)
    shift = 1 - bytes_.ctypes.data % 4 if bytes_.ctypes.data % 4 <= 1 else 5 - bytes_.ctypes.data % 4
    cases: list[tuple[str, Any, str]] = [
        ("h", np.zeros(40, np.float32), "it is a scratch plane: its place was planned, and other planes share"),
        ("x", np.zeros(41, np.float32), "the plane has the extent [40], the array [41]"),
        ("x", np.zeros((5, 8), np.float32), "the plane has the extent [40], the array [5, 8]"),
        ("x", np.zeros(40, np.int32), "the plane holds float32, the array int32"),
        ("x", np.zeros(80, np.float32)[::2], "the array's rows do not follow each other without gaps"),
        ("x", np.zeros(40, np.float32)[::-1], "the array's rows do not follow each other without gaps"),
        ("x", bytes_[shift : shift + 160].view(np.float32), "the array's first byte is not at a multiple of 4"),
        ("x", [0.0] * 40, "a list is no array in memory; its values are copied with set"),
        ("x", 140_000, "a int is no array in memory; its values are copied with set"),
        ("y", read_only(np.zeros(40, np.float32)), "commands write to the plane, and the array may only be read"),
    ]
    for name, memory, reason in cases:
        with pytest.raises(ProblemsFound) as stopped:
            executable.rebind(name, memory)
        assert any(found.startswith(reason) for found in reasons(stopped)), (reason, reasons(stopped))
    with pytest.raises(ProblemsFound) as stopped:
        executable.rebind("w", np.zeros(40, np.float32))
    assert stopped.value.problems[0].code == "CG702"
    executable.set("x", drawn(8))
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(8) + drawn(8) + drawn(8))


def test_planes_that_would_overlap() -> None:
    executable = thrice()
    both = np.zeros(60, np.float32)
    executable.rebind("y", both[:40])
    with pytest.raises(ProblemsFound) as stopped:
        executable.rebind("z", both[20:])
    assert reasons(stopped) == ("it would overlap plane y, and nothing orders the commands that use both",)
    executable.rebind("y", both[:40])


def test_an_array_that_may_only_be_read() -> None:
    executable = thrice()
    executable.rebind("x", read_only(drawn(9)))
    executable.run()
    assert np.array_equal(executable.get("y"), drawn(9) + drawn(9) + drawn(9))
    with pytest.raises(ProblemsFound) as stopped:
        executable.set("x", drawn(1))
    assert reasons(stopped) == ("it is bound to an array that may only be read",)


@pytest.mark.parametrize("element", [Element.BF16, Element.F64, Element.I32])
def test_fills_of_bound_planes(element: Element) -> None:
    maker = GraphMaker()
    plane = maker.plane("y", 6, Role.OUTPUT, element)
    node = maker.fill(plane, value=3.0)
    graph = maker.graph()
    schedule = make_schedule(graph, find_hazards(graph), Order.SERIAL)
    executable = prepare_host(graph, schedule, plan_memory(graph, schedule))
    dtype = {Element.BF16: np.dtype(ml_dtypes.bfloat16), Element.F64: np.dtype("f8"), Element.I32: np.dtype("i4")}
    target = np.zeros(6, dtype[element])
    executable.rebind("y", target)
    executable.run()
    assert target.astype(float).tolist() == [3.0] * 6
    executable.set_scalar(node, "value", 5)
    executable.run()
    assert target.astype(float).tolist() == [5.0] * 6


SCALED = """
parameter n : Nat = 40
plane x : f32 [n] input
plane y : f32 [n] output
image axpy = kernel "axpy.cu" "axpy" {
  slot 0 out : write f32 [count]
  slot 1 source : read f32 [count]
  slot 2 factor : float
  slot 3 shift : natural
  slot 4 count : natural
  grid [(naturalCeilDivide count 64), 1, 1]
  block 64
}
def launched = (lambda unrestricted out : Plane f32 . (lambda unrestricted source : Plane f32 .
  (cgLaunch axpy (naturalCeilDivide n 64) 1 1
    (cgPointer (cgArgument 0) out (cgPointer (cgArgument 1) source
    (cgFloat (cgArgument 2) 2.0 (cgNatural (cgArgument 3) 1 (cgNatural (cgArgument 4) n cgNoSlots))))))))
def main = (launched y x)
"""


@pytest.fixture
def scaled(monkeypatch: pytest.MonkeyPatch) -> HostExecutable:
    """y = factor·x + shift."""

    def axpy(_context: object, *, out: Any, source: Any, factor: float, shift: int, count: int) -> None:
        out[...] = np.float32(factor) * source + np.float32(shift)
        assert count == 40

    monkeypatch.setitem(vars(registry)["_MEANINGS"], ("axpy.cu", "axpy"), axpy)
    compiled = compile_program(Source("axpy.cg", SCALED))
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, HOST)
    assert isinstance(executable, HostExecutable)
    return executable


def test_scalars_change(scaled: HostExecutable) -> None:
    scaled.set("x", drawn(1))
    scaled.set_scalar(0, "factor", 0.5)
    scaled.set_scalar(0, "shift", 4)
    scaled.run()
    assert np.array_equal(scaled.get("y"), np.float32(0.5) * drawn(1) + np.float32(4))
    # The plane's memory and the scalar are both kept when the other changes.
    target = np.zeros(40, np.float32)
    scaled.rebind("y", target)
    scaled.set_scalar(0, "shift", 2)
    scaled.run()
    assert np.array_equal(target, np.float32(0.5) * drawn(1) + np.float32(2))
    now, before = scaled.current_graph(), scaled.graph
    assert now.nodes[0].arguments[2:4] == (0.5, 2)  # type: ignore[union-attr]  # it is a launch
    assert before.nodes[0].arguments[2:4] == (2.0, 1)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("node", "slot", "value", "reason"),
    [
        (0, "count", 41, "axis 0 of out would be 41; the graph was verified with 40"),
        (0, "shift", -1, "slot shift takes a natural up to 2147483647"),
        (0, "shift", 0.5, "slot shift takes a natural up to 2147483647"),
        (0, "factor", True, "slot factor takes a float"),
        (0, "out", 3, "slot out is a pointer: a plane is bound to other memory with rebind"),
        (0, "gain", 1.0, "axpy has no slot gain; it has out, source, factor, shift, count"),
        (1, "factor", 1.0, "there is no command 1; the graph has 1"),
    ],
)
def test_scalars_that_cannot_change(scaled: HostExecutable, node: int, slot: str, value: float, reason: str) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        scaled.set_scalar(node, slot, value)
    assert reason in reasons(stopped)
    scaled.set("x", drawn(2))
    scaled.run()
    assert np.array_equal(scaled.get("y"), 2 * drawn(2) + 1)


def test_copies_and_joins_have_no_scalars() -> None:
    executable = thrice()
    with pytest.raises(ProblemsFound) as stopped:
        executable.set_scalar(2, "value", 1.0)
    assert reasons(stopped) == ("command 2, a copy has no scalars",)


def test_rebinding_leaves_no_memory_behind() -> None:
    executable = thrice()
    arrays = [drawn(1), drawn(2)]
    for array in arrays * 50:
        executable.rebind("x", array)
        executable.run()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for array in arrays * 200:
        executable.rebind("x", array)
        executable.run()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # One array of 40 numbers for each of the 400 times would be 64,000 bytes.
    assert grown < 16_000
