"""Which changes an executable graph takes, by the rules that cuda.h states for cuGraphExecUpdate and single nodes."""

import ctypes
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, ints, kernel_params, upload

from cgraph.emulator.driver.layouts import UpdateResultInfo
from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call, fails

pytestmark = pytest.mark.usefixtures("context")

RESULT = cu.CUgraphExecUpdateResult
TYPES = (ctypes.c_void_p, ctypes.c_int)


class Maker:
    """Graphs of fills by a list of what each waits for."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __call__(self, *dependencies: tuple[int, ...], value: int = 1) -> tuple[Any, list[Any]]:
        graph, nodes = call(cu.cuGraphCreate, 0), []
        for before in dependencies:
            params = fill_params(self.address, value, 1)
            handles = [nodes[number] for number in before]
            nodes.append(call(cu.cuGraphAddMemsetNode, graph, handles, len(handles), params, None))
        return graph, nodes


@pytest.fixture
def maker() -> Maker:
    return Maker(upload(np.zeros(4, np.int32)))


def update(executable: Any, graph: Any) -> tuple[Any, int, int]:
    """The result, the node at fault and the dependency at fault. cuda.bindings drops them when a call fails."""
    library, entry, info = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), UpdateResultInfo()
    assert library.cuGetProcAddress_v2(b"cuGraphExecUpdate", ctypes.byref(entry), 12000, ctypes.c_uint64(0), None) == 0
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p)
    result = prototype(entry.value)(int(executable), int(graph), ctypes.addressof(info))
    assert (result == 0) is (info.result == 0)
    return RESULT(info.result), info.errorNode, info.errorFromNode


def test_a_graph_of_the_same_shape(maker: Maker, stream: Any) -> None:
    graph, _ = maker((), (0,), (0,), (1, 2))
    executable = call(cu.cuGraphInstantiate, graph, 0)
    other, _ = maker((), (0,), (0,), (1, 2), value=9)
    assert update(executable, other) == (RESULT.CU_GRAPH_EXEC_UPDATE_SUCCESS, 0, 0)
    call(cu.cuGraphLaunch, executable, stream)
    assert ints(maker.address, 1) == [9]


@pytest.mark.parametrize(
    ("dependencies", "at_fault"),
    [
        (((), (0,), (0,)), ()),  # a node less: no node is at fault
        (((), (0,), (0,), (1,)), (2, 3)),  # two nodes at the end instead of one
        (((), (), (1,), (0, 2)), (0,)),  # the last node's first dependency waits for nothing
        (((), (0,), (1,), (1, 2)), (2,)),  # a node waits for a sibling
    ],
)
def test_another_shape(maker: Maker, dependencies: tuple[tuple[int, ...], ...], at_fault: tuple[int, ...]) -> None:
    executable = call(cu.cuGraphInstantiate, maker((), (0,), (0,), (1, 2))[0], 0)
    other, nodes = maker(*dependencies)
    result, node, _before = update(executable, other)
    assert result == RESULT.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
    assert node in ([int(nodes[number]) for number in at_fault] or [0])
    assert fails(cu.cuGraphExecUpdate, executable, other) == "GRAPH_EXEC_UPDATE_FAILURE"


def test_another_type(maker: Maker, stream: Any) -> None:
    executable = call(cu.cuGraphInstantiate, maker((), (0,))[0], 0)
    other, nodes = maker((), value=5)
    last = call(cu.cuGraphAddEmptyNode, other, nodes, 1)
    assert update(executable, other) == (RESULT.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, int(last), 0)
    # Nothing was taken over, and nothing sticks.
    call(cu.cuGraphLaunch, executable, stream)
    call(cu.cuStreamSynchronize, stream)
    assert ints(maker.address, 1) == [1]


def test_a_fill_changes_address_and_value_only(maker: Maker, graph: Any) -> None:
    node = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(maker.address, 1, 2), None)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    change = cu.cuGraphExecMemsetNodeSetParams
    call(change, executable, node, fill_params(maker.address + 8, 77, 2), None)
    assert fails(change, executable, node, fill_params(maker.address, 1, 3), None) == "INVALID_VALUE"
    assert fails(change, executable, node, fill_params(maker.address, 1, 2, 2), None) == "INVALID_VALUE"
    call(cu.cuGraphLaunch, executable, 0)
    assert ints(maker.address, 4) == [0, 0, 77, 77]


def test_a_copy_changes_addresses_of_the_same_kind_only(maker: Maker, graph: Any) -> None:
    address, host = upload(np.arange(4, dtype=np.int32)), np.zeros(4, np.int32)
    node = call(cu.cuGraphAddMemcpyNode, graph, [], 0, copy_params(maker.address, address, 4), None)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    change = cu.cuGraphExecMemcpyNodeSetParams
    call(change, executable, node, copy_params(maker.address + 4, address + 12, 4), None)
    assert fails(change, executable, node, copy_params(maker.address, address, 8), None) == "INVALID_VALUE"
    params = copy_params(maker.address, address, 4)
    params.srcMemoryType, params.srcHost = cu.CUmemorytype.CU_MEMORYTYPE_HOST, host.ctypes.data
    assert fails(change, executable, node, params, None) == "INVALID_VALUE"
    call(cu.cuGraphLaunch, executable, 0)
    assert ints(maker.address, 4) == [0, 3, 0, 0]


def test_memory_of_another_context(maker: Maker, graph: Any) -> None:
    node = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(maker.address, 1, 1), None)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    other = call(cu.cuCtxCreate, None, 0, 0)
    foreign = upload(np.zeros(1, np.int32))
    call(cu.cuCtxPopCurrent)
    change = cu.cuGraphExecMemsetNodeSetParams
    assert fails(change, executable, node, fill_params(foreign, 1, 1), None) == "INVALID_VALUE"
    call(cu.cuCtxDestroy, other)


def test_a_kernel_changes_all_but_its_context(maker: Maker, module: Any, graph: Any) -> None:
    add_one, scale = function(module, "addOne"), function(module, "scale")
    params = kernel_params(add_one, 1, 32, (maker.address, 4), TYPES)
    node = call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    executable = call(cu.cuGraphInstantiate, graph, 0)
    change = cu.cuGraphExecKernelNodeSetParams
    call(change, executable, node, kernel_params(add_one, 2, 64, (maker.address, 3), TYPES))
    wider = (maker.address, 4, 2.0), (*TYPES, ctypes.c_float)
    call(change, executable, node, kernel_params(scale, 1, 32, *wider))
    assert fails(change, executable, node, kernel_params(scale, 0, 32, *wider)) == "INVALID_VALUE"
    other = call(cu.cuCtxCreate, None, 0, 0)
    foreign = function(call(cu.cuModuleLoadData, MODULE.encode()), "addOne")
    call(cu.cuCtxPopCurrent)
    params = kernel_params(foreign, 1, 32, (maker.address, 4), TYPES)
    assert fails(change, executable, node, params) == "INVALID_VALUE"
    call(cu.cuCtxDestroy, other)


def test_nodes_of_other_graphs(maker: Maker) -> None:
    executable = call(cu.cuGraphInstantiate, maker(())[0], 0)
    _, nodes = maker(())
    params = fill_params(maker.address, 1, 1)
    assert fails(cu.cuGraphExecMemsetNodeSetParams, executable, nodes[0], params, None) == "INVALID_VALUE"


def test_child_graphs_are_paired_too(maker: Maker, stream: Any) -> None:
    def around(child: Any) -> Any:
        graph = call(cu.cuGraphCreate, 0)
        call(cu.cuGraphAddChildGraphNode, graph, [], 0, child)
        return graph

    executable = call(cu.cuGraphInstantiate, around(maker((), (0,))[0]), 0)
    assert update(executable, around(maker((), (), value=6)[0]))[0] == (
        RESULT.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
    )
    assert update(executable, around(maker((), (0,), value=6)[0]))[0] == RESULT.CU_GRAPH_EXEC_UPDATE_SUCCESS
    call(cu.cuGraphLaunch, executable, stream)
    assert ints(maker.address, 1) == [6]
    assert INSTALLATION.driver.failures == []
