"""Entry points about whole graphs: making, copying and ending them, executable graphs, and running them."""

from pathlib import Path

from cgraph.emulator.driver.abi import (
    HANDLE,
    LONG,
    OUT_HANDLE,
    OUT_LONG,
    OUT_UINT,
    TEXT,
    UINT,
    Needs,
    Table,
    structure,
)
from cgraph.emulator.driver.capturing import capture_of
from cgraph.emulator.driver.dot import draw
from cgraph.emulator.driver.executables import Cycle, ExecNode, GraphExec, instantiate, launch
from cgraph.emulator.driver.graphs import clone, destroy_graph, graph_of, new_graph, node_of
from cgraph.emulator.driver.launching import kernel_work_of
from cgraph.emulator.driver.layouts import (
    GraphNodeParams,
    InstantiateParams,
    KernelNodeParams,
    Memcpy3D,
    MemsetNodeParams,
    UpdateResultInfo,
)
from cgraph.emulator.driver.node_params import copy_work_of, fill_work_of, work_of
from cgraph.emulator.driver.objects import Event
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.updating import Refusal, UpdateResult, check_change, update_all
from cgraph.emulator.driver.user_objects import release_all
from cgraph.emulator.driver.work import ChildWork, CopyWork, FillWork, KernelWork, RecordWork, WaitWork, Work

TABLE = Table()

# CUgraphInstantiateResult, CUgraphInstantiate_flags
INSTANTIATED, INVALID_STRUCTURE = 0, 2
FLAG_UPLOAD, FLAG_DEVICE_LAUNCH, ALL_FLAGS = 2, 4, 15
DOT_FLAGS = (1 << 18) - 1


def executable_of(driver: Driver, handle: int) -> GraphExec:
    """The executable graph behind a handle. Raises DriverError: INVALID_VALUE."""
    return driver.handles.get(GraphExec, handle, Result.INVALID_VALUE)


@TABLE.entry("cuGraphCreate", 10000, OUT_HANDLE, UINT, needs=Needs.DRIVER)
def graph_create(driver: Driver, flags: int) -> int:
    """Flags must be 0."""
    if flags != 0:
        raise DriverError(Result.INVALID_VALUE, "flags must be 0")
    return new_graph(driver).handle


@TABLE.entry("cuGraphDestroy", 10000, HANDLE, needs=Needs.DRIVER)
def graph_destroy(driver: Driver, handle: int) -> None:
    """Executable graphs made from it stay. A child graph goes with its node."""
    graph = graph_of(driver, handle)
    if graph.owner is not None:
        raise DriverError(Result.INVALID_VALUE, "a child graph belongs to its node")
    destroy_graph(driver, graph)


@TABLE.entry("cuGraphClone", 10000, OUT_HANDLE, HANDLE, needs=Needs.DRIVER)
def graph_clone(driver: Driver, handle: int) -> int:
    """With child graphs."""
    return clone(driver, graph_of(driver, handle)).handle


@TABLE.entry("cuGraphNodeFindInClone", 10000, OUT_HANDLE, HANDLE, HANDLE, needs=Needs.DRIVER)
def graph_node_find_in_clone(driver: Driver, node: int, handle: int) -> int:
    """The copy of a node."""
    original, graph = node_of(driver, node), graph_of(driver, handle)
    if original not in graph.clones or graph.clones[original] not in graph.nodes:
        raise DriverError(Result.INVALID_VALUE, "the graph has no copy of the node")
    return graph.clones[original].handle


@TABLE.entry("cuGraphGetId", 13010, HANDLE, OUT_UINT, needs=Needs.DRIVER)
def graph_get_id(driver: Driver, handle: int) -> int:
    """Its number."""
    return graph_of(driver, handle).number


