"""Entry points that add nodes to graphs, and get and set what they do."""

import ctypes as c

from cgraph.emulator.driver.abi import ADDRESS, HANDLE, INT, OUT_HANDLE, SIZE, Needs, Table, structure
from cgraph.emulator.driver.entries_edges import dependencies_at
from cgraph.emulator.driver.graphs import Graph, Node, add_node, graph_of, node_of
from cgraph.emulator.driver.launching import kernel_work_of
from cgraph.emulator.driver.layouts import GraphNodeParams, HostNodeParams, KernelNodeParams, Memcpy3D, MemsetNodeParams
from cgraph.emulator.driver.node_params import (
    context_of,
    copy_work_of,
    fill_work_of,
    kernel_context,
    report,
    report_copy,
    report_fill,
    report_kernel,
    work_of,
)
from cgraph.emulator.driver.objects import Context, Event
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import (
    ChildWork,
    CopyWork,
    EmptyWork,
    FillWork,
    HostWork,
    KernelWork,
    RecordWork,
    WaitWork,
    Work,
)

TABLE = Table()

DEPENDENCIES = (HANDLE, ADDRESS, SIZE)  # the graph, an array of nodes, how many
ATTRIBUTE_BYTES = 64


def _add(driver: Driver, graph: int, nodes: int, count: int, work: Work, context: Context) -> int:
    return add_node(driver, graph_of(driver, graph), work, context, dependencies_at(driver, nodes, 0, count)).handle


@TABLE.entry("cuGraphAddKernelNode", 12000, OUT_HANDLE, *DEPENDENCIES, structure(KernelNodeParams))
def add_kernel_node(driver: Driver, graph: int, nodes: int, count: int, params: KernelNodeParams) -> int:
    """The values of the arguments are taken now."""
    work = kernel_work_of(driver, params)
    return _add(driver, graph, nodes, count, work, kernel_context(driver, work, params.ctx))


@TABLE.entry("cuGraphKernelNodeGetParams", 12000, HANDLE, structure(KernelNodeParams), needs=Needs.DRIVER)
def kernel_node_get_params(driver: Driver, node: int, params: KernelNodeParams) -> None:
    """Arguments come back in the way in which they were given last."""
    report_kernel(node_of(driver, node, KernelWork), params)


@TABLE.entry("cuGraphKernelNodeSetParams", 12000, HANDLE, structure(KernelNodeParams))
def kernel_node_set_params(driver: Driver, node: int, params: KernelNodeParams) -> None:
    """Executable graphs that were made before do not change."""
    changed = node_of(driver, node, KernelWork)
    work = kernel_work_of(driver, params)
    changed.work, changed.context = work, kernel_context(driver, work, params.ctx)


@TABLE.entry("cuGraphAddMemcpyNode", 10000, OUT_HANDLE, *DEPENDENCIES, structure(Memcpy3D), HANDLE)
def add_memcpy_node(driver: Driver, graph: int, nodes: int, count: int, params: Memcpy3D, context: int) -> int:
    """Bytes are copied when the graph runs."""
    return _add(driver, graph, nodes, count, copy_work_of(driver, params), context_of(driver, context))


@TABLE.entry("cuGraphMemcpyNodeGetParams", 10000, HANDLE, structure(Memcpy3D), needs=Needs.DRIVER)
def memcpy_node_get_params(driver: Driver, node: int, params: Memcpy3D) -> None:
    """As they were given."""
    report_copy(node_of(driver, node, CopyWork), params)


@TABLE.entry("cuGraphMemcpyNodeSetParams", 10000, HANDLE, structure(Memcpy3D))
def memcpy_node_set_params(driver: Driver, node: int, params: Memcpy3D) -> None:
    """Executable graphs that were made before do not change."""
    node_of(driver, node, CopyWork).work = copy_work_of(driver, params)


@TABLE.entry("cuGraphAddMemsetNode", 10000, OUT_HANDLE, *DEPENDENCIES, structure(MemsetNodeParams), HANDLE)
def add_memset_node(driver: Driver, graph: int, nodes: int, count: int, params: MemsetNodeParams, context: int) -> int:
    """Elements of 1, 2 or 4 bytes."""
    return _add(driver, graph, nodes, count, fill_work_of(driver, params), context_of(driver, context))


@TABLE.entry("cuGraphMemsetNodeGetParams", 10000, HANDLE, structure(MemsetNodeParams), needs=Needs.DRIVER)
def memset_node_get_params(driver: Driver, node: int, params: MemsetNodeParams) -> None:
    """As they were given."""
    report_fill(node_of(driver, node, FillWork), params)


@TABLE.entry("cuGraphMemsetNodeSetParams", 10000, HANDLE, structure(MemsetNodeParams))
def memset_node_set_params(driver: Driver, node: int, params: MemsetNodeParams) -> None:
    """Executable graphs that were made before do not change."""
    node_of(driver, node, FillWork).work = fill_work_of(driver, params)


@TABLE.entry("cuGraphAddHostNode", 10000, OUT_HANDLE, *DEPENDENCIES, structure(HostNodeParams))
def add_host_node(driver: Driver, graph: int, nodes: int, count: int, params: HostNodeParams) -> int:
    """A C function of the program."""
    if params.fn == 0:
        raise DriverError(Result.INVALID_VALUE, "the function is null")
    return _add(driver, graph, nodes, count, HostWork(params.fn, params.userData), driver.current())


