"""Imported graphs between runs: planes set and bound to other memory, arguments changed, and what can't be."""

import ctypes as c
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, kernel_params, upload

from cgraph.backends.cuda.imported.executable import ImportedExecutable
from cgraph.backends.cuda.imported.model import ImportedGraph, KernelNode
from cgraph.backends.cuda.imported.preparation import prepare_imported
from cgraph.capture.imported.api import from_cuda_graph
from cgraph.capture.replay import Replay
from cgraph.diagnostics import ProblemsFound
from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call
from tests.support.emulated_runs import EMULATED
from tests.support.imported_graphs import ECHO, cubin_of, ptx_of, words


def code_of(stopped: pytest.ExceptionInfo[ProblemsFound]) -> tuple[str, ...]:
    return tuple(problem.code for problem in stopped.value.problems)


@pytest.fixture
def added(graph: Any, module: Any) -> ImportedGraph:
    """A fill of the first number with 5, then out[i] = in[i] + 7 for four numbers, then a copy of rows."""
    source, out = upload(np.arange(4, dtype=np.int32)), upload(np.zeros(8, np.int32))
    fill = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(source, 5, 1), None)
    types = (c.c_void_p, c.c_int, c.c_uint8, c.c_void_p)
    params = kernel_params(function(module, "addTo"), 1, 4, (out, 4, 7, source), types)
    launch = call(cu.cuGraphAddKernelNode, graph, [fill], 1, params)
    rows = copy_params(out + 16, out, 4)
    rows.Height, rows.srcPitch, rows.dstPitch = 2, 8, 4
    call(cu.cuGraphAddMemcpyNode, graph, [launch], 1, rows, None)
    return from_cuda_graph(graph, code=[MODULE], names={source: "in", out: "out"}, with_data=True)


@pytest.fixture
def executable(added: ImportedGraph) -> Iterator[ImportedExecutable]:
    with prepare_imported(added, EMULATED) as made:
        yield made


@frozen
class DeviceArray:
    """An array of another library."""

    address: int
    count: int = 8
    strides: tuple[int, ...] | None = None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.count,),
            "typestr": "<i4",
            "data": (self.address, False),
            "strides": self.strides,
            "version": 3,
        }


def test_runs_and_sets(executable: ImportedExecutable) -> None:
    executable.run()
    assert words(executable, "out") == [12, 8, 9, 10, 12, 9, 0, 0]
    executable.set("in", np.array([0, 10, 20, 30], np.int32))
    executable.run()
    assert words(executable, "out") == [12, 17, 27, 37, 12, 27, 0, 0]


def test_scalars(executable: ImportedExecutable) -> None:
    executable.set_scalar(1, "parameter 2", 100)
    executable.set_scalar(0, "value", 50)
    executable.run()
    assert words(executable, "out")[:4] == [150, 101, 102, 103]
    executable.set_scalar(1, "parameter 1", np.int32(2))
    executable.set_scalar(1, "parameter 2", b"\x01")
    executable.run()
    assert words(executable, "out")[:4] == [51, 2, 102, 103]


@pytest.mark.parametrize(
    ("node", "slot", "value", "reason"),
    [
        (1, "parameter 0", 1, "it is an address; planes get other memory with rebind"),
        (1, "parameter 4", 1, "the kernel has 4 parameter(s), `parameter 0` the first"),
        (1, "value", 1, "the kernel has 4 parameter(s), `parameter 0` the first"),
        (1, "parameter 2", 256, "256 does not fit into 1 byte(s)"),
        (1, "parameter 2", 1.0, "no float has 1 byte(s)"),
        (1, "parameter 1", b"123", "it has 4 byte(s), the value 3"),
        (1, "parameter 1", "1", "a str is neither bytes nor a number"),
        (0, "parameter 0", 1, "a memset has a value and no parameter 0"),
        (2, "value", 1, "it has no scalars"),
        (3, "value", 1, "the graph has no such node"),
        ((1, 0), "value", 1, "the graph has no such node"),
    ],
)
def test_scalars_that_cannot_be_set(
    executable: ImportedExecutable, node: Any, slot: str, value: Any, reason: str
) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        executable.set_scalar(node, slot, value)
    assert code_of(stopped) == ("CG744",)
    assert list(stopped.value.problems[0].notes()) == [reason]
    executable.run()
    assert words(executable, "out")[:4] == [12, 8, 9, 10]


