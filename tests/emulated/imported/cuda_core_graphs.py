"""Tests of graphs that cuda.core made; `test_import_captures.py` runs them in a process of their own."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driver_fixtures import upload

from cgraph.capture.imported.api import from_cuda_graph
from tests.support.imported_graphs import run_again, through_file

ADD = """
extern "C" __global__ void add(float* out, const float* a, const float* b, float scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + scale * b[i];
}
"""


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
