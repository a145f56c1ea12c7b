"""Entry points about streams, events and stream capture."""

import ctypes as c

from cgraph.emulator.driver import capturing
from cgraph.emulator.driver.abi import (
    ADDRESS,
    HANDLE,
    INT,
    OUT_HANDLE,
    OUT_INT,
    OUT_LONG,
    OUT_UINT,
    SIZE,
    UINT,
    Needs,
    Table,
    maybe_out,
    out,
)
from cgraph.emulator.driver.entries_edges import dependencies_at
from cgraph.emulator.driver.graphs import graph_of, new_graph
from cgraph.emulator.driver.layouts import EdgeData
from cgraph.emulator.driver.objects import Event, Stream
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import HostWork, RecordWork, WaitWork

TABLE = Table()

EVENT_FLAGS, EVENT_DISABLE_TIMING = 7, 2
EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


@TABLE.entry("cuStreamCreate", 2000, OUT_HANDLE, UINT)
def stream_create(driver: Driver, flags: int) -> int:
    """Flags: 0, or 1 for one that the default stream does not wait for."""
    return _create(driver, flags, 0)


@TABLE.entry("cuStreamCreateWithPriority", 5050, OUT_HANDLE, UINT, INT)
def stream_create_with_priority(driver: Driver, flags: int, priority: int) -> int:
    """Priorities have no effect; they are kept within the range of the context."""
    return _create(driver, flags, priority)


def _create(driver: Driver, flags: int, priority: int) -> int:
    if flags not in (0, capturing.NON_BLOCKING):
        raise DriverError(Result.INVALID_VALUE, f"{flags} are no flags of a stream")
    context = driver.current()
    stream = Stream(context, flags, min(0, max(-1, priority)))
    context.owned.append(stream)
    return driver.handles.add(stream)


@TABLE.entry("cuStreamDestroy", 4000, HANDLE)
def stream_destroy(driver: Driver, handle: int) -> None:
    """All its work is done. A capture that began in it ends without a graph.

    One that only drew the stream in goes on: whether its work was joined is seen when the capture ends.
    """
    stream = driver.handles.get(Stream, handle)
    if stream.capture is not None and stream.capture.origin is stream:
        stream.capture.valid = False
        driver.captures.remove(stream.capture)
    driver.handles.remove(stream)
    stream.context.owned.remove(stream)


@TABLE.entry("cuStreamSynchronize", 2000, HANDLE)
def stream_synchronize(driver: Driver, handle: int) -> None:
    """All work is done when it is enqueued."""
    capturing.forbid_capture(driver.stream(handle))


@TABLE.entry("cuStreamQuery", 2000, HANDLE)
def stream_query(driver: Driver, handle: int) -> None:
    """Done."""
    capturing.forbid_capture(driver.stream(handle))


@TABLE.entry("cuStreamGetPriority", 5050, HANDLE, OUT_INT)
def stream_get_priority(driver: Driver, handle: int) -> int:
    """As `stream_create_with_priority` kept it."""
    return driver.stream(handle).priority


@TABLE.entry("cuStreamGetFlags", 5050, HANDLE, OUT_UINT)
def stream_get_flags(driver: Driver, handle: int) -> int:
    """Those that it was made with."""
    return driver.stream(handle).flags


@TABLE.entry("cuStreamGetId", 12000, HANDLE, OUT_LONG)
def stream_get_id(driver: Driver, handle: int) -> int:
    """Handles are never used twice, so they are good numbers."""
    stream = driver.stream(handle)
    return stream.handle or stream.context.handle


@TABLE.entry("cuStreamGetCtx", 9020, HANDLE, OUT_HANDLE)
def stream_get_context(driver: Driver, handle: int) -> int:
    """In which it was made."""
    return driver.stream(handle).context.handle


@TABLE.entry("cuStreamGetCtx", 12050, HANDLE, OUT_HANDLE, maybe_out(c.c_uint64))
def stream_get_context_v2(driver: Driver, handle: int) -> tuple[int, int]:
    """The context, and no green one."""
    return driver.stream(handle).context.handle, 0


@TABLE.entry("cuStreamGetDevice", 12080, HANDLE, OUT_INT)
def stream_get_device(driver: Driver, handle: int) -> int:
    """The only one."""
    driver.stream(handle)
    return 0


@TABLE.entry("cuStreamWaitEvent", 3020, HANDLE, HANDLE, UINT)
def stream_wait_event(driver: Driver, handle: int, event: int, flags: int) -> None:
    """Work of the stream is done in order, so only a capture has something to note."""
    stream, awaited = driver.stream(handle), driver.handles.get(Event, event)
    capture = capturing.capture_of(stream)
    if flags == EXTERNAL and capture is not None:
        capturing.capture_node(driver, stream, capture, WaitWork(awaited))
        return
    if awaited.capture is not None and awaited.capture not in driver.captures:
        raise DriverError(Result.CAPTURED_EVENT)
    capturing.wait(stream, awaited)


@TABLE.entry("cuLaunchHostFunc", 10000, HANDLE, ADDRESS, ADDRESS)
def launch_host_function(driver: Driver, handle: int, function: int, argument: int) -> None:
    """Calls a C function when the work before is done: now."""
    if function == 0:
        raise DriverError(Result.INVALID_VALUE, "the function is null")
    capturing.enqueue(driver, driver.stream(handle), HostWork(function, argument))


@TABLE.entry("cuStreamBeginCapture", 10010, HANDLE, UINT)
def stream_begin_capture(driver: Driver, handle: int, mode: int) -> None:
    """Into a new graph."""
    stream = driver.stream(handle)
    graph = new_graph(driver)
    try:
        capturing.begin(driver, stream, mode, graph, given=False, tips=())
    except DriverError:
        driver.handles.remove(graph)
        raise