def test_floats_by_their_size(graph: Any) -> None:
    """1.5 is 0x3E00 in 16 bits; IEEE 754."""
    code = ptx_of(ECHO)
    made = function(call(cu.cuModuleLoadData, code + b"\0"), "echo")
    word, out = upload(np.zeros(1, np.uint32)), upload(np.zeros(28, np.uint8))
    types = (c.c_int8, c.c_double, c.c_uint16, c.c_int, c.c_void_p, c.c_int8, c.c_longlong, c.c_void_p)
    params = kernel_params(made, 1, 1, (0, 0.0, 0, 0, word, 0, 0, out), types)
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    with prepare_imported(from_cuda_graph(graph, code=[code], names={out: "out"}), EMULATED) as executable:
        executable.set_scalar(0, "parameter 1", -2.5)
        executable.set_scalar(0, "parameter 2", 1.5)
        executable.set_scalar(0, "parameter 3", 1.0)
        executable.set_scalar(0, "parameter 6", -1)
        executable.run()
        found = executable.get("out")
    assert found[:8].view(np.float64)[0] == -2.5
    assert found[8:16].view(np.int64)[0] == -1
    assert found[16:20].view(np.float32)[0] == 1.0
    assert found[24:26].view(np.uint16)[0] == 0x3E00


def test_other_memory(executable: ImportedExecutable) -> None:
    other = upload(np.zeros(8, np.int32))
    executable.rebind("out", DeviceArray(other))
    executable.run()
    assert words(executable, "out") == [12, 8, 9, 10, 12, 9, 0, 0]
    executable.rebind("in", upload(np.full(4, 3, np.int32)))
    executable.run()
    assert words(executable, "out")[:4] == [12, 10, 10, 10]
    assert words(executable, "in") == [5, 3, 3, 3]


def test_other_memory_that_does_not_fit(executable: ImportedExecutable, added: ImportedGraph) -> None:
    small, room = upload(np.zeros(4, np.uint8)), upload(np.zeros(64, np.uint8))
    host = int(call(cu.cuMemHostAlloc, 32, 0))
    inside = executable.owned.memory.addresses[0]
    for memory, reason in (
        (small, "there are 4 bytes from"),
        (room + 4, "is no multiple of 16"),
        (host, "there is no device memory at"),
        (8, "is no multiple of 16"),
        (inside, "it would overlap in, and nothing orders the nodes that use both"),
        (np.zeros(8, np.int32), "a ndarray is not in device memory; its values are copied with set"),
        (DeviceArray(room, strides=(8,)), "only arrays without strides can be bound"),
        (DeviceArray(room, count=7), "the array has 28 bytes, and the plane has 32"),
    ):
        with pytest.raises(ProblemsFound) as stopped:
            executable.rebind("out", memory)
        assert code_of(stopped) == ("CG744",)
        assert reason in "\n".join(stopped.value.problems[0].notes())
    executable.run()
    assert words(executable, "out") == [12, 8, 9, 10, 12, 9, 0, 0]
    del added


def test_parts_and_host_planes_stay_where_they_are(graph: Any) -> None:
    held, target = np.arange(16, dtype=np.uint8), upload(np.zeros(16, np.uint8))
    params = copy_params(target, 0, 16)
    params.srcMemoryType, params.srcHost = cu.CUmemorytype.CU_MEMORYTYPE_HOST, held.ctypes.data
    call(cu.cuGraphAddMemcpyNode, graph, [], 0, params, None)
    imported = from_cuda_graph(graph, names={held.ctypes.data: "host", target: "all", target + 8: "part"})
    with prepare_imported(imported, EMULATED) as executable:
        for name, reason in (("host", "it is memory of the host"), ("part", "it is a part of an allocation")):
            with pytest.raises(ProblemsFound) as stopped:
                executable.rebind(name, upload(np.zeros(16, np.uint8)))
            assert reason in stopped.value.problems[0].notes()[0]
        executable.set("host", held[::-1])
        executable.run()
        assert executable.get("part").tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_names_and_sizes(executable: ImportedExecutable) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        executable.get("ou")
    assert code_of(stopped) == ("CG702",)
    with pytest.raises(ProblemsFound) as stopped:
        executable.set("out", np.zeros(7, np.int32))
    assert code_of(stopped) == ("CG703",)


