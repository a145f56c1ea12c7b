"""Walks a live graph: its nodes, edges and child graphs, with addresses still in them.

Receives a CUgraph; guarantees that nothing of it changes, that every node is read or named with the reason why it can't
be imported, and that a child graph's level stands behind the level that has its node.

Source: cuda.h, CUgraphNodeType and the getters of each type.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import define, field, frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.model import Edge, EmptyNode, EventRecordNode, EventWaitNode, node_place
from cgraph.backends.cuda.imported.problems_imported import NodeNotImported
from cgraph.backends.cuda.imported.reading_kernels import KernelReader, RawKernel
from cgraph.diagnostics import Problem

_TYPE = cu.CUgraphNodeType
ARRAY = cu.CUmemorytype.CU_MEMORYTYPE_ARRAY
HOST = cu.CUmemorytype.CU_MEMORYTYPE_HOST
DEVICE = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE

REFUSED: Mapping[Any, str] = {
    _TYPE.CU_GRAPH_NODE_TYPE_HOST: "it calls a function of this process",
    _TYPE.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: "it signals a semaphore of another API",
    _TYPE.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: "it waits for a semaphore of another API",
    _TYPE.CU_GRAPH_NODE_TYPE_MEM_ALLOC: "it allocates memory while the graph runs",
    _TYPE.CU_GRAPH_NODE_TYPE_MEM_FREE: "it frees memory that an allocation node made",
    _TYPE.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: "it waits for or writes to addresses that others watch",
    _TYPE.CU_GRAPH_NODE_TYPE_CONDITIONAL: "the driver does not tell the graphs inside it",
}
UNKNOWN = "its type is not known here"


@frozen
class RawMemset:
    """A memset node with its address."""

    address: int
    pitch_bytes: int
    value: int
    element_bytes: int
    width: int
    height: int


@frozen
class RawSide:
    """One end of a copy with its address. `pageable` says that it may lie in memory that the driver does not know."""

    address: int
    pitch_bytes: int
    slice_rows: int
    on_host: bool
    pageable: bool


@frozen
class RawMemcpy:
    """A memcpy node with its addresses."""

    target: RawSide
    source: RawSide
    width_bytes: int
    height: int
    depth: int


@frozen
class RawChild:
    """A child graph node: the number of its level."""

    level: int


RawNode: TypeAlias = RawKernel | RawMemset | RawMemcpy | RawChild | EmptyNode | EventRecordNode | EventWaitNode


@frozen(eq=False)
class RawLevel:
    """The nodes of a graph or of a child graph; None stands for one that can't be imported."""

    nodes: tuple[RawNode | None, ...]
    edges: tuple[Edge, ...]


@define(eq=False)
class GraphWalk:
    """What a walk has found so far.

    Args:
        events: number of each event, by handle.
        problems: nodes that can't be imported.
    """

    call: Calls
    kernels: KernelReader = field(init=False)
    levels: list[RawLevel] = field(factory=list)
    events: dict[int, int] = field(factory=dict)
    problems: list[Problem] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.kernels = KernelReader(self.call)

    def walk(self, graph: Any) -> None:
        """Reads the graph and, behind it, all child graphs. Raises ProblemsFound (CG742)."""
        waiting = [graph]
        # The list grows while it is read: a child graph's level is its place in it.
        for number, level in enumerate(waiting):
            handles = self._nodes(level)
            nodes = tuple(self._read(handle, number, index, waiting) for index, handle in enumerate(handles))
            self.levels.append(RawLevel(nodes, self._edges(level, handles)))

    def _nodes(self, graph: Any) -> list[Any]:
        _none, count = self.call(cu.cuGraphGetNodes, graph)
        return self.call(cu.cuGraphGetNodes, graph, count)[0][:count] if count else []

    def _edges(self, graph: Any, handles: list[Any]) -> tuple[Edge, ...]:
        *_none, count = self.call(cu.cuGraphGetEdges, graph)
        if not count:
            return ()
        before, after, data, _count = self.call(cu.cuGraphGetEdges, graph, count)
        place = {int(handle): index for index, handle in enumerate(handles)}
        return tuple(
            Edge(place[int(first)], place[int(second)], of.from_port, of.to_port, int(of.type))
            for first, second, of in zip(before, after, data, strict=True)
        )

    def _read(self, handle: Any, level: int, index: int, waiting: list[Any]) -> RawNode | None:
        found: RawNode | str
        try:
            kind = self.call(cu.cuGraphNodeGetType, handle)
        except ValueError:
            # The bindings have no name for it.
            self.problems.append(NodeNotImported(None, node_place(level, index), UNKNOWN))
            return None
        match kind:
            case _TYPE.CU_GRAPH_NODE_TYPE_KERNEL:
                found = self.kernels.read(handle)
            case _TYPE.CU_GRAPH_NODE_TYPE_MEMSET:
                found = _memset(self.call(cu.cuGraphMemsetNodeGetParams, handle))
            case _TYPE.CU_GRAPH_NODE_TYPE_MEMCPY:
                found = _memcpy(self.call(cu.cuGraphMemcpyNodeGetParams, handle))
            case _TYPE.CU_GRAPH_NODE_TYPE_EMPTY:
                found = EmptyNode()
            case _TYPE.CU_GRAPH_NODE_TYPE_GRAPH:
                waiting.append(self.call(cu.cuGraphChildGraphNodeGetGraph, handle))
                found = RawChild(len(waiting) - 1)
            case _TYPE.CU_GRAPH_NODE_TYPE_EVENT_RECORD:
                found = EventRecordNode(self._event(self.call(cu.cuGraphEventRecordNodeGetEvent, handle)))
            case _TYPE.CU_GRAPH_NODE_TYPE_WAIT_EVENT:
                found = EventWaitNode(self._event(self.call(cu.cuGraphEventWaitNodeGetEvent, handle)))
            case _:
                found = REFUSED.get(kind, UNKNOWN)
        if not isinstance(found, str):
            return found
        name = kind.name.removeprefix("CU_GRAPH_NODE_TYPE_").lower().replace("_", " ")
        self.problems.append(NodeNotImported(None, f"{node_place(level, index)} ({name})", found))
        return None

    def _event(self, event: Any) -> int:
        return self.events.setdefault(int(event), len(self.events))


def _memset(params: Any) -> RawMemset:
    return RawMemset(int(params.dst), params.pitch, params.value, params.elementSize, params.width, params.height)


def _memcpy(params: Any) -> RawMemcpy | str:
    if ARRAY in (params.srcMemoryType, params.dstMemoryType):
        return "it copies from or to an array, whose layout the driver does not tell"
    return RawMemcpy(_side(params, "dst"), _side(params, "src"), params.WidthInBytes, params.Height, params.Depth)


def _side(params: Any, side: str) -> RawSide:
    """One end of a copy; where it begins is put into its address."""
    kind = getattr(params, f"{side}MemoryType")
    base = int(getattr(params, f"{side}Host" if kind == HOST else f"{side}Device") or 0)
    pitch, rows = getattr(params, f"{side}Pitch"), getattr(params, f"{side}Height")
    x, y, z = (getattr(params, f"{side}{part}") for part in ("XInBytes", "Y", "Z"))
    return RawSide(base + x + pitch * (y + rows * z), pitch, rows, kind == HOST, kind != DEVICE)
