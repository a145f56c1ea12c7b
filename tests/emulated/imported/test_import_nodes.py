"""Graphs built by driver calls, read from their handles, saved, loaded and run: every kind of node, every value."""

import ctypes as c
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, kernel_params, upload

from cgraph.backends.cuda.imported.model import ChildGraphNode, EventRecordNode, EventWaitNode, KernelNode, MemoryKind
from cgraph.capture.imported.api import from_cuda_graph
from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call
from tests.support.imported_graphs import (
    ECHO,
    SHARED,
    STRUCTURE,
    ptx_of,
    run_again,
    run_in_five_orders,
    through_file,
    words,
)

HOST, DEVICE, UNIFIED = (
    cu.CUmemorytype.CU_MEMORYTYPE_HOST,
    cu.CUmemorytype.CU_MEMORYTYPE_DEVICE,
    cu.CUmemorytype.CU_MEMORYTYPE_UNIFIED,
)
ECHOED = np.dtype("<f8,<i8,<i4,<u4,<u2,<i1,<i1")
ECHO_VALUES = (-1.25e300, -(2**62) - 12345, -(2**30) - 7, 0xDEADBEEF, 0x3C01, -100, 77)


def add_kernel(graph: Any, made: Any, values: tuple[Any, ...], types: tuple[Any, ...], block: int = 4) -> Any:
    return call(cu.cuGraphAddKernelNode, graph, [], 0, kernel_params(made, 1, block, values, types))