def test_a_replay(added: ImportedGraph) -> None:
    with Replay(added, "emulated") as replay:
        replay.run_many(3)
        assert replay.get("out").view(np.int32).tolist() == [12, 8, 9, 10, 12, 9, 0, 0]
    for _ in range(2):
        with pytest.raises(ProblemsFound) as stopped:
            Replay(added, "host")
        assert code_of(stopped) == ("CG861",)


def test_code_that_the_device_does_not_take(added: ImportedGraph) -> None:
    """A cubin, and PTX of a kernel whose parameters differ."""
    machine_code = evolve(added.codes[0], data=cubin_of('extern "C" __global__ void addTo(int* a) { *a = 1; }'))
    other = evolve(added.codes[0], data=ptx_of('extern "C" __global__ void addTo(int* a) { *a = 1; }'))
    kernel = evolve(added.kernels[0], codes=(0, 1))
    with pytest.raises(ProblemsFound) as stopped:
        prepare_imported(evolve(added, codes=(machine_code, other), kernels=(kernel,)), EMULATED)
    assert code_of(stopped) == ("CG858",)
    first, second = stopped.value.problems[0].notes()
    assert "CUDA_ERROR_NO_BINARY_FOR_GPU" in first
    assert second == "code 1 (ptx for compute_80): its parameters are not those that the graph was read with"
    nameless = evolve(added.kernels[0], name="none")
    with pytest.raises(ProblemsFound) as stopped:
        prepare_imported(evolve(added, kernels=(nameless, nameless)), EMULATED)
    assert code_of(stopped) == ("CG858", "CG858")


@pytest.mark.parametrize("change", [{"block": (2000, 1, 1)}, {"shared_bytes": 100_000}])
def test_a_node_that_the_driver_refuses(added: ImportedGraph, change: dict[str, Any]) -> None:
    (level,) = added.levels
    node = level.nodes[1]
    assert isinstance(node, KernelNode)
    nodes = (level.nodes[0], evolve(node, **change), level.nodes[2])
    allocated = INSTALLATION.driver.allocated_bytes
    with pytest.raises(ProblemsFound) as stopped:
        prepare_imported(evolve(added, levels=(evolve(level, nodes=nodes),)), EMULATED)
    assert code_of(stopped) == ("CG859",)
    assert (
        stopped.value.problems[0]
        .render_title()
        .startswith("cuGraphAddKernelNode failed for node 1 (kernel addTo): CUDA_ERROR_INVALID_VALUE")
    )
    assert INSTALLATION.driver.allocated_bytes == allocated


@pytest.mark.parametrize("inside", [False, True])
def test_what_the_emulated_device_finds_names_the_node(graph: Any, module: Any, inside: bool) -> None:
    """16 numbers are asked of 4: out of bounds."""
    address = upload(np.zeros(4, np.int32))
    params = kernel_params(function(module, "addOne"), 1, 16, (address, 16), (c.c_void_p, c.c_int))
    if inside:
        child = call(cu.cuGraphCreate, 0)
        call(cu.cuGraphAddKernelNode, child, [], 0, params)
        call(cu.cuGraphAddChildGraphNode, graph, [], 0, child)
    else:
        call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    imported = from_cuda_graph(graph, code=[MODULE], names={address: "all"})
    with prepare_imported(imported, EMULATED) as executable, pytest.raises(ProblemsFound) as stopped:
        executable.run()
    codes = code_of(stopped)
    assert codes[-1] == "CG860"
    assert any(code in ("CG755", "CG756") for code in codes), codes
    place = "a node of a child graph" if inside else "node 0 (kernel addOne)"
    assert place in stopped.value.problems[-1].render_title()
