"""Changes of a prepared graph: planes bound to other memory, other scalars; and what is said where it cannot be."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cuda.bindings import driver as cu

from cgraph.backends.cuda.executable import CudaExecutable
from cgraph.backends.cuda.update import Rebind, SetScalar
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from tests.support.emulated import INSTALLATION, call
from tests.support.emulated_runs import on_device
from tests.support.graphs import GraphMaker


class Array:
    """Device memory of another library, as its interface describes it."""

    def __init__(self, values: np.ndarray, strides: tuple[int, ...] | None = None) -> None:
        self.address = int(call(cu.cuMemAlloc, values.nbytes))
        call(cu.cuMemcpyHtoD, self.address, values.ctypes.data, values.nbytes)
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (self.address, False),
            "strides": strides,
            "version": 3,
        }


@pytest.fixture
def executable() -> Any:
    """x → s → y by copies; z is filled with 1, w with 2."""
    maker = GraphMaker()
    x, y = maker.plane("x", 4, Role.INPUT), maker.plane("y", 4, Role.OUTPUT)
    z, w = maker.plane("z", 4, Role.OUTPUT), maker.plane("w", 4, Role.OUTPUT, Element.F64)
    s = maker.plane("s", 4)
    maker.copy(maker.write(s), maker.read(x))
    maker.copy(maker.write(y), maker.read(s))
    maker.fill(z, value=1.0)
    maker.fill(w, value=0.0)
    maker.join()
    with on_device(maker.graph()) as made, made.device.current():
        made.set("x", np.array([1, 2, 3, 4], np.float32))
        yield made


def instantiations() -> int:
    calls = INSTALLATION.driver.calls
    return calls["cuGraphInstantiateWithParams"] + calls["cuGraphInstantiateWithFlags"]


def test_planes_are_bound_to_other_memory_without_instantiating_again(executable: CudaExecutable) -> None:
    before = instantiations()
    given = Array(np.array([9, 8, 7, 6], np.float32))
    executable.rebind("x", given)
    executable.run()
    assert executable.get("y").tolist() == executable.get("x").tolist() == [9, 8, 7, 6]
    executable.set("x", np.array([5, 5, 5, 5], np.float32))
    assert np.frombuffer(INSTALLATION.driver.hardware.memory.read(given.address, 16), np.float32).tolist() == [5] * 4
    target = Array(np.zeros(4, np.float32))
    executable.rebind("y", target.address)
    executable.rebind("z", Array(np.zeros(4, np.float32)))
    executable.run()
    assert executable.get("y").tolist() == [5, 5, 5, 5]
    assert executable.get("z").tolist() == [1, 1, 1, 1]
    assert instantiations() == before


def test_what_was_bound_is_kept_alive(executable: CudaExecutable) -> None:
    given = Array(np.zeros(4, np.float32))
    executable.rebind("x", given)
    assert given in executable.planes.kept.values()
    executable.rebind("x", Array(np.zeros(4, np.float32)))
    assert given not in executable.planes.kept.values()


def test_fills_take_other_values(executable: CudaExecutable) -> None:
    before = instantiations()
    executable.set_scalar(2, "value", -7.5)
    executable.set_scalar(3, "value", 0.0)
    executable.run()
    assert executable.get("z").tolist() == [-7.5] * 4
    assert instantiations() == before


def make(executable: CudaExecutable, change: Rebind | SetScalar) -> None:
    if isinstance(change, Rebind):
        executable.rebind(change.name, change.address)
    else:
        executable.set_scalar(change.node, change.slot, change.value)


def reasons_of(executable: CudaExecutable, change: Rebind | SetScalar) -> tuple[str, ...]:
    """What can_update says; the change itself must fail with the same reasons and change nothing."""
    reasons = executable.can_update(change)
    with pytest.raises(ProblemsFound, match="CG744") as stopped:
        make(executable, change)
    assert tuple(stopped.value.problems[0].notes()) == reasons
    executable.run()
    assert executable.get("y").tolist() == [1, 2, 3, 4]
    assert executable.get("z").tolist() == [1, 1, 1, 1]
    return reasons


def test_memory_that_a_plane_cannot_have(executable: CudaExecutable) -> None:
    (scratch,) = reasons_of(executable, Rebind("s", Array(np.zeros(4, np.float32)).address))
    assert scratch.startswith("it is a scratch plane")
    (nowhere,) = reasons_of(executable, Rebind("x", 0x1000))
    assert nowhere == "there is no device memory at 0x1000"
    short = Array(np.zeros(3, np.float32)).address
    assert reasons_of(executable, Rebind("x", short)) == (
        f"there are 12 bytes from {short:#x} on, and the plane has 16",
    )
    (odd,) = reasons_of(executable, Rebind("x", Array(np.zeros(8, np.float32)).address + 4))
    assert odd.endswith("is no multiple of 16")
    (shared,) = reasons_of(executable, Rebind("x", executable.planes.addresses[1]))
    assert shared.startswith("it would overlap plane y")


def test_memory_of_another_context_does_for_kernels_only(executable: CudaExecutable) -> None:
    other = call(cu.cuCtxCreate, None, 0, 0)
    foreign = Array(np.zeros(4, np.float32)).address
    call(cu.cuCtxPopCurrent)
    assert reasons_of(executable, Rebind("x", foreign)) == (
        "command 0, a copy keeps to memory of the context that it was made with",
    )
    call(cu.cuCtxDestroy, other)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (np.zeros(4, np.int32), "the plane holds float32, the array int32"),
        (np.zeros(5, np.float32), "the plane has the extent [4], the array [5]"),
    ],
)
def test_arrays_that_do_not_fit(executable: CudaExecutable, wrong: np.ndarray, reason: str) -> None:
    with pytest.raises(ProblemsFound, match="CG744") as stopped:
        executable.rebind("x", Array(wrong))
    assert stopped.value.problems[0].notes() == (reason,)


def test_arrays_with_gaps_and_arrays_of_the_host(executable: CudaExecutable) -> None:
    for wrong in (Array(np.zeros(4, np.float32), strides=(8,)), np.zeros(4, np.float32)):
        with pytest.raises(ProblemsFound, match="CG744"):
            executable.rebind("x", wrong)  # type: ignore[arg-type]  # what is tried


def test_scalars_that_are_none(executable: CudaExecutable) -> None:
    assert reasons_of(executable, SetScalar(9, "value", 1.0)) == ("there is no command 9; the graph has 5",)
    assert reasons_of(executable, SetScalar(2, "n", 1.0)) == ("a fill has a value and no n",)
    assert reasons_of(executable, SetScalar(0, "value", 1.0)) == ("command 0, a copy has no scalars",)
    assert reasons_of(executable, SetScalar(4, "value", 1.0)) == ("command 4 has no scalars",)
    (halves,) = reasons_of(executable, SetScalar(3, "value", 0.1))
    assert halves.startswith("the two halves of this f64 differ")


def test_a_refusal_by_the_driver_changes_nothing(executable: CudaExecutable, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Array(np.array([9, 9, 9, 9], np.float32))
    refused = (cu.CUresult.CUDA_ERROR_INVALID_VALUE,)
    original = cu.cuGraphExecMemcpyNodeSetParams
    answers = [refused]

    def refuse_once(*arguments: Any) -> Any:
        return answers.pop() if answers else original(*arguments)

    refuse_once.__name__ = original.__name__
    monkeypatch.setattr(cu, "cuGraphExecMemcpyNodeSetParams", refuse_once)
    with pytest.raises(ProblemsFound, match="CG742"):
        executable.rebind("x", given)
    assert given not in executable.planes.kept.values()
    executable.run()
    assert executable.get("y").tolist() == [1, 2, 3, 4]