@TABLE.entry("cuGraphAddChildGraphNode", 10000, OUT_HANDLE, *DEPENDENCIES, HANDLE)
def add_child_graph_node(driver: Driver, graph: int, nodes: int, count: int, child: int) -> int:
    """The child is copied."""
    return _add(driver, graph, nodes, count, ChildWork(graph_of(driver, child)), driver.current())


@TABLE.entry("cuGraphChildGraphNodeGetGraph", 10000, HANDLE, OUT_HANDLE, needs=Needs.DRIVER)
def child_graph_node_get_graph(driver: Driver, node: int) -> int:
    """The copy that belongs to the node."""
    graph: Graph = node_of(driver, node, ChildWork).work.graph  # type: ignore[union-attr]  # node_of made sure
    return graph.handle


@TABLE.entry("cuGraphAddEmptyNode", 10000, OUT_HANDLE, *DEPENDENCIES)
def add_empty_node(driver: Driver, graph: int, nodes: int, count: int) -> int:
    """A place where edges meet."""
    return _add(driver, graph, nodes, count, EmptyWork(), driver.current())


@TABLE.entry("cuGraphAddEventRecordNode", 11010, OUT_HANDLE, *DEPENDENCIES, HANDLE)
def add_event_record_node(driver: Driver, graph: int, nodes: int, count: int, event: int) -> int:
    """Records an event each time the graph runs."""
    return _add(driver, graph, nodes, count, RecordWork(driver.handles.get(Event, event)), driver.current())


@TABLE.entry("cuGraphAddEventWaitNode", 11010, OUT_HANDLE, *DEPENDENCIES, HANDLE)
def add_event_wait_node(driver: Driver, graph: int, nodes: int, count: int, event: int) -> int:
    """Waits for an event each time the graph runs."""
    return _add(driver, graph, nodes, count, WaitWork(driver.handles.get(Event, event)), driver.current())


@TABLE.entry("cuGraphEventRecordNodeGetEvent", 11010, HANDLE, OUT_HANDLE, needs=Needs.DRIVER)
def event_record_node_get_event(driver: Driver, node: int) -> int:
    """The event."""
    event: Event = node_of(driver, node, RecordWork).work.event  # type: ignore[union-attr]  # node_of made sure
    return event.handle


@TABLE.entry("cuGraphEventWaitNodeGetEvent", 11010, HANDLE, OUT_HANDLE, needs=Needs.DRIVER)
def event_wait_node_get_event(driver: Driver, node: int) -> int:
    """The event."""
    event: Event = node_of(driver, node, WaitWork).work.event  # type: ignore[union-attr]  # node_of made sure
    return event.handle


def _add_any(driver: Driver, graph: int, nodes: int, data: int, count: int, params: GraphNodeParams) -> int:
    owner = graph_of(driver, graph)
    dependencies = dependencies_at(driver, nodes, data, count)
    work, context = work_of(driver, params)
    node = add_node(driver, owner, work, context, dependencies)
    if isinstance(node.work, ChildWork):
        params.of.graph.graph = node.work.graph.handle
    return node.handle


for _version in (12030, 13041):
    TABLE.entry("cuGraphAddNode", _version, OUT_HANDLE, HANDLE, ADDRESS, ADDRESS, SIZE, structure(GraphNodeParams))(
        _add_any
    )


def _set_any(driver: Driver, node: int, params: GraphNodeParams) -> None:
    changed: Node = node_of(driver, node)
    if params.type != changed.work.type or isinstance(changed.work, ChildWork):
        raise DriverError(Result.INVALID_VALUE, f"a node of type {changed.work.type} keeps its type")
    changed.work, changed.context = work_of(driver, params)


for _version in (12020, 13041):
    TABLE.entry("cuGraphNodeSetParams", _version, HANDLE, structure(GraphNodeParams))(_set_any)


@TABLE.entry("cuGraphNodeGetParams", 13020, HANDLE, structure(GraphNodeParams), needs=Needs.DRIVER)
def node_get_params(driver: Driver, node: int, params: GraphNodeParams) -> None:
    """Any node's."""
    report(node_of(driver, node), params)


@TABLE.entry("cuGraphKernelNodeGetAttribute", 11000, HANDLE, INT, ADDRESS, needs=Needs.DRIVER)
def kernel_node_get_attribute(driver: Driver, node: int, attribute: int, value: int) -> None:
    """All zeros where it was not set."""
    asked = node_of(driver, node, KernelWork)
    if value == 0:
        raise DriverError(Result.INVALID_VALUE, "no room for the value")
    c.memmove(value, asked.attributes.get(attribute, bytes(ATTRIBUTE_BYTES)), ATTRIBUTE_BYTES)


@TABLE.entry("cuGraphKernelNodeSetAttribute", 11000, HANDLE, INT, ADDRESS, needs=Needs.DRIVER)
def kernel_node_set_attribute(driver: Driver, node: int, attribute: int, value: int) -> None:
    """Kept; the emulated device has no use for any of them."""
    changed = node_of(driver, node, KernelWork)
    if value == 0:
        raise DriverError(Result.INVALID_VALUE, "the value is null")
    changed.attributes[attribute] = c.string_at(value, ATTRIBUTE_BYTES)


@TABLE.entry("cuGraphKernelNodeCopyAttributes", 11000, HANDLE, HANDLE, needs=Needs.DRIVER)
def kernel_node_copy_attributes(driver: Driver, to: int, source: int) -> None:
    """All of them."""
    node_of(driver, to, KernelWork).attributes = dict(node_of(driver, source, KernelWork).attributes)
