"""Graphs made by stream capture, and by cuda.core, imported by their handles."""

import ctypes as c
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import function, upload

from cgraph.backends.cuda.imported.model import EventRecordNode, KernelNode
from cgraph.capture.imported.api import from_cuda_graph
from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call
from tests.support.imported_graphs import run_again, through_file, words

GLOBAL = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
EXTERNAL = 1
ADD = """
extern "C" __global__ void add(float* out, const float* a, const float* b, float scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + scale * b[i];
}
"""


def launch(made: Any, stream: Any, values: tuple[Any, ...], types: tuple[Any, ...]) -> None:
    call(cu.cuLaunchKernel, made, 1, 1, 1, 4, 1, 1, 0, stream, (values, types), 0)


def test_fork_and_join_over_two_streams(stream: Any, module: Any, tmp_path: Path) -> None:
    """A fill, then a kernel on each of two streams, then a copy of both halves: 5 + 1 and 5 · 1 + 1 + 1."""
    address = upload(np.zeros(4, np.int32))
    other = call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
    fork, join, seen = (call(cu.cuEventCreate, 0) for _ in range(3))
    made, types = function(module, "addOne"), (c.c_void_p, c.c_int)
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    call(cu.cuMemsetD32Async, address, 5, 2, stream)
    call(cu.cuEventRecord, fork, stream)
    call(cu.cuStreamWaitEvent, other, fork, 0)
    launch(made, stream, (address, 1), types)
    launch(made, other, (address + 4, 1), types)
    launch(made, other, (address + 4, 1), types)
    call(cu.cuEventRecord, join, other)
    call(cu.cuStreamWaitEvent, stream, join, 0)
    call(cu.cuMemcpyDtoDAsync, address + 8, address, 8, stream)
    call(cu.cuEventRecordWithFlags, seen, stream, EXTERNAL)
    captured = call(cu.cuStreamEndCapture, stream)
    imported = through_file(from_cuda_graph(int(captured), code=[MODULE], names={address: "all"}), tmp_path)
    assert isinstance(imported.levels[0].nodes[-1], EventRecordNode)
    pairs = {(edge.before, edge.after) for edge in imported.levels[0].edges}
    assert pairs == {(0, 1), (0, 2), (2, 3), (1, 4), (3, 4), (4, 5)}
    for seed in range(5):
        INSTALLATION.driver.ordering.choose_at_random(seed)
        try:
            executable = run_again(imported)
        finally:
            INSTALLATION.driver.ordering.choose_first()
        assert words(executable, "all") == [6, 7, 6, 7]
        executable.close()


def test_launch_attributes_of_a_captured_kernel(stream: Any, module: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    config, attribute = cu.CUlaunchConfig(), cu.CUlaunchAttribute()
    attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
    attribute.value.priority = -1
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1
    config.hStream, config.attrs, config.numAttrs = stream, [attribute], 1
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    made = function(module, "addOne")
    call(cu.cuLaunchKernelEx, config, made, ((address, 1), (c.c_void_p, c.c_int)), 0)
    (node,) = from_cuda_graph(call(cu.cuStreamEndCapture, stream), code=[MODULE]).levels[0].nodes
    assert isinstance(node, KernelNode)
    assert node.attributes == (("priority", b"\xff\xff\xff\xff"),)


@pytest.fixture
def core() -> Any:
    return pytest.importorskip("cuda.core", reason="cuda.core is not installed")


@pytest.fixture
def add(core: Any) -> Any:
    """The kernel's PTX as cuda.core holds it. It warns that the emulated driver is older than NVRTC."""
    core.Device(0).set_current()
    options = core.ProgramOptions(arch="compute_80")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return core.Program(ADD, "c++", options).compile("ptx")


def numbers(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.arange(count, dtype=np.float32), np.linspace(-3, 3, count, dtype=np.float32)


def test_a_graph_captured_by_cuda_core(core: Any, add: Any, tmp_path: Path) -> None:
    """Its kernels come from libraries; the builder forks and joins."""
    count = 10
    first, second = numbers(count)
    stream = core.Device(0).create_stream()
    kernel, config = add.get_kernel("add"), core.LaunchConfig(grid=1, block=16)
    a, b, left, right, out = (upload(values) for values in (first, second, *[np.zeros(count, np.float32)] * 3))
    builder = stream.create_graph_builder().begin_building("relaxed")
    core.launch(builder, config, kernel, a, a, b, np.float32(1), np.int32(0))
    one, two = builder.split(2)
    core.launch(one, config, kernel, left, a, b, np.float32(0.5), np.int32(count))
    core.launch(two, config, kernel, right, b, a, np.float32(2), np.int32(count))
    joined = type(builder).join(one, two)
    core.launch(joined, config, kernel, out, left, right, np.float32(-1), np.int32(count))
    joined.end_building()
    names = {a: "a", b: "b", out: "out"}
    imported = through_file(from_cuda_graph(joined, code=[add], names=names, with_data=False), tmp_path)
    assert len(imported.levels[0].nodes) == 4
    executable = run_again(imported, a=first, b=second)
    expected = (first + np.float32(0.5) * second) - (second + np.float32(2) * first)
    np.testing.assert_array_equal(executable.get("out").view(np.float32), expected)


def test_a_graph_that_cuda_core_defined(core: Any, add: Any, tmp_path: Path) -> None:
    count = 10
    first, second = numbers(count)
    kernel, config = add.get_kernel("add"), core.LaunchConfig(grid=1, block=16)
    a, b, out = (upload(values) for values in (first, second, np.zeros(count, np.float32)))
    definition = pytest.importorskip("cuda.core.graph").GraphDefinition()
    inner = type(definition)()
    inner.launch(config, kernel, out, a, b, np.float32(3), np.int32(count))
    begin = definition.memset(a, np.uint32(0x3F800000), 4)
    begin.embed(inner).memcpy(b, out, 4)
    names = {a: "a", b: "b", out: "out"}
    imported = through_file(from_cuda_graph(definition, code=[add], names=names, with_data=True), tmp_path)
    executable = run_again(imported)
    first[:4] = 1
    expected = first + np.float32(3) * second
    np.testing.assert_array_equal(executable.get("out").view(np.float32), expected)
    second[0] = expected[0]
    np.testing.assert_array_equal(executable.get("b").view(np.float32), second)
