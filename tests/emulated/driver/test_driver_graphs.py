"""Graphs on the emulated driver: what was put in comes back out, and work runs in an order that the edges allow."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, ints, upload

from tests.support.emulated import INSTALLATION, call, fails
from tests.support.emulated_runs import random_order

TYPE = cu.CUgraphNodeType


def handles(found: list[Any]) -> list[int]:
    return [int(handle) for handle in found]


def nodes_of(graph: Any) -> list[int]:
    count = call(cu.cuGraphGetNodes, graph)[1]
    return handles(call(cu.cuGraphGetNodes, graph, count)[0])


def edges_of(graph: Any) -> set[tuple[int, int]]:
    count = call(cu.cuGraphGetEdges, graph)[3]
    before, after, _data, _count = call(cu.cuGraphGetEdges, graph, count)
    return set(zip(handles(before), handles(after), strict=True))


def add_fill(graph: Any, before: list[Any], *values: int) -> Any:
    return call(cu.cuGraphAddMemsetNode, graph, before, len(before), fill_params(*values), None)


def add_copy(graph: Any, before: list[Any], *values: int) -> Any:
    return call(cu.cuGraphAddMemcpyNode, graph, before, len(before), copy_params(*values), None)


def launch(graph: Any, stream: Any) -> None:
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuGraphLaunch, executable, stream)
    call(cu.cuStreamSynchronize, stream)
    call(cu.cuGraphExecDestroy, executable)


def test_a_diamond(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    top = add_fill(graph, [], address, 7, 1)
    left = add_copy(graph, [top], address + 4, address, 4)
    right = add_copy(graph, [top], address + 8, address, 4)
    bottom = call(cu.cuGraphAddEmptyNode, graph, [left, right], 2)
    assert ints(address, 4) == [0, 0, 0, 0]
    launch(graph, stream)
    assert ints(address, 4) == [7, 7, 7, 0]

    assert nodes_of(graph) == handles([top, left, right, bottom])
    pairs = [(top, left), (top, right), (left, bottom), (right, bottom)]
    assert edges_of(graph) == {(int(one), int(other)) for one, other in pairs}
    assert handles(call(cu.cuGraphGetRootNodes, graph, 1)[0]) == [int(top)]
    found, _data, count = call(cu.cuGraphNodeGetDependencies, bottom, 2)
    assert (handles(found), count) == (handles([left, right]), 2)
    found, _data, count = call(cu.cuGraphNodeGetDependentNodes, top, 2)
    assert (handles(found), count) == (handles([left, right]), 2)
    types = [call(cu.cuGraphNodeGetType, node) for node in (top, left, bottom)]
    memset, memcpy = TYPE.CU_GRAPH_NODE_TYPE_MEMSET, TYPE.CU_GRAPH_NODE_TYPE_MEMCPY
    assert types == [memset, memcpy, TYPE.CU_GRAPH_NODE_TYPE_EMPTY]


def test_parameters_come_back(graph: Any) -> None:
    address = upload(np.zeros(8, np.int32))
    filled = call(cu.cuGraphMemsetNodeGetParams, add_fill(graph, [], address + 2, 0x1234, 3, 2))
    assert (int(filled.dst), filled.value, filled.elementSize, filled.width, filled.height) == (
        address + 2,
        0x1234,
        2,
        3,
        1,
    )
    copied = call(cu.cuGraphMemcpyNodeGetParams, add_copy(graph, [], address, address + 16, 12))
    assert (int(copied.dstDevice), int(copied.srcDevice), copied.WidthInBytes) == (address, address + 16, 12)


def test_edges_decide(graph: Any, stream: Any) -> None:
    """The second node is added first; without the edge it would run first."""
    address = upload(np.array([1, 2], np.int32))
    second = add_copy(graph, [], address + 4, address, 4)
    first = add_fill(graph, [], address, 9, 1)
    call(cu.cuGraphAddDependencies, graph, [first], [second], [cu.CUgraphEdgeData()], 1)
    launch(graph, stream)
    assert ints(address, 2) == [9, 9]
    call(cu.cuGraphRemoveDependencies, graph, [first], [second], [cu.CUgraphEdgeData()], 1)
    assert edges_of(graph) == set()


def test_random_orders_bring_missing_edges_to_light(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    add_fill(graph, [], address, 1, 1)
    add_fill(graph, [], address, 2, 1)
    seen = set()
    for seed in range(20):
        with random_order(seed):
            launch(graph, stream)
        seen.update(ints(address, 1))
    assert seen == {1, 2}


def test_an_instantiated_graph_stands_alone(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    node = add_fill(graph, [], address, 3, 1)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuGraphMemsetNodeSetParams, node, fill_params(address, 4, 1))
    call(cu.cuGraphDestroyNode, node)
    call(cu.cuGraphLaunch, executable, stream)
    assert ints(address, 1) == [3]
    assert nodes_of(graph) == []


def test_child_graphs_are_copied_and_run_in_their_place(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(3, np.int32))
    inner, middle = call(cu.cuGraphCreate, 0), call(cu.cuGraphCreate, 0)
    added = add_copy(inner, [], address + 4, address, 4)
    call(cu.cuGraphAddChildGraphNode, middle, [], 0, inner)
    first = add_fill(graph, [], address, 6, 1)
    child = call(cu.cuGraphAddChildGraphNode, graph, [first], 1, middle)
    add_copy(graph, [child], address + 8, address + 4, 4)
    call(cu.cuGraphDestroyNode, added)
    call(cu.cuGraphDestroy, middle)
    launch(graph, stream)
    assert ints(address, 3) == [6, 6, 6]
    copy_of_middle = call(cu.cuGraphChildGraphNodeGetGraph, child)
    assert len(nodes_of(copy_of_middle)) == 1
    assert fails(cu.cuGraphDestroy, copy_of_middle) == "INVALID_VALUE"


def test_an_empty_child_still_orders(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    last = add_copy(graph, [], address + 4, address, 4)
    first = add_fill(graph, [], address, 8, 1)
    child = call(cu.cuGraphAddChildGraphNode, graph, [first], 1, call(cu.cuGraphCreate, 0))
    call(cu.cuGraphAddDependencies, graph, [child], [last], [cu.CUgraphEdgeData()], 1)
    launch(graph, stream)
    assert ints(address, 2) == [8, 8]


def test_clones(graph: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    first = add_fill(graph, [], address, 1, 1)
    second = add_fill(graph, [first], address, 2, 1)
    clone = call(cu.cuGraphClone, graph)
    copies = [call(cu.cuGraphNodeFindInClone, node, clone) for node in (first, second)]
    assert nodes_of(clone) == handles(copies)
    assert edges_of(clone) == {(int(copies[0]), int(copies[1]))}
    assert not set(nodes_of(clone)) & set(nodes_of(graph))
    assert fails(cu.cuGraphNodeFindInClone, copies[0], clone) == "INVALID_VALUE"


def test_a_cycle_is_found_when_instantiated(graph: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    first = add_fill(graph, [], address, 1, 1)
    second = add_fill(graph, [first], address, 2, 1)
    call(cu.cuGraphAddDependencies, graph, [second], [first], [cu.CUgraphEdgeData()], 1)
    assert fails(cu.cuGraphInstantiate, graph, 0) == "INVALID_VALUE"
    params = cu.CUDA_GRAPH_INSTANTIATE_PARAMS()
    assert fails(cu.cuGraphInstantiateWithParams, graph, params) == "INVALID_VALUE"
    assert params.result_out == cu.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
    assert int(params.hErrNode_out) in handles([first, second])


def test_events_in_a_graph(graph: Any, stream: Any) -> None:
    start, end = call(cu.cuEventCreate, 0), call(cu.cuEventCreate, 0)
    begin = call(cu.cuGraphAddEventRecordNode, graph, [], 0, start)
    middle = add_fill(graph, [begin], upload(np.zeros(1, np.int32)), 1, 1)
    call(cu.cuGraphAddEventRecordNode, graph, [middle], 1, end)
    assert fails(cu.cuEventElapsedTime, start, end) == "INVALID_HANDLE"
    launch(graph, stream)
    assert call(cu.cuEventElapsedTime, start, end) >= 0


def test_nodes_can_be_switched_off(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    node = add_fill(graph, [], address, 5, 1)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    call(cu.cuGraphNodeSetEnabled, executable, node, 0)
    call(cu.cuGraphLaunch, executable, stream)
    assert ints(address, 1) == [0]
    assert call(cu.cuGraphNodeGetEnabled, executable, node) == 0


def test_any_node_with_edge_data(graph: Any, stream: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    params = cu.CUgraphNodeParams()
    params.type = TYPE.CU_GRAPH_NODE_TYPE_MEMSET
    params.memset.dst, params.memset.value, params.memset.elementSize = address, 77, 4
    params.memset.width, params.memset.height = 1, 1
    first = call(cu.cuGraphAddNode, graph, [], [], 0, params)
    data = cu.CUgraphEdgeData()
    data.from_port = 1
    second = call(cu.cuGraphAddEmptyNode, graph, [], 0)
    call(cu.cuGraphAddDependencies, graph, [first], [second], [data], 1)
    _before, _after, found, _count = call(cu.cuGraphGetEdges, graph, 1)
    assert found[0].from_port == 1
    launch(graph, stream)
    assert ints(address, 1) == [77]


def test_dot_text(graph: Any, tmp_path: Path) -> None:
    address = upload(np.zeros(1, np.int32))
    first = add_fill(graph, [], address, 1, 1)
    call(cu.cuGraphAddChildGraphNode, graph, [first], 1, call(cu.cuGraphCreate, 0))
    for flags in (0, 1):
        call(cu.cuGraphDebugDotPrint, graph, str(tmp_path / "graph.dot").encode(), flags)
        text = (tmp_path / "graph.dot").read_text()
        assert text.startswith("digraph dot {\nsubgraph cluster_")
        assert text.count("subgraph cluster_") == 2
        assert text.count(" -> ") == 1
        assert ("[headlabel=0]" in text) is bool(flags)


def test_misuse_is_an_error_code(graph: Any) -> None:
    address = upload(np.zeros(2, np.int32))
    other = call(cu.cuGraphCreate, 0)
    first, foreign = add_fill(graph, [], address, 1, 1), add_fill(other, [], address, 1, 1)
    empty = cu.cuGraphAddEmptyNode
    assert fails(empty, graph, [foreign], 1) == "INVALID_VALUE"
    assert fails(empty, graph, [first, first], 2) == "INVALID_VALUE"
    assert fails(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 1, 0), None) == "INVALID_VALUE"
    assert fails(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 1, 1, 3), None) == "INVALID_VALUE"
    assert fails(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(0, 1, 1), None) == "INVALID_VALUE"
    assert fails(cu.cuGraphAddMemcpyNode, graph, [], 0, copy_params(address, 0, 4), None) == "INVALID_VALUE"
    data = [cu.CUgraphEdgeData()]
    assert fails(cu.cuGraphAddDependencies, graph, [first], [first], data, 1) == "INVALID_VALUE"
    assert fails(cu.cuGraphAddDependencies, graph, [first], [foreign], data, 1) == "INVALID_VALUE"
    assert fails(cu.cuGraphCreate, 1) == "INVALID_VALUE"
    assert fails(cu.cuGraphKernelNodeGetParams, first) == "INVALID_VALUE"
    call(cu.cuGraphDestroy, other)
    assert fails(cu.cuGraphDestroy, other) == "INVALID_VALUE"
    assert fails(cu.cuGraphNodeGetType, foreign) == "INVALID_VALUE"
    assert INSTALLATION.driver.failures == []


@pytest.mark.parametrize("count", [0, 1, 5])
def test_queries_with_too_little_and_too_much_room(graph: Any, count: int) -> None:
    address = upload(np.zeros(1, np.int32))
    made = [add_fill(graph, [], address, value, 1) for value in range(3)]
    found, given = call(cu.cuGraphGetNodes, graph, count)
    expected = handles(made)[:count]
    assert (handles(found)[: len(expected)], given) == (expected, 3 if count == 0 else min(3, count))
