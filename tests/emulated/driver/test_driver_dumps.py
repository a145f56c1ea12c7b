"""What the emulated driver prints of a graph is read back as the graph that it was made of."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, kernel_params, upload

from cgraph.view.model import View
from tests.support.dumps import examine
from tests.support.emulated import call

KINDS = ["memset", "launch", "memcpy", "event_record", "event_wait", "empty", "child"]


@pytest.fixture
def whole(graph: Any, module: Any) -> Any:
    """A graph with each kind of node: a diamond, then a chain, then a child that has a child of its own."""
    address = upload(np.zeros(64, np.int32))
    params = kernel_params(function(module, "addOne"), 3, 32, (address, 64), (ctypes.c_void_p, ctypes.c_int))
    params.gridDimY, params.blockDimZ, params.sharedMemBytes = 2, 2, 48
    fill = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 7, 16), None)
    launch = call(cu.cuGraphAddKernelNode, graph, [fill], 1, params)
    copy = call(cu.cuGraphAddMemcpyNode, graph, [fill], 1, copy_params(address + 128, address, 40), None)
    event = call(cu.cuEventCreate, 0)
    record = call(cu.cuGraphAddEventRecordNode, graph, [launch, copy], 2, event)
    wait = call(cu.cuGraphAddEventWaitNode, graph, [record], 1, event)
    empty = call(cu.cuGraphAddEmptyNode, graph, [wait], 1)
    child, inner = call(cu.cuGraphCreate, 0), call(cu.cuGraphCreate, 0)
    call(cu.cuGraphAddMemsetNode, inner, [], 0, fill_params(address, 1, 4), None)
    call(cu.cuGraphAddChildGraphNode, child, [], 0, inner)
    call(cu.cuGraphAddChildGraphNode, graph, [empty], 1, child)
    return graph


def dump(graph: Any, folder: Path, flags: int) -> View:
    path = folder / "graph.dot"
    call(cu.cuGraphDebugDotPrint, graph, str(path).encode(), flags)
    reading = examine(path.read_bytes())
    assert reading.problems == ()
    return reading.view


def edges_of(graph: Any) -> set[tuple[int, int]]:
    """Pairs of places in the driver's list of nodes."""
    count = call(cu.cuGraphGetNodes, graph)[1]
    places = {int(node): place for place, node in enumerate(call(cu.cuGraphGetNodes, graph, count)[0])}
    count = call(cu.cuGraphGetEdges, graph)[3]
    before, after, _data, _count = call(cu.cuGraphGetEdges, graph, count)
    return {(places[int(one)], places[int(other)]) for one, other in zip(before, after, strict=True)}


@pytest.mark.parametrize("flags", [0, int(cu.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)])
def test_kinds_edges_and_child_graphs(whole: Any, tmp_path: Path, flags: int) -> None:
    view = dump(whole, tmp_path, flags)
    assert [node.kind for node in view.nodes] == [*KINDS, "child", "memset"]
    assert {(edge.before, edge.after) for edge in view.edges} == edges_of(whole)
    assert [phase.parent for phase in view.phases] == [None, 0]
    assert [node.phase for node in view.nodes] == [None] * 7 + [0, 1]
    assert view.nodes[6].body == (0,)
    assert view.nodes[7].body == (1,)


def test_sizes_and_bytes_of_a_verbose_dump(whole: Any, tmp_path: Path) -> None:
    view = dump(whole, tmp_path, int(cu.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE))
    fill, launch, copy, *_, inner = view.nodes
    assert (launch.label, launch.grid, launch.block, launch.shared_bytes) == ("addOne", (3, 2, 1), (32, 1, 2), 48)
    assert (fill.written_bytes, fill.label) == (16 * 4, "memset with 7")
    assert (copy.read_bytes, copy.written_bytes, copy.label) == (40, 40, "memcpy DtoD")
    assert (inner.written_bytes, inner.label) == (4 * 4, "memset with 1")
    handles = [int(dict(node.details)["node handle"], 16) for node in view.nodes[:6]]
    assert handles == [int(node) for node in call(cu.cuGraphGetNodes, whole, 7)[0]][:6]