def echo_arguments(pointer: int, out: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    b, f, d, _p, half, a, e = ECHO_VALUES
    values = (a, b, half, d, pointer, e, f, out)
    types = (c.c_int8, c.c_double, c.c_uint16, c.c_int, c.c_void_p, c.c_int8, c.c_longlong, c.c_void_p)
    return values, types


def packed_params(made: Any, buffer: Any, size: Any, extra: Any) -> Any:
    """Parameters with `extra`: a buffer as a C compiler would lay the arguments out."""
    params = kernel_params(made, 1, 1, (), ())
    extra[:] = (1, c.addressof(buffer), 2, c.addressof(size), 0)
    params.kernelParams, params.extra = 0, c.addressof(extra)
    return params


@pytest.mark.parametrize("way", ["one by one", "packed", "library"])
@pytest.mark.usefixtures("context")
def test_every_value_of_a_kernel_stays(graph: Any, tmp_path: Path, way: str) -> None:
    code = ptx_of(ECHO)
    if way == "library":
        library = call(cu.cuLibraryLoadData, code, [], [], 0, [], [], 0)
        made = call(cu.cuLibraryGetKernel, library, b"echo")
    else:
        made = function(call(cu.cuModuleLoadData, code + b"\0"), "echo")
    source, out = upload(np.array([1, ECHO_VALUES[3]], np.uint32)), upload(np.zeros(28, np.uint8))
    values, types = echo_arguments(source + 4, out)
    if way == "packed":
        # The offsets of x86-64 and of CUDA: each value at a multiple of its size.
        layout = np.dtype(
            {
                "names": list("abcdpefo"),
                "formats": ["<i1", "<f8", "<u2", "<i4", "<u8", "<i1", "<i8", "<u8"],
                "offsets": [0, 8, 16, 20, 24, 32, 40, 48],
            }
        )
        raw = np.array(values, layout).tobytes()
        buffer, size, extra = c.create_string_buffer(raw), c.c_size_t(len(raw)), (c.c_uint64 * 5)()
        call(cu.cuGraphAddKernelNode, graph, [], 0, packed_params(made, buffer, size, extra))
    else:
        params = kernel_params(made, 1, 1, values, types)
        if way == "library":
            params.func, params.kern = 0, made
        call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    imported = from_cuda_graph(graph, code=[code], names={source: "in", out: "out"})
    assert imported.remarks == ()
    # Two addresses among eight parameters; -2^62 is 8 bytes that lie nowhere.
    (node,) = imported.levels[0].nodes
    assert isinstance(node, KernelNode)
    assert [(item.position, item.place.offset) for item in node.relocations] == [(24, 4), (48, 0)]
    for address in (source, out):
        assert (address & ~0xFF).to_bytes(8, "little") not in node.arguments
    executable = run_again(through_file(imported, tmp_path), **{"in": np.array([1, ECHO_VALUES[3]], np.uint32)})
    (found,) = executable.get("out").view(ECHOED)
    assert tuple(found) == ECHO_VALUES


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
def test_fills_with_rows(graph: Any, tmp_path: Path, element_bytes: int) -> None:
    address = upload(np.zeros(64, np.uint8))
    params = fill_params(address + 4, 0xA1B2C3D4, 2, element_bytes)
    params.height, params.pitch = 3, 16
    call(cu.cuGraphAddMemsetNode, graph, [], 0, params, None)
    executable = run_again(through_file(from_cuda_graph(graph, names={address: "all"}), tmp_path))
    expected = np.zeros(64, np.uint8)
    lowest = np.frombuffer((0xA1B2C3D4).to_bytes(4, "little")[:element_bytes], np.uint8)
    for row in range(3):
        start = 4 + 16 * row
        expected[start : start + 2 * element_bytes] = np.tile(lowest, 2)
    assert executable.get("all").tolist() == expected.tolist()


def copy_3d(source: int, target: int) -> Any:
    """2 slices of 3 rows of 5 bytes, from the place (2, 1, 1) of rows of 12 and slices of 4 to rows of 8."""
    params = copy_params(target, source, 5)
    params.srcXInBytes, params.srcY, params.srcZ, params.srcPitch, params.srcHeight = 2, 1, 1, 12, 4
    params.dstPitch, params.dstHeight = 8, 3
    params.Height, params.Depth = 3, 2
    return params


def copied_3d(source: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    target = np.zeros((2, 3, 8), np.uint8)
    target[:, :, :5] = source.reshape(3, 4, 12)[1:3, 1:4, 2:7]
    return target.reshape(-1)


def test_copies_in_three_dimensions(graph: Any, tmp_path: Path) -> None:
    contents = np.arange(144, dtype=np.uint8)
    source, target = upload(contents), upload(np.zeros(48, np.uint8))
    call(cu.cuGraphAddMemcpyNode, graph, [], 0, copy_3d(source, target), None)
    imported = from_cuda_graph(graph, names={source: "from", target: "to"}, with_data=True)
    executable = run_again(through_file(imported, tmp_path))
    assert executable.get("to").tolist() == copied_3d(contents).tolist()


@pytest.mark.parametrize("kind", [HOST, UNIFIED])
def test_host_bytes_are_kept(graph: Any, tmp_path: Path, kind: Any) -> None:
    """The host's array is overwritten after the import; the replay has what was there before."""
    held = np.arange(100, 164, dtype=np.uint8)
    before = held.copy()
    middle, back = upload(np.zeros(64, np.uint8)), np.zeros(64, np.uint8)
    first = copy_params(middle, 0, 64)
    first.srcMemoryType = kind
    if kind == HOST:
        first.srcHost = held.ctypes.data
    else:
        first.srcDevice = held.ctypes.data
    second = copy_params(0, middle, 64)
    second.dstMemoryType, second.dstHost = HOST, back.ctypes.data
    node = call(cu.cuGraphAddMemcpyNode, graph, [], 0, first, None)
    call(cu.cuGraphAddMemcpyNode, graph, [node], 1, second, None)
    imported = from_cuda_graph(graph, names={back.ctypes.data: "back"})
    assert [item.memory for item in imported.allocations] == [MemoryKind.HOST, MemoryKind.DEVICE, MemoryKind.HOST]
    held[:] = 0
    executable = run_again(through_file(imported, tmp_path))
    assert executable.get("back").tolist() == before.tolist()
    assert back.tolist() == [0] * 64


def test_host_ranges_that_overlap_are_one(graph: Any, tmp_path: Path) -> None:
    held, target = np.arange(32, dtype=np.uint8), upload(np.zeros(32, np.uint8))
    for start in (8, 0):
        params = copy_params(target + start, 0, 16)
        params.srcMemoryType, params.srcHost = HOST, held.ctypes.data + start
        call(cu.cuGraphAddMemcpyNode, graph, [], 0, params, None)
    imported = from_cuda_graph(graph, names={target: "to"})
    assert [item.size_bytes for item in imported.allocations] == [24, 32]
    executable = run_again(through_file(imported, tmp_path))
    assert executable.get("to").tolist() == [*range(24), *[0] * 8]


def test_pinned_memory(graph: Any, tmp_path: Path) -> None:
    pinned = int(call(cu.cuMemHostAlloc, 16, 0))
    c.memmove(pinned, bytes(range(16)), 16)
    target = upload(np.zeros(8, np.uint8))
    params = copy_params(target, pinned + 4, 8)
    params.srcMemoryType = UNIFIED
    call(cu.cuGraphAddMemcpyNode, graph, [], 0, params, None)
    imported = from_cuda_graph(graph, names={target: "to"})
    call(cu.cuMemFreeHost, pinned)
    assert run_again(through_file(imported, tmp_path)).get("to").tolist() == list(range(4, 12))


def test_child_graphs_events_and_edges_stay(graph: Any, module: Any, tmp_path: Path) -> None:
    """Each step needs the one before: a fill, a child graph in a child graph, a kernel behind an event."""
    address = upload(np.zeros(4, np.int32))
    event = call(cu.cuEventCreate, 0)
    inner, middle = call(cu.cuGraphCreate, 0), call(cu.cuGraphCreate, 0)
    call(cu.cuGraphAddMemcpyNode, inner, [], 0, copy_params(address + 4, address, 4), None)
    call(cu.cuGraphAddChildGraphNode, middle, [], 0, inner)
    last = call(
        cu.cuGraphAddKernelNode,
        graph,
        [],
        0,
        kernel_params(function(module, "addOne"), 1, 2, (address, 2), (c.c_void_p, c.c_int)),
    )
    first = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 7, 1), None)
    child = call(cu.cuGraphAddChildGraphNode, graph, [first], 1, middle)
    record = call(cu.cuGraphAddEventRecordNode, graph, [child], 1, event)
    wait = call(cu.cuGraphAddEventWaitNode, graph, [record], 1, event)
    data = cu.CUgraphEdgeData()
    call(cu.cuGraphAddDependencies, graph, [wait], [last], [data], 1)
    imported = through_file(from_cuda_graph(graph, code=[MODULE.encode()], names={address: "all"}), tmp_path)
    kinds = [type(node) for node in imported.levels[0].nodes]
    assert kinds[2:] == [ChildGraphNode, EventRecordNode, EventWaitNode]
    assert [[type(node).__name__ for node in level.nodes] for level in imported.levels[1:]] == [
        ["ChildGraphNode"],
        ["MemcpyNode"],
    ]
    pairs = {(edge.before, edge.after) for edge in imported.levels[0].edges}
    assert pairs == {(1, 2), (2, 3), (3, 4), (4, 0)}
    for executable in run_in_five_orders(imported):
        assert words(executable, "all") == [8, 8, 0, 0]


