"""One CUDA graph of all commands, with explicit edges, instantiated.

Receives pieces and a schedule; guarantees an edge for every predecessor that the schedule names, or a path through an
empty node where many commands wait for the same many. Owner: the executable, which must outlive no memory and no module
that the nodes name.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls, failure
from cgraph.backends.cuda.pieces import Piece
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Node
from cgraph.schedule.model import Schedule


@define(eq=False)
class InstantiatedGraph:
    """The graph, and the executable one that is launched.

    Args:
        pieces: of each command, by its index, with the driver's node of each.
    """

    graph: Any
    executable: Any
    pieces: tuple[tuple[tuple[Piece, Any], ...], ...] = field(repr=False)

    def close(self) -> None:
        """Destroys both, once or again. Errors are left to whoever uses the device next."""
        if self.graph is None:
            return
        cu.cuGraphExecDestroy(self.executable)
        cu.cuGraphDestroy(self.graph)
        self.graph = self.executable = None


def instantiate(pieces: Sequence[Sequence[Piece]], schedule: Schedule, call: Calls, stream: Any) -> InstantiatedGraph:
    """Builds the graph in the current context, instantiates it and puts it on the device.

    Args:
        pieces: of each command, by its index; a command has at least one.
        schedule: of the commands.
        call: makes the driver's calls.
        stream: on which the graph is brought to the device.

    Raises:
        ProblemsFound: CG742, naming the command that the driver does not take.
    """
    graph = call(cu.cuGraphCreate, 0)
    try:
        handles = _add_pieces(pieces, schedule, call, graph)
        made = tuple(tuple(zip(*pair, strict=True)) for pair in zip(pieces, handles, strict=True))
        executable = _instantiate(graph, made)
    except BaseException:
        cu.cuGraphDestroy(graph)
        raise
    result = InstantiatedGraph(graph, executable, made)
    try:
        call(cu.cuGraphUpload, executable, stream)
    except BaseException:
        result.close()
        raise
    return result


def _add_pieces(pieces: Sequence[Sequence[Piece]], schedule: Schedule, call: Calls, graph: Any) -> list[list[Any]]:
    """The driver's node of each piece of each command."""
    # Commands behind one barrier share the tuple of their predecessors, which is then one empty node.
    uses = Counter(id(direct) for direct in schedule.predecessors if len(direct) > 1)
    meetings: dict[int, list[Any]] = {}
    handles: list[list[Any]] = [[] for _ in pieces]
    for index in schedule.sequence:
        direct = schedule.predecessors[index]
        before = meetings.get(id(direct))
        if before is None:
            before = [handles[earlier][-1] for earlier in direct]
            if uses[id(direct)] > 1:
                before = [call(cu.cuGraphAddEmptyNode, graph, before, len(before))]
                meetings[id(direct)] = before
        for piece in pieces[index]:
            handles[index].append(piece.add(call, graph, before))
            before = [handles[index][-1]]
    return handles


def _instantiate(graph: Any, made: Sequence[Sequence[tuple[Piece, Any]]]) -> Any:
    params = cu.CUDA_GRAPH_INSTANTIATE_PARAMS()
    result, executable = cu.cuGraphInstantiateWithParams(graph, params)
    if result != cu.CUresult.CUDA_SUCCESS:
        raise ProblemsFound([failure("cuGraphInstantiateWithParams", result, _command(int(params.hErrNode_out), made))])
    return executable


def _command(handle: int, made: Sequence[Sequence[tuple[Piece, Any]]]) -> Node | None:
    """The command whose node has a handle."""
    return next((piece.node for pieces in made for piece, found in pieces if int(found) == handle), None)