@TABLE.entry("cuStreamBeginCaptureToGraph", 12030, HANDLE, HANDLE, ADDRESS, ADDRESS, SIZE, UINT)
def stream_begin_capture_to_graph(
    driver: Driver, handle: int, graph: int, dependencies: int, data: int, count: int, mode: int
) -> None:
    """Into a graph of the program's, behind some of its nodes."""
    tips = tuple(node for node, _ in dependencies_at(driver, dependencies, data, count))
    capturing.begin(driver, driver.stream(handle), mode, graph_of(driver, graph), given=True, tips=tips)


@TABLE.entry("cuStreamEndCapture", 10000, HANDLE, OUT_HANDLE)
def stream_end_capture(driver: Driver, handle: int) -> int:
    """The graph that was filled."""
    return capturing.end(driver, driver.stream(handle)).handle


@TABLE.entry("cuStreamIsCapturing", 10000, HANDLE, OUT_INT)
def stream_is_capturing(driver: Driver, handle: int) -> int:
    """Not, actively, or in vain."""
    capture = driver.stream(handle).capture
    if capture is None:
        return capturing.STATUS_NONE
    return capturing.STATUS_ACTIVE if capture.valid else capturing.STATUS_INVALIDATED


@TABLE.entry(
    "cuStreamGetCaptureInfo",
    12030,
    HANDLE,
    OUT_INT,
    maybe_out(c.c_uint64),
    maybe_out(c.c_uint64),
    maybe_out(c.c_uint64),
    maybe_out(c.c_uint64),
    maybe_out(c.c_size_t),
)
def stream_get_capture_info(driver: Driver, handle: int) -> tuple[int, int, int, int, int, int]:
    """Status, number, graph, last nodes, their edges' data, and how many they are."""
    stream = driver.stream(handle)
    if stream.capture is None or not stream.capture.valid:
        return stream_is_capturing(driver, handle), 0, 0, 0, 0, 0
    tips = (c.c_uint64 * max(1, len(stream.tips)))(*(tip.handle for tip in stream.tips))
    data = (EdgeData * max(1, len(stream.tips)))()
    stream.capture.graph.reported = (tips, data)
    addresses = c.addressof(tips), c.addressof(data)
    return capturing.STATUS_ACTIVE, stream.capture.number, stream.capture.graph.handle, *addresses, len(stream.tips)


@TABLE.entry("cuThreadExchangeStreamCaptureMode", 10010, ADDRESS, needs=Needs.DRIVER)
def thread_exchange_capture_mode(driver: Driver, mode: int) -> None:
    """Sets the calling thread's mode and gives the one before."""
    if mode == 0:
        raise DriverError(Result.INVALID_VALUE, "the mode is null")
    place = c.c_int.from_address(mode)
    if place.value not in (capturing.GLOBAL, capturing.THREAD_LOCAL, capturing.RELAXED):
        raise DriverError(Result.INVALID_VALUE, f"{place.value} is no capture mode")
    place.value, driver.thread_mode = driver.thread_mode, place.value


@TABLE.entry("cuEventCreate", 2000, OUT_HANDLE, UINT)
def event_create(driver: Driver, flags: int) -> int:
    """Flags: blocking, without time, between processes; only the second has an effect."""
    if flags & ~EVENT_FLAGS:
        raise DriverError(Result.INVALID_VALUE, f"{flags} are no flags of an event")
    context = driver.current()
    event = Event(context, flags)
    context.owned.append(event)
    return driver.handles.add(event)


@TABLE.entry("cuEventRecord", 2000, HANDLE, HANDLE)
def event_record(driver: Driver, event: int, stream: int) -> None:
    """Now."""
    event_record_with_flags(driver, event, stream, 0)


@TABLE.entry("cuEventRecordWithFlags", 11010, HANDLE, HANDLE, UINT)
def event_record_with_flags(driver: Driver, event: int, handle: int, flags: int) -> None:
    """Now; in a capture a mark, or with the external flag a node."""
    recorded, stream = driver.handles.get(Event, event), driver.stream(handle)
    if recorded.context is not stream.context:
        raise DriverError(Result.INVALID_HANDLE, "event and stream belong to two contexts")
    capture = capturing.capture_of(stream)
    if flags == EXTERNAL and capture is not None:
        capturing.capture_node(driver, stream, capture, RecordWork(recorded))
        return
    capturing.record(driver, recorded, stream)


@TABLE.entry("cuEventQuery", 2000, HANDLE)
@TABLE.entry("cuEventSynchronize", 2000, HANDLE)
def event_synchronize(driver: Driver, event: int) -> None:
    """Done, also where it was never recorded."""
    if driver.handles.get(Event, event).capture is not None:
        raise DriverError(Result.CAPTURED_EVENT)


@TABLE.entry("cuEventDestroy", 4000, HANDLE)
def event_destroy(driver: Driver, event: int) -> None:
    """Graphs that record it keep it."""
    destroyed = driver.handles.get(Event, event)
    driver.handles.remove(destroyed)
    destroyed.context.owned.remove(destroyed)


@TABLE.entry("cuEventElapsedTime", 12080, out(c.c_float), HANDLE, HANDLE)
def event_elapsed_time(driver: Driver, start: int, end: int) -> float:
    """In milliseconds. Both must have been recorded and take time."""
    first, second = driver.handles.get(Event, start), driver.handles.get(Event, end)
    if (first.flags | second.flags) & EVENT_DISABLE_TIMING:
        raise DriverError(Result.INVALID_HANDLE, "an event takes no time")
    if first.recorded_ms is None or second.recorded_ms is None:
        raise DriverError(Result.INVALID_HANDLE, "an event was not recorded")
    return second.recorded_ms - first.recorded_ms
