"""Graphs made by stream capture, and by cuda.core, imported by their handles."""

import ctypes as c
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import function, upload

from cgraph.backends.cuda.imported.model import EventRecordNode, KernelNode
from cgraph.capture.imported.api import from_cuda_graph
from tests.support.driver_kernels import MODULE
from tests.support.emulated import call
from tests.support.imported_graphs import run_in_five_orders, through_file, words

GLOBAL = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
EXTERNAL = 1
ROOT = Path(__file__).parents[3]
CORE_TESTS = "cuda_core_graphs.py"


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
    for executable in run_in_five_orders(imported):
        assert words(executable, "all") == [6, 7, 6, 7]


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


def test_graphs_of_cuda_core() -> None:
    """In a process of their own: cuda.core keeps the primary context until its process ends."""
    if find_spec("cuda.core") is None:
        pytest.skip("cuda.core is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name(CORE_TESTS))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.count("2 passed")) == (0, 1), done.stdout + done.stderr
