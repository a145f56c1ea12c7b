"""Runs commands one by one and takes the time of each.

Nothing overlaps, so the times add up to more than a launch of the graph takes; they say where the work is.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

from cuda.bindings import driver as cu

from cgraph.backends.cuda.context import DeviceContext
from cgraph.backends.cuda.pieces import Piece
from cgraph.backends.protocol import OnNode
from cgraph.schedule.model import Schedule

COMMANDS_AT_ONCE = 256  # between two waits for the device; bounds the number of events


def run_timed(
    schedule: Schedule,
    pieces: Sequence[Sequence[tuple[Piece, Any]]],
    device: DeviceContext,
    on_node: OnNode,
    note: Callable[[int], None],
) -> None:
    """Runs all commands in the schedule's sequence, in the current context.

    Args:
        schedule: of the commands.
        pieces: of each command, by its index.
        device: on whose stream they run.
        on_node: called with each command's index and its time in milliseconds, between two events.
        note: called with a command's index when all of it was enqueued.

    Raises:
        ProblemsFound: CG742.
    """
    call, stream = device.call, device.stream
    events: list[Any] = []
    try:
        while len(events) <= min(len(schedule.sequence), COMMANDS_AT_ONCE):
            events.append(call(cu.cuEventCreate, 0))
        for start in range(0, len(schedule.sequence), COMMANDS_AT_ONCE):
            commands = schedule.sequence[start : start + COMMANDS_AT_ONCE]
            call(cu.cuEventRecord, events[0], stream)
            for index, event in zip(commands, events[1:], strict=False):
                for piece, _ in pieces[index]:
                    piece.enqueue(call, stream)
                note(index)
                call(cu.cuEventRecord, event, stream)
            device.synchronize()
            for index, (before, after) in zip(commands, pairwise(events), strict=False):
                on_node(index, call(cu.cuEventElapsedTime, before, after))
    finally:
        for event in events:
            cu.cuEventDestroy(event)


def run_each(
    schedule: Schedule,
    pieces: Sequence[Sequence[tuple[Piece, Any]]],
    device: DeviceContext,
    on_node: OnNode,
    note: Callable[[int], None],
) -> None:
    """Runs all commands as `run_timed` does, and waits for the device behind each.

    Args:
        schedule: of the commands.
        pieces: of each command, by its index.
        device: on whose stream they run.
        on_node: called when a command has ended, before the next begins; its time includes the wait.
        note: called before that with the command's index.

    Raises:
        ProblemsFound: CG742.
    """
    for index in schedule.sequence:
        start = perf_counter()
        for piece, _ in pieces[index]:
            piece.enqueue(device.call, device.stream)
        device.synchronize()
        note(index)
        on_node(index, 1e3 * (perf_counter() - start))
