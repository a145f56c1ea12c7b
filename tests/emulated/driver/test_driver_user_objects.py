"""User objects, as the driver's documentation describes who counts on them; what is answered when Python has ended."""

import ctypes as c
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import upload

from tests.support.emulated import call, fails

ROOT = Path(__file__).parents[3]
NO_SYNC = cu.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
MOVE = cu.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE


class Counted:
    """A user object, and how often its destructor was called with its address."""

    def __init__(self, count: int) -> None:
        self.destroyed: list[int] = []
        self._destructor = c.CFUNCTYPE(None, c.c_void_p)(self.destroyed.append)
        function = cu.CUhostFn(c.cast(self._destructor, c.c_void_p).value)
        self.handle = call(cu.cuUserObjectCreate, 0x1234, function, count, NO_SYNC)


@pytest.fixture
def counted() -> Counted:
    call(cu.cuInit, 0)
    return Counted(2)


def test_the_last_reference_of_the_program(counted: Counted) -> None:
    call(cu.cuUserObjectRetain, counted.handle, 1)
    call(cu.cuUserObjectRelease, counted.handle, 2)
    assert counted.destroyed == []
    assert fails(cu.cuUserObjectRelease, counted.handle, 2) == "INVALID_VALUE"
    call(cu.cuUserObjectRelease, counted.handle, 1)
    assert counted.destroyed == [0x1234]
    assert fails(cu.cuUserObjectRelease, counted.handle, 1) == "INVALID_VALUE"


def test_a_graph_its_copies_and_what_is_instantiated(counted: Counted, graph: Any) -> None:
    made = call(cu.cuGraphCreate, 0)
    call(cu.cuGraphRetainUserObject, made, counted.handle, 2, MOVE)
    assert fails(cu.cuUserObjectRelease, counted.handle, 1) == "INVALID_VALUE"
    clone = call(cu.cuGraphClone, made)
    call(cu.cuGraphAddChildGraphNode, graph, [], 0, made)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuGraphReleaseUserObject, made, counted.handle, 1)
    assert fails(cu.cuGraphReleaseUserObject, made, counted.handle, 2) == "INVALID_VALUE"
    for end, thing in (
        (cu.cuGraphDestroy, made),
        (cu.cuGraphDestroy, clone),
        (cu.cuGraphDestroyNode, call(cu.cuGraphGetNodes, graph, 1)[0][0]),
    ):
        call(end, thing)
        assert counted.destroyed == []
    call(cu.cuGraphExecDestroy, executable)
    assert counted.destroyed == [0x1234]


def test_a_graph_counts_beside_the_program(counted: Counted) -> None:
    made = call(cu.cuGraphCreate, 0)
    call(cu.cuGraphRetainUserObject, made, counted.handle, 1, 0)
    call(cu.cuUserObjectRelease, counted.handle, 2)
    assert counted.destroyed == []
    call(cu.cuGraphDestroy, made)
    assert counted.destroyed == [0x1234]


def test_misuse(counted: Counted, graph: Any) -> None:
    destructor = cu.CUhostFn(1)
    assert fails(cu.cuUserObjectCreate, 0, cu.CUhostFn(0), 1, NO_SYNC) == "INVALID_VALUE"
    assert fails(cu.cuUserObjectCreate, 0, destructor, 0, NO_SYNC) == "INVALID_VALUE"
    assert fails(cu.cuUserObjectCreate, 0, destructor, 1, 0) == "INVALID_VALUE"
    assert fails(cu.cuUserObjectRetain, counted.handle, 0) == "INVALID_VALUE"
    assert fails(cu.cuGraphRetainUserObject, graph, counted.handle, 3, MOVE) == "INVALID_VALUE"
    assert fails(cu.cuGraphRetainUserObject, graph, counted.handle, 1, 2) == "INVALID_VALUE"
    assert fails(cu.cuGraphReleaseUserObject, graph, counted.handle, 1) == "INVALID_VALUE"


def test_a_stream_that_was_joined_may_end_before_the_capture(stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    other = call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
    fork, join = call(cu.cuEventCreate, 0), call(cu.cuEventCreate, 0)
    call(cu.cuStreamBeginCapture, stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    call(cu.cuEventRecord, fork, stream)
    call(cu.cuStreamWaitEvent, other, fork, 0)
    call(cu.cuMemsetD32Async, address, 1, 1, other)
    call(cu.cuEventRecord, join, other)
    call(cu.cuStreamWaitEvent, stream, join, 0)
    call(cu.cuStreamDestroy, other)
    assert call(cu.cuGraphGetNodes, call(cu.cuStreamEndCapture, stream))[1] == 1


LATE = """
import ctypes
from cuda.bindings import driver as cu
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import install
install(MachineHardware())
assert cu.cuInit(0)[0] == 0
library, entry = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
library.cuGetProcAddress_v2(b"cuInit", ctypes.byref(entry), 2000, ctypes.c_uint64(0), None)
assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint)(entry.value)(0) == 0
{end}
"""


def run_alone(end: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", LATE.format(end=end)],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_calls_when_python_has_ended() -> None:
    """The C library's `atexit` calls the entry point itself, after Python, as static objects in C++ do."""
    done = run_alone("assert ctypes.CDLL(None).on_exit(ctypes.c_void_p(entry.value), None) == 0")
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_answers_say_so() -> None:
    """CUDA_ERROR_DEINITIALIZED is 4 in cuda.h."""
    done = run_alone("library.cgraph_close()\nprint(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint)(entry.value)(0))")
    assert (done.stdout.strip(), done.stderr) == ("4", "")