def test_edge_data_stays(graph: Any, tmp_path: Path) -> None:
    address = upload(np.zeros(1, np.int32))
    first = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 1, 1), None)
    second = call(cu.cuGraphAddEmptyNode, graph, [], 0)
    data = cu.CUgraphEdgeData()
    data.from_port, data.type = 1, cu.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
    call(cu.cuGraphAddDependencies, graph, [first], [second], [data], 1)
    imported = through_file(from_cuda_graph(graph), tmp_path)
    executable = run_again(imported)
    assert executable.owned.built is not None
    _before, _after, found, count = call(cu.cuGraphGetEdges, executable.owned.built.graph, 1)
    assert (count, found[0].from_port, found[0].to_port, int(found[0].type)) == (1, 1, 0, 1)


def test_addresses_inside_a_structure_only_where_declared(graph: Any, tmp_path: Path) -> None:
    code = ptx_of(STRUCTURE)
    made = function(call(cu.cuModuleLoadData, code + b"\0"), "fromTable")
    source, target = upload(np.arange(4, dtype=np.uint32)), upload(np.zeros(4, np.uint32))
    raw = np.array([3, 0, source & 0xFFFFFFFF, source >> 32, target & 0xFFFFFFFF, target >> 32, 10], np.uint32)
    buffer, size, extra = c.create_string_buffer(raw.tobytes()), c.c_size_t(28), (c.c_uint64 * 5)()
    params = packed_params(made, buffer, size, extra)
    params.blockDimX = 4
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    assert from_cuda_graph(graph, code=[code]).allocations == ()
    names = {source: "from", target: "to"}
    imported = from_cuda_graph(graph, code=[code], names=names, pointers={"fromTable": (0,)}, with_data=True)
    assert words(run_again(through_file(imported, tmp_path)), "to") == [10, 11, 12, 0]


