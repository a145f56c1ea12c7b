"""Compares a replay with the recorded run, bit for bit, and finds the first command that differs.

Receives a replay whose bundle holds a recording of the same kind of device; guarantees that nothing is found where
every result and every command's digest is the recorded one. The graph is run as a whole and its results compared; then
it is run command by command, and the first digest that differs names the command: all that ran before it wrote what it
wrote in the recording. How results of another device may differ is left to the caller.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.commands import describe
from cgraph.backends.protocol import OnNode
from cgraph.backends.recording_hook import Steppable, watched_by
from cgraph.capture.digests import UNFINISHED, digest_of
from cgraph.capture.model import Bundle, Recording
from cgraph.capture.problems_replay import CommandDiffers, ResultDiffers
from cgraph.capture.replay import Replay
from cgraph.diagnostics import Problem
from cgraph.graph.model import Access, CommandGraph, LaunchNode, Node

ALONE = "command by command every one writes what it wrote in the recording: commands that overlap in time disturb it"


class _FoundError(Exception):
    """Ends a run at the first command that differs."""


def same_kind(replay: Replay, recording: Recording) -> bool:
    """Whether the replay's device is of the kind that the recording is from, so that its bits should be the same."""
    return recording.device.partition(":")[0] == replay.device.kind.value


def find_difference(replay: Replay, bundle: Bundle, recording: Recording) -> Problem | None:
    """The first thing in which a replay differs from a recording of the same kind of device; None where nothing does.

    The replay's planes begin with the bundle's contents and end with the results of the replay.

    Args:
        replay: nothing of it may be bound to other memory or set to other scalars.
        bundle: that it replays.
        recording: of the bundle.

    Raises:
        ProblemsFound: a run fails.
    """
    replay.reset()
    replay.run()
    graph = bundle.graph
    different = [name for name, array in recording.outputs.items() if not _same_bits(array, replay.get(name))]
    if recording.node_digests:
        replay.reset()
        node, problem = _first_command(replay, graph, recording)
        if node is not None:
            return problem
    for plane in graph.planes:
        if plane.name in different:
            difference = describe_difference(recording.outputs[plane.name], replay.get(plane.name))
            explanation = ALONE if recording.node_digests else ""
            return ResultDiffers(plane.span, plane.name, difference, explanation)
    return None


def describe_difference(expected: NDArray[Any], found: NDArray[Any]) -> str:
    """How many elements differ, and by how much at most where both are numbers."""
    bits = (np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}") for array in (expected, found))
    differ = np.not_equal(*bits)
    count = int(np.count_nonzero(differ))
    wanted, got = (array.reshape(-1)[differ].astype(np.float64) for array in (expected, found))
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.abs(wanted - got)
    finite = distances[np.isfinite(distances)]
    largest = f", by {finite.max():.3g} at most" if finite.size else ""
    unbounded = "" if finite.size == count else f", {count - finite.size} of them not finite"
    return f"{count} of {expected.size} elements differ{largest}{unbounded}"


def _first_command(replay: Replay, graph: CommandGraph, recording: Recording) -> tuple[int | None, Problem | None]:
    """Index of the first command whose digest differs, and the problem of it."""
    found: list[tuple[int, Problem]] = []

    def watch(executable: Steppable, _on_node: OnNode | None) -> None:
        def after(index: int, _elapsed_ms: float) -> None:
            node, recorded = graph.nodes[index], recording.node_digests[index]
            if recorded not in (UNFINISHED, digest_of(node, executable.bytes_of)):
                found.append((index, _problem(graph, node, recording, executable)))
                raise _FoundError

        executable.run_each(after)

    with watched_by(watch):
        try:
            replay.run()
        except _FoundError:
            return found[0]
    return None, None


def _problem(graph: CommandGraph, node: Node, recording: Recording, executable: Steppable) -> Problem:
    signature = node.image.signature if isinstance(node, LaunchNode) else None
    return CommandDiffers(
        node.origin.span,
        describe(node),
        "" if signature is None else f"{signature.entry} of {signature.file}",
        "" if node.phase is None else graph.phases[node.phase].title,
        recording.device,
        tuple(_details(graph, node, recording, executable)),
        node.origin,
    )


def _details(graph: CommandGraph, node: Node, recording: Recording, executable: Steppable) -> Iterator[str]:
    """For each part that a command writes, how it differs; values are known where no later command writes there."""
    for access in node.accesses:
        if not access.mode.writes:
            continue
        plane = graph.planes[access.plane]
        recorded = recording.outputs.get(plane.name)
        if recorded is None:
            yield f"it writes plane {plane.name}, whose values are not in the recording"
        elif _is_written_later(graph, node, access):
            yield f"it writes plane {plane.name}, to which later commands write as well"
        else:
            start, stop = (offset // plane.element.size_bytes for offset in (access.start, access.stop))
            now = np.asarray(executable.bytes_of(access)).view(recorded.dtype)
            yield f"plane {plane.name}: {describe_difference(recorded.reshape(-1)[start:stop], now)}"


def _is_written_later(graph: CommandGraph, node: Node, part: Access) -> bool:
    return any(
        access.mode.writes and access.plane == part.plane and access.start < part.stop and part.start < access.stop
        for other in graph.nodes[node.index + 1 :]
        for access in other.accesses
    )


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
