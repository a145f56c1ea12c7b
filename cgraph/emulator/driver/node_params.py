"""The parameters of nodes, between cuda.h's structures and works."""

import ctypes as c
from typing import Any

from cgraph.emulator.driver.graphs import Node, graph_of
from cgraph.emulator.driver.launching import kernel_work_of, reported_arguments
from cgraph.emulator.driver.layouts import (
    GraphNodeParams,
    KernelNodeParams,
    Memcpy3D,
    MemsetNodeParams,
    NodeType,
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
    check_fill_work,
    copy_from_params,
)


def fill_work_of(driver: Driver, params: MemsetNodeParams) -> FillWork:
    """The fill that a memset node's parameters describe. Raises DriverError: INVALID_VALUE."""
    work = FillWork(params.dst, params.pitch, params.value, params.elementSize, params.width, params.height)
    if work.width == 0 or work.height == 0:
        raise DriverError(Result.INVALID_VALUE, "a fill of nothing")
    check_fill_work(driver, work)
    return work


def copy_work_of(driver: Driver, params: Memcpy3D) -> CopyWork:
    """The copy that a memcpy node's parameters describe. Raises DriverError: INVALID_VALUE."""
    work = copy_from_params(driver, params)
    if 0 in (work.width, work.height, work.depth):
        raise DriverError(Result.INVALID_VALUE, "a copy of nothing")
    return work


def context_of(driver: Driver, handle: int) -> Context:
    """The context that is named, else the current one."""
    return driver.context(handle) if handle else driver.current()


def kernel_context(driver: Driver, work: KernelWork, handle: int) -> Context:
    """The context of the kernel's module; that of a library's kernel is named, or the current one."""
    return work.function.module.context or context_of(driver, handle)


def work_of(driver: Driver, params: GraphNodeParams) -> tuple[Work, Context]:
    """What any node's parameters describe, and where it is done.

    Raises:
        DriverError: NOT_SUPPORTED for a type of node that the emulated driver does not have, INVALID_VALUE for
            parameters that are wrong.
    """
    of = params.of
    match params.type:
        case NodeType.KERNEL:
            work = kernel_work_of(driver, of.kernel)
            return work, kernel_context(driver, work, of.kernel.ctx)
        case NodeType.MEMCPY:
            return copy_work_of(driver, of.memcpy.copyParams), context_of(driver, of.memcpy.copyCtx)
        case NodeType.MEMSET:
            return fill_work_of(driver, of.memset.params), context_of(driver, of.memset.ctx)
        case NodeType.HOST:
            if of.host.fn == 0:
                raise DriverError(Result.INVALID_VALUE, "the function is null")
            return HostWork(of.host.fn, of.host.userData), driver.current()
        case NodeType.GRAPH:
            return ChildWork(graph_of(driver, of.graph.graph)), driver.current()
        case NodeType.EMPTY:
            return EmptyWork(), driver.current()
        case NodeType.WAIT_EVENT:
            return WaitWork(driver.handles.get(Event, of.event.event)), driver.current()
        case NodeType.EVENT_RECORD:
            return RecordWork(driver.handles.get(Event, of.event.event)), driver.current()
    raise DriverError(Result.NOT_SUPPORTED, f"nodes of type {params.type}")


def report_kernel(node: Node, params: KernelNodeParams) -> None:
    """Writes a kernel node's parameters. What they point to stays until they are asked for again."""
    work: Any = node.work
    kernel_params, extra, node.reported = reported_arguments(work)
    handle = work.function.handle
    params.func, params.kern = (0, handle) if work.of_library else (handle, 0)
    params.ctx = node.context.handle
    params.gridDimX, params.gridDimY, params.gridDimZ = work.grid
    params.blockDimX, params.blockDimY, params.blockDimZ = work.block
    params.sharedMemBytes, params.kernelParams, params.extra = work.shared_bytes, kernel_params, extra


def report_copy(node: Node, params: Memcpy3D) -> None:
    """Writes a memcpy node's parameters."""
    work: Any = node.work
    c.memmove(c.addressof(params), work.params, len(work.params))


def report_fill(node: Node, params: MemsetNodeParams) -> None:
    """Writes a memset node's parameters."""
    work: Any = node.work
    params.dst, params.pitch, params.value = work.address, work.pitch, work.value
    params.elementSize, params.width, params.height = work.element_bytes, work.width, work.height


def report(node: Node, params: GraphNodeParams) -> None:
    """Writes any node's parameters, and its type."""
    of, work = params.of, node.work
    params.type = work.type
    match work:
        case KernelWork():
            report_kernel(node, of.kernel)
        case CopyWork():
            report_copy(node, of.memcpy.copyParams)
            of.memcpy.copyCtx = node.context.handle
        case FillWork():
            report_fill(node, of.memset.params)
            of.memset.ctx = node.context.handle
        case HostWork():
            of.host.fn, of.host.userData = work.function, work.argument
        case ChildWork():
            of.graph.graph = work.graph.handle
        case RecordWork() | WaitWork():
            of.event.event = work.event.handle