def test_attributes_of_kernels_and_nodes_stay(graph: Any, tmp_path: Path) -> None:
    """60,000 bytes of shared memory need the function's attribute, which the replay's own module lacks at first."""
    code = ptx_of(SHARED)
    made = function(call(cu.cuModuleLoadData, code + b"\0"), "reverse")
    limit = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    call(cu.cuFuncSetAttribute, made, limit, 60_000)
    address = upload(np.arange(4, dtype=np.uint32))
    params = kernel_params(made, 1, 4, (address, 4), (c.c_void_p, c.c_int))
    params.sharedMemBytes = 60_000
    node = call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    value = cu.CUkernelNodeAttrValue()
    value.priority = -1
    priority = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
    call(cu.cuGraphKernelNodeSetAttribute, node, priority, value)
    imported = through_file(from_cuda_graph(graph, code=[code], names={address: "all"}, with_data=True), tmp_path)
    (read,) = imported.levels[0].nodes
    assert isinstance(read, KernelNode)
    assert read.attributes == (("priority", b"\xff\xff\xff\xff"),)
    executable = run_again(imported)
    assert words(executable, "all") == [3, 2, 1, 0]
    assert executable.owned.built is not None
    assert call(cu.cuGraphKernelNodeGetAttribute, executable.owned.built.nodes[0], priority).priority == -1


def test_the_source_graph_does_not_change(graph: Any, module: Any, tmp_path: Path) -> None:
    address = upload(np.zeros(4, np.int32))
    first = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 7, 1), None)
    call(cu.cuGraphAddChildGraphNode, graph, [first], 1, call(cu.cuGraphCreate, 0))
    add_kernel(graph, function(module, "addOne"), (address, 2), (c.c_void_p, c.c_int))
    texts = []
    for number in range(2):
        path = tmp_path / f"{number}.dot"
        call(cu.cuGraphDebugDotPrint, graph, str(path).encode(), 1)
        texts.append(path.read_text())
        if number == 0:
            allocated = INSTALLATION.driver.allocated_bytes
            from_cuda_graph(graph, code=[MODULE], with_data=True)
            assert INSTALLATION.driver.allocated_bytes == allocated
    assert texts[0] == texts[1]


def test_what_a_replay_frees(graph: Any, module: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    add_kernel(graph, function(module, "addOne"), (address, 2), (c.c_void_p, c.c_int))
    imported = from_cuda_graph(graph, code=[MODULE])
    driver = INSTALLATION.driver
    allocated, handles = driver.allocated_bytes, len(driver.handles.all(object))
    for _ in range(3):
        run_again(imported).close()
    assert driver.allocated_bytes == allocated
    # The primary context stays after its first use; whatever was made in it is gone.
    assert len(driver.handles.all(object)) <= handles + 1


def test_a_kernel_with_pinned_memory(graph: Any, module: Any) -> None:
    """Its address is one of the graph's, and its bytes are kept: a GPU reaches it."""
    pinned = int(call(cu.cuMemHostAlloc, 16, 0))
    c.memmove(pinned, bytes(range(16)), 16)
    add_kernel(graph, function(module, "addOne"), (pinned + 8, 2), (c.c_void_p, c.c_int))
    imported = from_cuda_graph(graph, code=[MODULE])
    (node,) = imported.levels[0].nodes
    assert isinstance(node, KernelNode)
    assert [(item.place.allocation, item.place.offset) for item in node.relocations] == [(0, 8)]
    assert imported.allocations[0].memory is MemoryKind.HOST
    assert imported.data[0].tolist() == list(range(16))
