"""Recordings of imported graphs: contents before and after, and what each node left; and what differs from one.

Receives an imported graph on a device; guarantees that a run of the same graph on the same kind of device, from the
same contents, either leaves the recorded bytes or is told the first node that does not. Nodes are those of the graph
itself; a child graph is one of them. A node's digest is the SHA-256 of all allocations that it was given addresses of,
since nobody says which bytes a kernel writes.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256

import attrs
import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph, ImportedRecording
from cgraph.backends.cuda.imported.protocol import ImportedRun
from cgraph.backends.cuda.imported.stepping import named_allocations, topological_order
from cgraph.backends.protocol import OnNode
from cgraph.capture.digests import UNFINISHED
from cgraph.capture.imported.problems import ImportedNodeDiffers
from cgraph.capture.problems_replay import ResultDiffers
from cgraph.capture.replay import Replay
from cgraph.diagnostics import Problem

Bytes = NDArray[np.uint8]
ALONE = "node by node every one leaves what it left in the recording: nodes that overlap in time disturb it"


def record_imported(executable: ImportedRun, on_node: OnNode | None, keep: Callable[[ImportedGraph], None]) -> None:
    """Does a run node by node and hands over the graph with its recording, also where the run raises."""
    graph = executable.graph
    before = _contents(executable, graph)
    digests = [UNFINISHED] * len(graph.levels[0].nodes)
    outputs: dict[int, Bytes] = {}

    def after(index: int, elapsed_ms: float) -> None:
        digests[index] = _digest(graph, index, executable.get)
        if on_node is not None:
            on_node(index, elapsed_ms)

    try:
        executable.run_each(after)
        outputs = _contents(executable, graph)
    finally:
        recording = ImportedRecording(executable.device_name, outputs, tuple(digests))
        data = {number: contents for number, contents in before.items() if contents.any()}
        keep(attrs.evolve(graph, data=data, recording=recording))


def find_imported_difference(replay: Replay, graph: ImportedGraph, recording: ImportedRecording) -> Problem | None:
    """The first thing in which a replay differs from a recording; None where nothing does.

    The graph is run as a whole and compared, then node by node. The replay's planes end as that left them.

    Args:
        replay: nothing of it may be bound to other memory or set to other scalars.
        graph: that it replays.
        recording: of the graph.

    Raises:
        ProblemsFound: a run fails.
    """
    replay.reset()
    replay.run()
    found = next(_different(replay, graph, recording), None)
    replay.reset()
    now: dict[int, bytes] = {}
    left: dict[int, tuple[str, ...]] = {}

    def after(index: int, _elapsed_ms: float) -> None:
        now[index] = _digest(graph, index, replay.get)
        if not left and recording.node_digests[index] not in (UNFINISHED, now[index]):
            left[index] = tuple(_details(replay, graph, recording, index))

    replay.run(after)
    for index, details in left.items():
        return ImportedNodeDiffers(None, graph.describe(0, index), recording.device, details)
    return found


def _contents(executable: ImportedRun, graph: ImportedGraph) -> dict[int, Bytes]:
    """Every allocation's bytes; the first planes are the allocations, in their order."""
    return {number: executable.get(graph.planes[number].name) for number in range(len(graph.allocations))}


def _digest(graph: ImportedGraph, index: int, get: Callable[[str], Bytes]) -> bytes:
    digest = sha256()
    for number in named_allocations(graph, index):
        digest.update(get(graph.planes[number].name).data)
    return digest.digest()


def _different(replay: Replay, graph: ImportedGraph, recording: ImportedRecording) -> Iterator[ResultDiffers]:
    for number, recorded in recording.outputs.items():
        name = graph.planes[number].name
        found = replay.get(name)
        if not np.array_equal(recorded, found):
            yield ResultDiffers(None, name, describe_bytes(recorded, found), ALONE)


def describe_bytes(expected: Bytes, found: Bytes) -> str:
    """How many bytes differ, and which is the first."""
    places = np.flatnonzero(expected != found)
    first = int(places[0])
    values = f"0x{expected[first]:02x} in the recording and 0x{found[first]:02x} now"
    return f"{places.size} of {expected.size} bytes differ, first byte {first}: {values}"


def _details(replay: Replay, graph: ImportedGraph, recording: ImportedRecording, index: int) -> Iterator[str]:
    """For each allocation that a node was given, how it differs; values are known where no later node was given it."""
    order = topological_order(graph.levels[0])
    later = {number for other in order[order.index(index) + 1 :] for number in named_allocations(graph, other)}
    for number in named_allocations(graph, index):
        name = graph.planes[number].name
        recorded = recording.outputs.get(number)
        if recorded is None or number in later:
            yield f"it was given plane {name}, whose contents right after it are not in the recording"
            continue
        found = replay.get(name)
        same = np.array_equal(recorded, found)
        yield f"plane {name}: " + ("as recorded" if same else describe_bytes(recorded, found))
