"""Streams, events and capture on the emulated driver."""

import threading
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import ints, upload

from tests.support.emulated import INSTALLATION, call, fails

pytestmark = pytest.mark.usefixtures("context")

GLOBAL = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
RELAXED = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
STATUS = cu.CUstreamCaptureStatus


def new_stream() -> Any:
    return call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)


def edges(graph: Any) -> int:
    return int(call(cu.cuGraphGetEdges, graph)[3])


def test_captured_work_is_a_graph_and_not_done(stream: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    assert call(cu.cuStreamIsCapturing, stream) == STATUS.CU_STREAM_CAPTURE_STATUS_ACTIVE
    call(cu.cuMemsetD32Async, address, 4, 1, stream)
    call(cu.cuMemcpyDtoDAsync, address + 4, address, 4, stream)
    graph = call(cu.cuStreamEndCapture, stream)
    assert call(cu.cuStreamIsCapturing, stream) == STATUS.CU_STREAM_CAPTURE_STATUS_NONE
    assert ints(address, 2) == [0, 0]
    nodes, count = call(cu.cuGraphGetNodes, graph, 2)
    assert count == 2
    assert [call(cu.cuGraphNodeGetType, node).value for node in nodes] == [2, 1]
    assert edges(graph) == 1
    call(cu.cuGraphLaunch, call(cu.cuGraphInstantiate, graph, 0), stream)
    assert ints(address, 2) == [4, 4]


def test_events_draw_other_streams_in(stream: Any) -> None:
    address, other = upload(np.zeros(4, np.int32)), new_stream()
    fork, join = call(cu.cuEventCreate, 0), call(cu.cuEventCreate, 0)
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    call(cu.cuMemsetD32Async, address, 1, 1, stream)
    call(cu.cuEventRecord, fork, stream)
    call(cu.cuStreamWaitEvent, other, fork, 0)
    call(cu.cuMemsetD32Async, address + 4, 2, 1, stream)
    call(cu.cuMemsetD32Async, address + 8, 3, 1, other)
    call(cu.cuEventRecord, join, other)
    call(cu.cuStreamWaitEvent, stream, join, 0)
    call(cu.cuMemsetD32Async, address + 12, 4, 1, stream)
    graph = call(cu.cuStreamEndCapture, stream)
    # One before the fork, two branches, one behind the join.
    assert edges(graph) == 4
    assert call(cu.cuStreamIsCapturing, other) == STATUS.CU_STREAM_CAPTURE_STATUS_NONE
    call(cu.cuGraphLaunch, call(cu.cuGraphInstantiate, graph, 0), stream)
    assert ints(address, 4) == [1, 2, 3, 4]


def test_unjoined_work(stream: Any) -> None:
    address, other, fork = upload(np.zeros(2, np.int32)), new_stream(), call(cu.cuEventCreate, 0)
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    call(cu.cuMemsetD32Async, address, 1, 1, stream)
    call(cu.cuEventRecord, fork, stream)
    call(cu.cuStreamWaitEvent, other, fork, 0)
    call(cu.cuMemsetD32Async, address, 2, 1, other)
    assert fails(cu.cuStreamEndCapture, other) == "STREAM_CAPTURE_UNMATCHED"
    assert fails(cu.cuEventQuery, fork) == "CAPTURED_EVENT"
    assert fails(cu.cuStreamEndCapture, stream) == "STREAM_CAPTURE_UNJOINED"
    assert fails(cu.cuStreamEndCapture, stream) == "INVALID_VALUE"


def test_waiting_for_a_capturing_stream_spoils_it(stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    assert fails(cu.cuStreamSynchronize, stream) == "STREAM_CAPTURE_UNSUPPORTED"
    assert call(cu.cuStreamIsCapturing, stream) == STATUS.CU_STREAM_CAPTURE_STATUS_INVALIDATED
    assert fails(cu.cuMemsetD32Async, address, 1, 1, stream) == "STREAM_CAPTURE_INVALIDATED"
    assert fails(cu.cuStreamEndCapture, stream) == "STREAM_CAPTURE_INVALIDATED"
    call(cu.cuMemsetD32Async, address, 1, 1, stream)


def test_unsafe_calls_in_a_global_capture_and_in_a_relaxed_one(stream: Any) -> None:
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    assert fails(cu.cuMemAlloc, 4) == "STREAM_CAPTURE_UNSUPPORTED"
    assert fails(cu.cuStreamEndCapture, stream) == "STREAM_CAPTURE_INVALIDATED"
    call(cu.cuStreamBeginCapture, stream, RELAXED)
    call(cu.cuMemAlloc, 4)
    call(cu.cuStreamEndCapture, stream)


def test_the_default_stream_waits_for_blocking_ones() -> None:
    blocking, address = call(cu.cuStreamCreate, 0), upload(np.zeros(1, np.int32))
    call(cu.cuStreamBeginCapture, blocking, RELAXED)
    assert fails(cu.cuMemsetD32Async, address, 1, 1, 0) == "STREAM_CAPTURE_IMPLICIT"
    assert fails(cu.cuStreamEndCapture, blocking) == "STREAM_CAPTURE_INVALIDATED"
    assert fails(cu.cuStreamBeginCapture, 0, GLOBAL) == "STREAM_CAPTURE_UNSUPPORTED"


def test_capture_info_and_capture_into_a_graph(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    first = call(cu.cuGraphAddEmptyNode, graph, [], 0)
    call(cu.cuStreamBeginCaptureToGraph, stream, graph, [first], None, 1, GLOBAL)
    status, number, found, tips, _data, count = call(cu.cuStreamGetCaptureInfo, stream)
    assert status == STATUS.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert (int(number) > 0, int(found), [int(tip) for tip in tips], count) == (True, int(graph), [int(first)], 1)
    call(cu.cuMemsetD32Async, address, 1, 1, stream)
    assert int(call(cu.cuStreamEndCapture, stream)) == int(graph)
    assert edges(graph) == 1


def test_a_captured_event_is_no_event_elsewhere(stream: Any) -> None:
    event, other = call(cu.cuEventCreate, 0), new_stream()
    call(cu.cuStreamBeginCapture, stream, GLOBAL)
    call(cu.cuEventRecord, event, stream)
    call(cu.cuStreamEndCapture, stream)
    assert fails(cu.cuStreamWaitEvent, other, event, 0) == "CAPTURED_EVENT"
    call(cu.cuEventRecord, event, other)
    call(cu.cuEventSynchronize, event)


def test_times() -> None:
    start, end, mute = (call(cu.cuEventCreate, flags) for flags in (0, 0, 2))
    assert fails(cu.cuEventElapsedTime, start, end) == "INVALID_HANDLE"
    for event in (start, end, mute):
        call(cu.cuEventRecord, event, 0)
    assert call(cu.cuEventElapsedTime, start, end) >= 0
    assert call(cu.cuEventElapsedTime, end, start) <= 0
    assert fails(cu.cuEventElapsedTime, start, mute) == "INVALID_HANDLE"


def test_contexts_belong_to_threads(context: Any) -> None:
    answers: list[Any] = []

    def elsewhere() -> None:
        answers.append(fails(cu.cuMemAlloc, 4))
        call(cu.cuCtxSetCurrent, context)
        answers.append(int(call(cu.cuCtxGetCurrent)))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert answers == ["INVALID_CONTEXT", int(context)]


def test_contexts_are_a_stack(context: Any) -> None:
    other = call(cu.cuCtxCreate, None, 0, 0)
    assert int(call(cu.cuCtxPopCurrent)) == int(other)
    assert int(call(cu.cuCtxGetCurrent)) == int(context)
    call(cu.cuCtxDestroy, other)
    assert fails(cu.cuCtxPushCurrent, other) == "INVALID_CONTEXT"
    assert fails(cu.cuCtxDestroy, other) == "INVALID_CONTEXT"


def test_misuse_is_an_error_code(stream: Any) -> None:
    assert fails(cu.cuStreamCreate, 7) == "INVALID_VALUE"
    assert fails(cu.cuEventCreate, 64) == "INVALID_VALUE"
    assert fails(cu.cuEventRecord, stream, stream) == "INVALID_HANDLE"
    call(cu.cuStreamDestroy, stream)
    assert fails(cu.cuStreamSynchronize, stream) == "INVALID_HANDLE"
    assert fails(cu.cuStreamDestroy, stream) == "INVALID_HANDLE"
    assert INSTALLATION.driver.failures == []
