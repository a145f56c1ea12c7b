"""Builds a CUDA graph anew from an imported one.

Receives an imported graph, memory, functions and events; guarantees a graph with the same nodes in the same order, the
same edges with their data in the same order, and child graphs as such.
"""

import ctypes as c
from collections.abc import Sequence
from typing import Any

from attrs import field, frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls, failure
from cgraph.backends.cuda.imported.attributes import apply_node_attributes
from cgraph.backends.cuda.imported.memory import ImportedMemory
from cgraph.backends.cuda.imported.model import (
    POINTER_BYTES,
    ChildGraphNode,
    CopySide,
    Edge,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ImportedGraph,
    ImportedNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    ParameterPlace,
)
from cgraph.backends.cuda.imported.problems_imported import ImportedNodeFailed
from cgraph.diagnostics import ProblemsFound

SUCCESS = cu.CUresult.CUDA_SUCCESS
HOST, DEVICE = cu.CUmemorytype.CU_MEMORYTYPE_HOST, cu.CUmemorytype.CU_MEMORYTYPE_DEVICE


@frozen(eq=False)
class Parts:
    """What nodes are made of: memory, functions with parameters by kernel, events by number, the context of all."""

    memory: ImportedMemory
    functions: Sequence[tuple[Any, tuple[ParameterPlace, ...]]] = field(repr=False)
    events: Sequence[Any] = field(repr=False)
    context: Any = field(repr=False)


@frozen(eq=False)
class BuiltGraph:
    """The driver's graph, and its nodes in their order; those of child graphs belong to their nodes."""

    graph: Any
    nodes: tuple[Any, ...] = field(repr=False)


def build(imported: ImportedGraph, parts: Parts, call: Calls) -> BuiltGraph:
    """The graph, in the current context. The caller destroys it.

    Raises:
        ProblemsFound: CG859 naming the node that the driver does not take, CG742 for all else.
    """
    graphs: dict[int, Any] = {}
    nodes: list[Any] = []
    try:
        # A child graph's level stands behind that of its node, so the last level is made first.
        for number in reversed(range(len(imported.levels))):
            graphs[number] = call(cu.cuGraphCreate, 0)
            nodes = [
                _add(call, graphs, parts, node, imported.describe(number, index), graphs[number])
                for index, node in enumerate(imported.levels[number].nodes)
            ]
            _add_edges(call, graphs[number], nodes, imported.levels[number].edges)
    except BaseException:
        for graph in graphs.values():
            cu.cuGraphDestroy(graph)
        raise
    return BuiltGraph(graphs[0], tuple(nodes))


def _add(call: Calls, graphs: dict[int, Any], parts: Parts, node: ImportedNode, where: str, graph: Any) -> Any:
    function, arguments, _kept = _call_for(node, parts, graphs)
    result, added = function(graph, [], 0, *arguments)
    if result != SUCCESS:
        said = failure(function.__name__, result)
        raise ProblemsFound([ImportedNodeFailed(None, said.call, where, said.error, said.text)])
    if isinstance(node, KernelNode):
        apply_node_attributes(call, added, dict(node.attributes))
    elif isinstance(node, ChildGraphNode):
        # The node has a copy of its own.
        call(cu.cuGraphDestroy, graphs.pop(node.level))
    return added


def _call_for(node: ImportedNode, parts: Parts, graphs: dict[int, Any]) -> tuple[Any, tuple[Any, ...], Any]:
    """The driver's function, its last arguments, and what must live until it has copied the values."""
    match node:
        case KernelNode():
            params, kept = _kernel_params(node, parts)
            return cu.cuGraphAddKernelNode, (params,), kept
        case MemsetNode():
            return cu.cuGraphAddMemsetNode, (_memset_params(node, parts.memory), parts.context), None
        case MemcpyNode():
            return cu.cuGraphAddMemcpyNode, (_memcpy_params(node, parts.memory), parts.context), None
        case EmptyNode():
            return cu.cuGraphAddEmptyNode, (), None
        case ChildGraphNode():
            return cu.cuGraphAddChildGraphNode, (graphs[node.level],), None
        case EventRecordNode():
            return cu.cuGraphAddEventRecordNode, (parts.events[node.event],), None
        case EventWaitNode():
            return cu.cuGraphAddEventWaitNode, (parts.events[node.event],), None


def _add_edges(call: Calls, graph: Any, nodes: Sequence[Any], edges: Sequence[Edge]) -> None:
    if edges:
        before, after = [nodes[edge.before] for edge in edges], [nodes[edge.after] for edge in edges]
        call(cu.cuGraphAddDependencies, graph, before, after, [_edge_data(edge) for edge in edges], len(edges))


def _edge_data(edge: Edge) -> Any:
    data = cu.CUgraphEdgeData()
    if not edge.is_plain:
        data.from_port, data.to_port = edge.from_port, edge.to_port
        data.type = cu.CUgraphDependencyType(edge.type)
    return data


def _kernel_params(node: KernelNode, parts: Parts) -> tuple[Any, Any]:
    """The parameters, and what must live until the driver has copied the values."""
    function, places = parts.functions[node.kernel]
    buffer = (c.c_ubyte * max(1, len(node.arguments))).from_buffer_copy(node.arguments or b"\0")
    start = c.addressof(buffer)
    for relocation in node.relocations:
        address = parts.memory.address(relocation.place)
        c.memmove(start + relocation.position, address.to_bytes(POINTER_BYTES, "little"), POINTER_BYTES)
    pointers = (c.c_void_p * max(1, len(places)))(*(start + place.offset for place in places))
    params = cu.CUDA_KERNEL_NODE_PARAMS()
    params.func, params.ctx = function, parts.context
    params.gridDimX, params.gridDimY, params.gridDimZ = node.grid
    params.blockDimX, params.blockDimY, params.blockDimZ = node.block
    params.sharedMemBytes = node.shared_bytes
    params.kernelParams = c.addressof(pointers) if places else 0
    return params, (buffer, pointers)


def _memset_params(node: MemsetNode, memory: ImportedMemory) -> Any:
    params = cu.CUDA_MEMSET_NODE_PARAMS()
    params.dst, params.value, params.elementSize = memory.address(node.target), node.value, node.element_bytes
    params.pitch, params.width, params.height = node.pitch_bytes, node.width, node.height
    return params


def _memcpy_params(node: MemcpyNode, memory: ImportedMemory) -> Any:
    params = cu.CUDA_MEMCPY3D()
    _set_side(params, "dst", node.target, memory)
    _set_side(params, "src", node.source, memory)
    params.WidthInBytes, params.Height, params.Depth = node.width_bytes, node.height, node.depth
    return params


def _set_side(params: Any, name: str, side: CopySide, memory: ImportedMemory) -> None:
    on_host = memory.on_host[side.place.allocation]
    setattr(params, f"{name}MemoryType", HOST if on_host else DEVICE)
    setattr(params, f"{name}Host" if on_host else f"{name}Device", memory.address(side.place))
    setattr(params, f"{name}Pitch", side.pitch_bytes)
    setattr(params, f"{name}Height", side.slice_rows)
