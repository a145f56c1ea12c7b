"""Entry points about the nodes of a graph and the edges between them."""

import ctypes as c
from collections.abc import Sequence

from cgraph.emulator.driver.abi import (
    ADDRESS,
    HANDLE,
    OUT_HANDLE,
    OUT_INT,
    OUT_UINT,
    SIZE,
    Needs,
    Table,
    read_handles,
    write_handles,
)
from cgraph.emulator.driver.graphs import (
    NO_EDGE_DATA,
    Node,
    connect,
    disconnect,
    graph_of,
    is_default,
    node_of,
    remove_node,
)
from cgraph.emulator.driver.layouts import EdgeData
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

EDGE_BYTES = c.sizeof(EdgeData)


def dependencies_at(driver: Driver, nodes: int, data: int, count: int) -> list[tuple[Node, bytes]]:
    """Nodes in the caller's memory, with the data of the edges that shall come from them."""
    found = [node_of(driver, handle) for handle in read_handles(nodes, count)]
    return list(zip(found, _edge_data(data, count), strict=True))


def _edge_data(address: int, count: int) -> list[bytes]:
    if address == 0:
        return [NO_EDGE_DATA] * count
    return [c.string_at(address + EDGE_BYTES * number, EDGE_BYTES) for number in range(count)]


def _write_edges(
    arrays: Sequence[tuple[int, Sequence[Node]]], data_address: int, data: Sequence[bytes], size_address: int
) -> None:
    """Answers a query for edges: parallel lists of nodes, and data. Raises DriverError as `cuGraphGetEdges` does."""
    if size_address == 0:
        raise DriverError(Result.INVALID_VALUE, "the size is null")
    asked = [address != 0 for address, _ in arrays]
    if any(asked) != all(asked) or (data_address and not all(asked)):
        raise DriverError(Result.INVALID_VALUE, "all arrays are given, or none")
    if all(asked) and not data_address and not all(map(is_default, data)):
        raise DriverError(Result.LOSSY_QUERY)
    room = c.c_size_t.from_address(size_address).value
    for address, nodes in arrays:
        size = c.c_size_t(room)
        write_handles(address, c.addressof(size), [node.handle for node in nodes])
        c.c_size_t.from_address(size_address).value = size.value
    if data_address:
        for number, bytes_of_edge in enumerate(data[:room]):
            c.memmove(data_address + EDGE_BYTES * number, bytes_of_edge, EDGE_BYTES)


@TABLE.entry("cuGraphGetNodes", 10000, HANDLE, ADDRESS, ADDRESS, needs=Needs.DRIVER)
def graph_get_nodes(driver: Driver, graph: int, nodes: int, size: int) -> None:
    """As they were added."""
    write_handles(nodes, size, [node.handle for node in graph_of(driver, graph).nodes])


@TABLE.entry("cuGraphGetRootNodes", 10000, HANDLE, ADDRESS, ADDRESS, needs=Needs.DRIVER)
def graph_get_root_nodes(driver: Driver, graph: int, nodes: int, size: int) -> None:
    """Those that wait for nothing."""
    roots = [node.handle for node in graph_of(driver, graph).nodes if not node.dependencies]
    write_handles(nodes, size, roots)


@TABLE.entry("cuGraphGetEdges", 12030, HANDLE, ADDRESS, ADDRESS, ADDRESS, ADDRESS, needs=Needs.DRIVER)
def graph_get_edges(driver: Driver, graph: int, before: int, after: int, data: int, size: int) -> None:
    """By the node that waits, then in the order in which they were added."""
    edges = [(first, node, bytes_) for node in graph_of(driver, graph).nodes for first, bytes_ in node.dependencies]
    firsts, seconds = [edge[0] for edge in edges], [edge[1] for edge in edges]
    _write_edges(((before, firsts), (after, seconds)), data, [edge[2] for edge in edges], size)


@TABLE.entry("cuGraphNodeGetDependencies", 12030, HANDLE, ADDRESS, ADDRESS, ADDRESS, needs=Needs.DRIVER)
def node_get_dependencies(driver: Driver, node: int, nodes: int, data: int, size: int) -> None:
    """In the order in which the edges were added."""
    edges = node_of(driver, node).dependencies
    _write_edges(((nodes, [edge[0] for edge in edges]),), data, [edge[1] for edge in edges], size)


@TABLE.entry("cuGraphNodeGetDependentNodes", 12030, HANDLE, ADDRESS, ADDRESS, ADDRESS, needs=Needs.DRIVER)
def node_get_dependent_nodes(driver: Driver, node: int, nodes: int, data: int, size: int) -> None:
    """In the order in which the edges were added."""
    edges = node_of(driver, node).dependents
    _write_edges(((nodes, [edge[0] for edge in edges]),), data, [edge[1] for edge in edges], size)


def _pairs(driver: Driver, graph: int, before: int, after: int, count: int) -> list[tuple[Node, Node]]:
    owner = graph_of(driver, graph)
    pairs = [
        (node_of(driver, first), node_of(driver, second))
        for first, second in zip(read_handles(before, count), read_handles(after, count), strict=True)
    ]
    if any(node.graph is not owner for pair in pairs for node in pair):
        raise DriverError(Result.INVALID_VALUE, "a node is in another graph")
    return pairs


@TABLE.entry("cuGraphAddDependencies", 12030, HANDLE, ADDRESS, ADDRESS, ADDRESS, SIZE, needs=Needs.DRIVER)
def graph_add_dependencies(driver: Driver, graph: int, before: int, after: int, data: int, count: int) -> None:
    """All, or those before the first that is wrong."""
    pairs = _pairs(driver, graph, before, after, count)
    for (first, second), bytes_of_edge in zip(pairs, _edge_data(data, count), strict=True):
        connect(first, second, bytes_of_edge)


@TABLE.entry("cuGraphRemoveDependencies", 12030, HANDLE, ADDRESS, ADDRESS, ADDRESS, SIZE, needs=Needs.DRIVER)
def graph_remove_dependencies(driver: Driver, graph: int, before: int, after: int, _data: int, count: int) -> None:
    """All, or those before the first that is wrong."""
    for first, second in _pairs(driver, graph, before, after, count):
        disconnect(first, second)


@TABLE.entry("cuGraphNodeGetType", 10000, HANDLE, OUT_INT, needs=Needs.DRIVER)
def node_get_type(driver: Driver, node: int) -> int:
    """CUgraphNodeType."""
    return node_of(driver, node).work.type


@TABLE.entry("cuGraphNodeGetContainingGraph", 13010, HANDLE, OUT_HANDLE, needs=Needs.DRIVER)
def node_get_containing_graph(driver: Driver, node: int) -> int:
    """The graph that it is in."""
    return node_of(driver, node).graph.handle


@TABLE.entry("cuGraphNodeGetLocalId", 13010, HANDLE, OUT_UINT, needs=Needs.DRIVER)
def node_get_local_id(driver: Driver, node: int) -> int:
    """Its number in its graph."""
    return node_of(driver, node).number


@TABLE.entry("cuGraphDestroyNode", 10000, HANDLE, needs=Needs.DRIVER)
def graph_destroy_node(driver: Driver, node: int) -> None:
    """With its edges."""
    remove_node(driver, node_of(driver, node))
