"""Kernels that run on the emulated device: on streams, in graphs and captured; and what is left after one failed."""

import ctypes
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import download, function, ints, kernel_params, upload

from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call, fails

pytestmark = pytest.mark.usefixtures("context")

POINTER, INT, BYTE, FLOAT = ctypes.c_void_p, ctypes.c_int, ctypes.c_ubyte, ctypes.c_float


def run(kernel: Any, grid: int, block: int, values: tuple[Any, ...], types: tuple[Any, ...], stream: Any = 0) -> None:
    call(cu.cuLaunchKernel, kernel, grid, 1, 1, block, 1, 1, 0, stream, (values, types), 0)


def test_threads_past_the_end_do_nothing(module: Any) -> None:
    address = upload(np.arange(100, dtype=np.int32))
    run(function(module, "addOne"), 3, 32, (address, 70), (POINTER, INT))
    assert ints(address, 100) == [*range(1, 71), *range(70, 100)]


def test_arguments_of_all_sizes(module: Any) -> None:
    out, source = upload(np.zeros(5, np.int32)), upload(np.array([10, 20, 30, 40, 50], np.int32))
    run(function(module, "addTo"), 1, 32, (out, 5, 200, source), (POINTER, INT, BYTE, POINTER))
    assert ints(out, 5) == [210, 220, 230, 240, 250]


def test_floats(module: Any) -> None:
    address = upload(np.array([1.0, -2.5, 0.0], np.float32))
    run(function(module, "scale"), 1, 32, (address, 3, 0.5), (POINTER, INT, FLOAT))
    assert download(address, np.empty(3, np.float32)).tolist() == [0.5, -1.25, 0.0]


def test_packed_arguments(module: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    buffer = ctypes.create_string_buffer(12)
    ctypes.c_uint64.from_buffer(buffer, 0).value = address
    ctypes.c_int.from_buffer(buffer, 8).value = 2
    size = ctypes.c_size_t(12)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    call(cu.cuLaunchKernel, function(module, "addOne"), 1, 1, 1, 2, 1, 1, 0, 0, 0, ctypes.addressof(extra))
    assert ints(address, 2) == [1, 1]


def test_launches_with_a_configuration(module: Any, stream: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    config = cu.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = 2, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 2, 1, 1
    config.hStream = stream
    call(cu.cuLaunchKernelEx, config, function(module, "addOne"), ((address, 4), (POINTER, INT)), 0)
    assert ints(address, 4) == [1, 1, 1, 1]


def test_kernels_of_libraries() -> None:
    address = upload(np.zeros(1, np.int32))
    library = call(cu.cuLibraryLoadData, MODULE.encode(), [], [], 0, [], [], 0)
    kernel = call(cu.cuLibraryGetKernel, library, b"addOne")
    run(call(cu.cuKernelGetFunction, kernel), 1, 1, (address, 1), (POINTER, INT))
    assert ints(address, 1) == [1]
    call(cu.cuLibraryUnload, library)


def test_the_values_of_a_node_are_those_of_the_time_it_was_added(module: Any, graph: Any) -> None:
    first, second = upload(np.zeros(1, np.int32)), upload(np.zeros(1, np.int32))
    add_one = function(module, "addOne")
    node = call(cu.cuGraphAddKernelNode, graph, [], 0, kernel_params(add_one, 1, 1, (first, 1), (POINTER, INT)))
    executable = call(cu.cuGraphInstantiate, graph, 0)
    for _ in range(3):
        call(cu.cuGraphLaunch, executable, 0)
    params = kernel_params(add_one, 1, 1, (second, 1), (POINTER, INT))
    call(cu.cuGraphExecKernelNodeSetParams, executable, node, params)
    call(cu.cuGraphLaunch, executable, 0)
    # The graph holds the kernel, though its module can no longer be named.
    call(cu.cuModuleUnload, module)
    call(cu.cuGraphLaunch, executable, 0)
    assert ints(first, 1) + ints(second, 1) == [3, 2]


def test_captured_launches(module: Any, stream: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    call(cu.cuStreamBeginCapture, stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
    for _ in range(3):
        run(function(module, "addOne"), 1, 32, (address, 2), (POINTER, INT), stream)
    graph = call(cu.cuStreamEndCapture, stream)
    assert ints(address, 2) == [0, 0]
    assert call(cu.cuGraphGetEdges, graph)[3] == 2
    call(cu.cuGraphLaunch, call(cu.cuGraphInstantiate, graph, 0), stream)
    assert ints(address, 2) == [3, 3]


@pytest.mark.parametrize(
    ("offset", "count", "expected"),
    [(0, 5, "ILLEGAL_ADDRESS"), (2, 1, "MISALIGNED_ADDRESS"), (16, 1, "ILLEGAL_ADDRESS")],
)
def test_a_failed_kernel_fails_its_context_for_good(module: Any, offset: int, count: int, expected: str) -> None:
    address = upload(np.zeros(4, np.int32))
    # The launch itself is well; what comes after is not.
    run(function(module, "addOne"), 1, 32, (address + offset, count), (POINTER, INT))
    host = np.zeros(4, np.int32)
    for _ in range(2):
        assert fails(cu.cuCtxSynchronize) == expected
        assert fails(cu.cuMemAlloc, 4) == expected
        assert fails(cu.cuMemcpyDtoH, host.ctypes.data, address, 16) == expected
    found = INSTALLATION.take_problems()
    assert [problem.code for problem in found] == ["CG757" if expected == "MISALIGNED_ADDRESS" else "CG756"]
    # Another context does not mind.
    other = call(cu.cuCtxCreate, None, 0, 0)
    call(cu.cuMemAlloc, 4)
    call(cu.cuCtxDestroy, other)


def test_a_failed_kernel_ends_its_graph(module: Any, graph: Any) -> None:
    address, after = upload(np.zeros(4, np.int32)), upload(np.zeros(1, np.int32))
    add_one = function(module, "addOne")
    wrong = kernel_params(add_one, 1, 32, (address, 5), (POINTER, INT))
    first = call(cu.cuGraphAddKernelNode, graph, [], 0, wrong)
    right = kernel_params(add_one, 1, 32, (after, 1), (POINTER, INT))
    call(cu.cuGraphAddKernelNode, graph, [first], 1, right)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuGraphLaunch, executable, 0)
    assert fails(cu.cuGraphLaunch, executable, 0) == "ILLEGAL_ADDRESS"
    assert INSTALLATION.driver.hardware.memory.read(after, 4) == bytes(4)
    INSTALLATION.take_problems()


def test_memory_that_is_gone_when_a_graph_runs(graph: Any) -> None:
    address = call(cu.cuMemAlloc, 4)
    params = cu.CUDA_MEMSET_NODE_PARAMS()
    params.dst, params.value, params.elementSize, params.width, params.height = int(address), 1, 4, 1, 1
    call(cu.cuGraphAddMemsetNode, graph, [], 0, params, None)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuMemFree, address)
    call(cu.cuGraphLaunch, executable, 0)
    assert fails(cu.cuCtxSynchronize) == "ILLEGAL_ADDRESS"
