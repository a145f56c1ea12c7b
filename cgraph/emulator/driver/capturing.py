"""Enqueueing work on streams, and stream capture, which turns it into nodes of a graph instead.

Work on a stream that does not capture is done at once, which is one of the orders that streams allow.
"""

import time
from itertools import count
from threading import get_ident

from attrs import define, field

from cgraph.emulator.driver.graphs import NO_EDGE_DATA, Graph, Node, add_node
from cgraph.emulator.driver.objects import Event, Stream
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import Work, perform

# CUstreamCaptureMode
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
# CUstreamCaptureStatus
STATUS_NONE, STATUS_ACTIVE, STATUS_INVALIDATED = range(3)
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING

_ids = count(1)


@define(eq=False)
class Capture:
    """A capture.

    Args:
        origin: the stream in which it began and must end.
        graph: that it fills. given: whether the program had it before.
        valid: False once a forbidden call was made.
    """

    origin: Stream
    mode: int
    graph: Graph
    given: bool = False
    valid: bool = True
    thread: int = field(factory=get_ident)
    number: int = field(factory=lambda: next(_ids))


def clock_ms() -> float:
    """Time for events, in milliseconds."""
    return 1e3 * time.perf_counter()


def capture_of(stream: Stream) -> Capture | None:
    """The capture that a stream takes part in. Raises DriverError where it was invalidated."""
    capture: Capture | None = stream.capture
    if capture is not None and not capture.valid:
        raise DriverError(Result.STREAM_CAPTURE_INVALIDATED)
    return capture


def enqueue(driver: Driver, stream: Stream, work: Work) -> None:
    """Does work, or adds a node for it where the stream captures.

    Raises:
        DriverError: the stream is the default one and another, which waits for it, captures.
    """
    capture = capture_of(stream)
    if capture is not None:
        capture_node(driver, stream, capture, work)
        return
    _forbid_implicit_wait(driver, stream)
    perform(driver, stream.context, work, clock_ms)


def capture_node(driver: Driver, stream: Stream, capture: Capture, work: Work) -> Node:
    """Adds a node behind the stream's last ones."""
    dependencies = [(tip, NO_EDGE_DATA) for tip in stream.tips]
    node = add_node(driver, capture.graph, work, stream.context, dependencies)
    stream.tips = (node,)
    return node


def forbid_unsafe_calls(driver: Driver) -> None:
    """Raises DriverError where a call might wait for a capturing stream; the capture is invalid from then on."""
    own_mode = driver.thread_mode
    for capture in list(driver.captures):
        if RELAXED in (capture.mode, own_mode):
            continue
        if (capture.mode == GLOBAL and own_mode == GLOBAL) or capture.thread == get_ident():
            capture.valid = False
            raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "a stream is capturing")


def forbid_capture(stream: Stream) -> None:
    """Raises DriverError where a stream captures, which is invalid from then on: nobody can wait for such a stream."""
    capture = capture_of(stream)
    if capture is not None:
        capture.valid = False
        raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "the stream is capturing")


def begin(driver: Driver, stream: Stream, mode: int, graph: Graph, *, given: bool, tips: tuple[Node, ...]) -> None:
    """Begins a capture. Raises DriverError for the default stream, one that captures, or an unknown mode."""
    if mode not in (GLOBAL, THREAD_LOCAL, RELAXED):
        raise DriverError(Result.INVALID_VALUE, f"{mode} is no capture mode")
    if stream.handle == 0:
        raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "the default stream does not capture")
    if stream.capture is not None:
        raise DriverError(Result.INVALID_VALUE, "the stream captures already")
    stream.capture = Capture(stream, mode, graph, given)
    stream.tips = tips
    driver.captures.append(stream.capture)


def end(driver: Driver, stream: Stream) -> Graph:
    """Ends the capture that began in a stream and gives its graph.

    Raises:
        DriverError: none began there, a forbidden call was made meanwhile, or another stream's work was not joined.
    """
    capture: Capture | None = stream.capture
    if capture is None:
        raise DriverError(Result.INVALID_VALUE, "the stream does not capture")
    if capture.origin is not stream:
        raise DriverError(Result.STREAM_CAPTURE_UNMATCHED)
    if capture.mode != RELAXED and capture.thread != get_ident():
        raise DriverError(Result.STREAM_CAPTURE_WRONG_THREAD)
    tips = stream.tips
    for other in [stream, *driver.handles.all(Stream)]:
        if other.capture is capture:
            other.capture, other.tips = None, ()
    driver.captures.remove(capture)
    if not capture.valid:
        raise DriverError(Result.STREAM_CAPTURE_INVALIDATED)
    if any(not node.dependents and node not in tips for node in capture.graph.nodes):
        raise DriverError(Result.STREAM_CAPTURE_UNJOINED)
    return capture.graph


def record(driver: Driver, event: Event, stream: Stream) -> None:
    """Records an event; in a capture it marks a place in the graph."""
    capture = capture_of(stream)
    if capture is None:
        _forbid_implicit_wait(driver, stream)
        event.recorded_ms, event.capture, event.tips = clock_ms(), None, ()
    else:
        event.recorded_ms, event.capture, event.tips = None, capture, stream.tips


def wait(stream: Stream, event: Event) -> None:
    """Makes a stream wait for an event; one that was recorded in a capture draws the stream into it.

    Raises:
        DriverError: the event was recorded in no capture or another one.
    """
    capture = capture_of(stream)
    if event.capture is not None and not event.capture.valid:
        raise DriverError(Result.STREAM_CAPTURE_INVALIDATED)
    if capture is None and event.capture is None:
        return
    if event.capture is None:
        raise DriverError(Result.STREAM_CAPTURE_ISOLATION)
    if event.capture not in (capture, None) and capture is not None:
        raise DriverError(Result.STREAM_CAPTURE_MERGE)
    if stream.handle == 0:
        raise DriverError(Result.STREAM_CAPTURE_IMPLICIT)
    stream.capture = event.capture
    stream.tips = tuple(dict.fromkeys((*stream.tips, *event.tips)))


def _forbid_implicit_wait(driver: Driver, stream: Stream) -> None:
    """The default stream waits for every other one that is not non-blocking."""
    if stream.handle != 0:
        return
    for other in driver.handles.all(Stream) if driver.captures else ():
        if other.capture is not None and other.context is stream.context and not other.flags & NON_BLOCKING:
            other.capture.valid = False
            raise DriverError(Result.STREAM_CAPTURE_IMPLICIT)