@TABLE.entry("cuGraphDebugDotPrint", 11030, HANDLE, TEXT, UINT, needs=Needs.DRIVER)
def graph_debug_dot_print(driver: Driver, handle: int, path: str, flags: int) -> None:
    """As `draw`. Flags other than the verbose one change nothing."""
    if flags & ~DOT_FLAGS:
        raise DriverError(Result.INVALID_VALUE, f"{flags} are no flags")
    try:
        Path(path).write_text(draw(graph_of(driver, handle), verbose=bool(flags & 1)), encoding="utf-8")
    except OSError as error:
        raise DriverError(Result.INVALID_VALUE, str(error)) from error


@TABLE.entry("cuGraphInstantiateWithFlags", 11040, OUT_HANDLE, HANDLE, LONG)
def graph_instantiate(driver: Driver, handle: int, flags: int) -> int:
    """Without the flags that need `cuGraphInstantiateWithParams`."""
    if flags & ~ALL_FLAGS or flags & (FLAG_UPLOAD | FLAG_DEVICE_LAUNCH):
        raise DriverError(Result.INVALID_VALUE, f"flags {flags}")
    try:
        executable = instantiate(graph_of(driver, handle), flags)
    except Cycle as cycle:
        raise DriverError(Result.INVALID_VALUE, str(cycle)) from cycle
    return driver.handles.add(executable)


@TABLE.entry("cuGraphInstantiateWithParams", 12000, OUT_HANDLE, HANDLE, structure(InstantiateParams))
def graph_instantiate_with_params(driver: Driver, handle: int, params: InstantiateParams) -> int:
    """Says in the parameters what is wrong, if anything is."""
    if params.flags & ~ALL_FLAGS:
        raise DriverError(Result.INVALID_VALUE, f"flags {params.flags}")
    if params.flags & FLAG_DEVICE_LAUNCH:
        raise DriverError(Result.NOT_SUPPORTED, "launches from the device")
    graph = graph_of(driver, handle)
    if params.flags & FLAG_UPLOAD:
        driver.stream(params.hUploadStream)
    try:
        executable = instantiate(graph, params.flags)
    except Cycle as cycle:
        params.hErrNode_out, params.result_out = cycle.node.handle, INVALID_STRUCTURE
        raise DriverError(Result.INVALID_VALUE, str(cycle)) from cycle
    params.hErrNode_out, params.result_out = 0, INSTANTIATED
    executable.uploaded = bool(params.flags & FLAG_UPLOAD)
    return driver.handles.add(executable)


@TABLE.entry("cuGraphExecGetFlags", 12000, HANDLE, OUT_LONG, needs=Needs.DRIVER)
def graph_exec_get_flags(driver: Driver, handle: int) -> int:
    """Those that it was made with."""
    return executable_of(driver, handle).flags


@TABLE.entry("cuGraphExecDestroy", 10000, HANDLE, needs=Needs.DRIVER)
def graph_exec_destroy(driver: Driver, handle: int) -> None:
    """No launch is under way."""
    executable = executable_of(driver, handle)
    driver.handles.remove(executable)
    release_all(driver.handles, executable.user_objects)


@TABLE.entry("cuGraphUpload", 11010, HANDLE, HANDLE)
def graph_upload(driver: Driver, handle: int, stream: int) -> None:
    """Nothing is left to do."""
    driver.stream(stream)
    executable_of(driver, handle).uploaded = True


@TABLE.entry("cuGraphLaunch", 10000, HANDLE, HANDLE)
def graph_launch(driver: Driver, handle: int, stream: int) -> None:
    """Runs it now. It is not captured: the graph behind an executable graph is gone."""
    executable, on = executable_of(driver, handle), driver.stream(stream)
    if capture_of(on) is not None:
        raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "launches of graphs are not captured here")
    launch(driver, on.context, executable)


@TABLE.entry("cuGraphExecUpdate", 12000, HANDLE, HANDLE, structure(UpdateResultInfo))
def graph_exec_update(driver: Driver, handle: int, graph: int, info: UpdateResultInfo) -> None:
    """As `update_all`; says in the structure which node cannot change."""
    info.result, info.errorNode, info.errorFromNode = UpdateResult.ERROR, 0, 0
    executable, other = executable_of(driver, handle), graph_of(driver, graph)
    try:
        update_all(driver, executable, other)
    except Refusal as refusal:
        info.result = refusal.result
        info.errorNode = 0 if refusal.node is None else refusal.node.handle
        info.errorFromNode = 0 if refusal.before is None else refusal.before.handle
        raise DriverError(Result.GRAPH_EXEC_UPDATE_FAILURE, str(refusal)) from refusal
    info.result = UpdateResult.SUCCESS


