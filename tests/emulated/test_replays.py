"""Replays on the emulated device: stored PTX, planes in memory of others, what is left when they are closed."""

import ctypes
import gc
import resource
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import define
from cuda.bindings import driver as cu
from numpy.typing import NDArray

from cgraph.backends.cuda import modules
from cgraph.backends.cuda.compiled import CompiledKernel
from cgraph.backends.cuda.context import open_context
from cgraph.backends.cuda.entries import Parameter
from cgraph.backends.cuda.executable import CudaExecutable
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.capture import replay as replaying
from cgraph.capture.model import Bundle
from cgraph.capture.recording import record
from cgraph.capture.replay import Replay
from cgraph.capture.tolerances import derived_tolerance
from cgraph.capture.verification import find_difference, same_kind
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.driver.objects import Module, Stream
from cgraph.models.comparison import compare
from cgraph.pipeline import check, compile_checked, compile_program, lower, parse
from cgraph.source import Source
from tests.support.bundles import THRICE, bundle_of, drawn_planes, layer_backward, recorded
from tests.support.emulated import INSTALLATION, call
from tests.support.emulated_runs import EMULATED


def drawn(seed: int, size: int = 40) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def thrice(x: NDArray[Any]) -> NDArray[Any]:
    return (x + x) + x


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return bundle_of(compile_program(Source("sums.cg", THRICE), half=Element.F16), {"x": drawn(0)})


@pytest.fixture
def device() -> Iterator[Any]:
    context = open_context(0, call)  # type: ignore[arg-type]  # it makes the same calls
    with context.current():
        yield context
    context.close()


@define(eq=False)
class OnDevice:
    """An array in device memory, whose owner may move or free it."""

    address: int
    shape: tuple[int, ...] = (40,)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": "<f4", "data": (self.address, False), "version": 3}


def upload(values: NDArray[Any]) -> int:
    address = int(call(cu.cuMemAlloc, values.nbytes))
    call(cu.cuMemcpyHtoD, address, values.ctypes.data, values.nbytes)
    return address