def _change(driver: Driver, handle: int, node: int, work: Work) -> None:
    """Gives one node other work. Raises DriverError: INVALID_VALUE where it does not take it."""
    changed = executable_of(driver, handle).find(node_of(driver, node))
    try:
        check_change(driver, changed, work)
    except Refusal as refusal:
        raise DriverError(Result.INVALID_VALUE, str(refusal)) from refusal
    changed.work = work


@TABLE.entry("cuGraphExecKernelNodeSetParams", 12000, HANDLE, HANDLE, structure(KernelNodeParams))
def exec_kernel_node_set_params(driver: Driver, handle: int, node: int, params: KernelNodeParams) -> None:
    """All may change but the kernel's context."""
    _change(driver, handle, node, kernel_work_of(driver, params))


@TABLE.entry("cuGraphExecMemcpyNodeSetParams", 10020, HANDLE, HANDLE, structure(Memcpy3D), HANDLE)
def exec_memcpy_node_set_params(driver: Driver, handle: int, node: int, params: Memcpy3D, _context: int) -> None:
    """Addresses of the same kinds."""
    _change(driver, handle, node, copy_work_of(driver, params))


@TABLE.entry("cuGraphExecMemsetNodeSetParams", 10020, HANDLE, HANDLE, structure(MemsetNodeParams), HANDLE)
def exec_memset_node_set_params(
    driver: Driver, handle: int, node: int, params: MemsetNodeParams, _context: int
) -> None:
    """Address and value."""
    _change(driver, handle, node, fill_work_of(driver, params))


@TABLE.entry("cuGraphExecEventRecordNodeSetEvent", 11010, HANDLE, HANDLE, HANDLE)
def exec_event_record_node_set_event(driver: Driver, handle: int, node: int, event: int) -> None:
    """Any event."""
    _change(driver, handle, node, RecordWork(driver.handles.get(Event, event)))


@TABLE.entry("cuGraphExecEventWaitNodeSetEvent", 11010, HANDLE, HANDLE, HANDLE)
def exec_event_wait_node_set_event(driver: Driver, handle: int, node: int, event: int) -> None:
    """Any event."""
    _change(driver, handle, node, WaitWork(driver.handles.get(Event, event)))


@TABLE.entry("cuGraphExecNodeSetParams", 12020, HANDLE, HANDLE, structure(GraphNodeParams))
def exec_node_set_params(driver: Driver, handle: int, node: int, params: GraphNodeParams) -> None:
    """Any node's but a child graph's."""
    work, _ = work_of(driver, params)
    if isinstance(work, ChildWork):
        raise DriverError(Result.NOT_SUPPORTED, "child graphs change with cuGraphExecUpdate")
    _change(driver, handle, node, work)


@TABLE.entry("cuGraphNodeSetEnabled", 11060, HANDLE, HANDLE, UINT)
def node_set_enabled(driver: Driver, handle: int, node: int, enabled: int) -> None:
    """Whether a kernel, a copy or a fill is done."""
    _switchable(driver, handle, node).enabled = bool(enabled)


@TABLE.entry("cuGraphNodeGetEnabled", 11060, HANDLE, HANDLE, OUT_UINT)
def node_get_enabled(driver: Driver, handle: int, node: int) -> int:
    """Whether it is done."""
    return int(_switchable(driver, handle, node).enabled)


def _switchable(driver: Driver, handle: int, node: int) -> ExecNode:
    found = executable_of(driver, handle).find(node_of(driver, node))
    if not isinstance(found.work, KernelWork | CopyWork | FillWork):
        raise DriverError(Result.INVALID_VALUE, "only kernels, copies and fills are switched off")
    return found