def test_a_replay_compiles_nothing(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (modules, replaying):
        monkeypatch.setattr(module, "compile_kernels", lambda *_: pytest.fail("it compiles"), raising=False)
    with Replay(bundle, "emulated") as replay:
        replay.run()
        assert np.array_equal(replay.get("z"), thrice(drawn(0)))
        replay.run_many(3, lambda number: {"x": drawn(number)})
        assert np.array_equal(replay.get("y"), thrice(drawn(2)))
        replay.reset()
        assert np.array_equal(replay.get("x"), drawn(0))
        assert not replay.get("z").any()


def test_an_array_that_moved_is_followed(bundle: Bundle, device: Any) -> None:
    del device
    array = OnDevice(upload(drawn(1)))
    with Replay(bundle, "emulated") as replay:
        replay.rebind("x", array)
        replay.run()
        assert np.array_equal(replay.get("y"), thrice(drawn(1)))
        call(cu.cuMemFree, array.address)
        array.address = upload(drawn(2))
        replay.run()
        assert np.array_equal(replay.get("y"), thrice(drawn(2)))
        replay.reset()  # what others own is left alone
        replay.run()
        assert np.array_equal(replay.get("y"), thrice(drawn(2)))


def test_an_array_that_was_freed_is_refused(bundle: Bundle, device: Any) -> None:
    del device
    array = OnDevice(upload(drawn(1)))
    with Replay(bundle, "emulated") as replay:
        for memory in (array, upload(drawn(1))):
            replay.rebind("x", memory)
            call(cu.cuMemFree, memory if isinstance(memory, int) else memory.address)
            with pytest.raises(ProblemsFound) as stopped:
                replay.run()
            (problem,) = stopped.value.problems
            assert problem.code == "CG744"
            assert "there is no device memory at" in problem.notes()[0]
            replay.rebind("x", upload(drawn(3)))
            replay.run()
            assert np.array_equal(replay.get("y"), thrice(drawn(3)))


def test_an_array_that_shrank_is_refused(bundle: Bundle, device: Any) -> None:
    del device
    array = OnDevice(upload(drawn(1)))
    with Replay(bundle, "emulated") as replay:
        replay.rebind("x", array)
        array.shape = (39,)
        with pytest.raises(ProblemsFound) as stopped:
            replay.run()
        assert stopped.value.problems[0].notes() == ("the plane has the extent [40], the array [39]",)


def test_what_cannot_be_bound(bundle: Bundle, device: Any) -> None:
    del device
    with Replay(bundle, "emulated") as replay:
        for name, memory, code in (("h", upload(drawn(1)), "CG744"), ("x", drawn(1), "CG744"), ("w", 0, "CG702")):
            with pytest.raises(ProblemsFound) as stopped:
                replay.rebind(name, memory)
            assert stopped.value.problems[0].code == code


def test_a_layer_is_recorded_here_and_replayed() -> None:
    """Bit for bit here; on the host within the tolerance that follows from the types."""
    compiled = layer_backward(Element.F16)
    plain = bundle_of(compiled, drawn_planes(compiled.graph))
    with Replay(plain, "emulated") as replay, record() as recording:
        replay.run()
    whole = recorded(plain, recording)
    assert whole.recording is not None
    assert whole.recording.device == "emulated"
    with Replay(whole, "emulated") as replay:
        assert same_kind(replay, whole.recording)
        assert find_difference(replay, whole, whole.recording) is None
    with Replay(whole, "host") as replay:
        assert not same_kind(replay, whole.recording)
        replay.run()
        rows = compare(whole.recording.outputs, replay.results(), derived_tolerance(compiled.graph, compiled.schedule))
        assert all(row.holds for row in rows), rows
        # It tells another rounding from another result: a weight that is off by a tenth.
        name = next(name for name in whole.data if "Weight" in name)
        replay.set(name, (whole.data[name] * np.float32(1.1)).astype(whole.data[name].dtype))
        replay.run()
        others = compare(whole.recording.outputs, replay.results(), rows[0].bound)
        assert not all(row.holds for row in others)


def test_a_change_of_one_bit_is_found(bundle: Bundle) -> None:
    with Replay(bundle, "emulated") as replay, record() as recording:
        replay.run()
    whole = recorded(bundle, recording)
    assert whole.recording is not None
    x = drawn(0)
    x.view(np.uint32)[7] ^= 1
    changed = attrs.evolve(whole, data={"x": x})
    with Replay(changed, "emulated") as replay:
        problem = find_difference(replay, changed, whole.recording)
    assert problem is not None
    assert problem.code == "CG835"
    assert "first in command 0" in problem.render_title()


def test_a_fault_of_a_recorded_kernel_leaves_what_was_before(
    bundle: Bundle, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of x is freed between the check before a run and the run."""
    del device
    with Replay(bundle, "emulated") as replay:
        executable = vars(replay)["_executable"]
        address = upload(drawn(5))
        replay.rebind("x", address)
        original = CudaExecutable.run_each

        def freed_first(self: CudaExecutable, on_node: Any) -> None:
            executable.planes.kept.clear()
            call(cu.cuMemFree, address)
            original(self, on_node)

        monkeypatch.setattr(CudaExecutable, "run_each", freed_first)
        with pytest.raises(ProblemsFound) as stopped, record() as recording:
            replay.run()
    assert "CG742" in {problem.code for problem in stopped.value.problems}
    assert np.array_equal(recording.last.data["x"], drawn(5))
    assert recording.last.failed_node == 0
    assert not recording.last.finished


@pytest.mark.parametrize(
    ("change", "stated"),
    [
        (lambda stated: (*stated, Parameter("u64", 8)), "8, 8, 8, 4, 8"),
        (lambda stated: stated[:-1], "8, 8, 8"),
        (lambda stated: (*stated[:-1], Parameter("u64", 8)), "8, 8, 8, 8"),
    ],
)
def test_machine_code_with_other_parameters_is_refused(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any], stated: str
) -> None:
    """A driver is asked for the parameters of what it loaded."""
    honest = StoredKernels.supply

    def lying(self: StoredKernels, images: Any, half: Any, target: Any) -> tuple[CompiledKernel, ...]:
        (kernel,) = honest(self, images, half, target)
        return (attrs.evolve(kernel, entry=attrs.evolve(kernel.entry, parameters=change(kernel.entry.parameters))),)

    monkeypatch.setattr(StoredKernels, "supply", lying)
    with pytest.raises(ProblemsFound) as stopped:
        Replay(bundle, "emulated")
    (problem,) = stopped.value.problems
    assert problem.code == "CG832"
    assert problem.notes() == (f"stated: {stated} bytes; in the code: 8, 8, 8, 4 bytes",)


def test_scalars_that_were_changed_are_recorded() -> None:
    compiled = compile_program(Source("fill.cg", "plane y : f32 [4] output\ndef main = (cgFill y 7.0)\n"))
    with Replay(bundle_of(compiled), "emulated") as replay:
        replay.set_scalar(0, "value", 9.0)
        replay.set_scalar(0, "value", 2.5)
        with record() as recording:
            replay.run()
    assert recording.last.outputs["y"].tolist() == [2.5] * 4
    with Replay(recording.bundle(), "host") as replay:
        replay.run()
        assert replay.get("y").tolist() == [2.5] * 4


def resident_bytes() -> int:
    """What the process holds of the machine's memory, after the allocator gave back what is free."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def held() -> tuple[int, int, int]:
    """Live allocations, modules and streams of the emulated driver."""
    driver = INSTALLATION.driver
    return (
        sum(1 for _ in driver.hardware.memory),
        len(driver.handles.all(Module)),
        len(driver.handles.all(Stream)),
    )


def test_cycles_leave_memory_where_it_was(bundle: Bundle) -> None:
    def cycle() -> None:
        with Replay(bundle, "emulated") as replay:
            replay.run()
            assert replay.get("z")[0] == thrice(drawn(0))[0]

    for _ in range(5):
        cycle()
    gc.collect()
    before = held()
    tracemalloc.start()
    for _ in range(5):
        cycle()
    gc.collect()
    base = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        cycle()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - base
    tracemalloc.stop()
    # Others' leftovers may go meanwhile.
    assert all(now <= then for now, then in zip(held(), before, strict=True))
    # The emulated device remembers where freed memory was: some hundred bytes for each of 4 allocations of a cycle. A
    # cycle that stays holds at least the text of its kernels.
    kept_text_bytes = sum(len(module.source) for module in bundle.modules) + sum(
        len(code.data) for module in bundle.modules for code in module.codes
    )
    assert grown < 20 * min(kept_text_bytes, 16 * 1024)


@pytest.mark.slow
def test_two_hundred_cycles_of_build_launch_save_load_and_delete(tmp_path: Path) -> None:
    checked = check(parse(Source("sums.cg", THRICE)))

    def cycle(number: int) -> None:
        built = compile_checked(checked, {}, half=Element.F16)
        path = tmp_path / "cycle.cgb"
        executable = lower(built.graph, built.schedule, built.plan, EMULATED)
        executable.set("x", drawn(number))
        with record() as recording:
            executable.run()
        executable.close()
        recording.save(path)
        for device in ("emulated", "host"):
            with Replay(path, device) as replay:
                replay.run()
                assert np.array_equal(replay.get("z"), thrice(drawn(number)))
        path.unlink()

    for number in range(20):
        cycle(number)
    gc.collect()
    before, blocks = held(), sys.getallocatedblocks()
    resident = resident_bytes()
    for number in range(200):
        cycle(number)
    gc.collect()
    grown = sys.getallocatedblocks() - blocks
    # Others' leftovers may go meanwhile.
    assert all(now <= then for now, then in zip(held(), before, strict=True))
    # A built graph alone is thousands of blocks. What stays is a record of where freed memory of the device was, of
    # five or six blocks, for each of 4 planes and 4 variables, twice a cycle.
    assert grown < 200 * 16 * 8
    # 200 bundles would be 100 MB.
    assert resident_bytes() - resident < 50_000_000
