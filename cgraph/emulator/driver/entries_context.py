"""Entry points about contexts. Each thread has a stack of them, and the last one is current."""

import ctypes as c

from cgraph.emulator.driver.abi import (
    ADDRESS,
    HANDLE,
    INT,
    OUT_HANDLE,
    OUT_INT,
    OUT_LONG,
    OUT_SIZE,
    OUT_UINT,
    SIZE,
    UINT,
    Needs,
    Table,
    maybe_out,
)
from cgraph.emulator.driver.entries_device import check_device
from cgraph.emulator.driver.objects import Context
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

LAST_LIMIT = 16  # more than CUlimit has


def _create(driver: Driver, flags: int, device: int) -> int:
    check_device(device)
    context = Context(flags)
    driver.handles.add(context)
    driver.stack.append(context)
    return context.handle


@TABLE.entry("cuCtxCreate", 3020, OUT_HANDLE, UINT, INT, needs=Needs.DRIVER)
def context_create(driver: Driver, flags: int, device: int) -> int:
    """Makes a context current."""
    return _create(driver, flags, device)


@TABLE.entry("cuCtxCreate", 12050, OUT_HANDLE, ADDRESS, UINT, INT, needs=Needs.DRIVER)
def context_create_with_params(driver: Driver, _params: int, flags: int, device: int) -> int:
    """As `context_create`; affinities have no meaning here."""
    return _create(driver, flags, device)


@TABLE.entry("cuCtxDestroy", 4000, HANDLE, needs=Needs.DRIVER)
def context_destroy(driver: Driver, handle: int) -> None:
    """A context that is current is popped. The primary one is not destroyed so."""
    context = driver.context(handle)
    if context is driver.primary:
        raise DriverError(Result.INVALID_CONTEXT, "a primary context is released, not destroyed")
    if driver.stack and driver.stack[-1] is context:
        driver.stack.pop()
    driver.destroy_context(context)


@TABLE.entry("cuCtxPushCurrent", 4000, HANDLE, needs=Needs.DRIVER)
def context_push_current(driver: Driver, handle: int) -> None:
    """Makes a context current."""
    driver.stack.append(driver.context(handle))


@TABLE.entry("cuCtxPopCurrent", 4000, maybe_out(c.c_uint64), needs=Needs.DRIVER)
def context_pop_current(driver: Driver) -> int:
    """Makes the one below current."""
    if not driver.stack:
        raise DriverError(Result.INVALID_CONTEXT, "no context is current")
    return driver.stack.pop().handle


@TABLE.entry("cuCtxSetCurrent", 4000, HANDLE, needs=Needs.DRIVER)
def context_set_current(driver: Driver, handle: int) -> None:
    """Replaces the current context; with 0, pops it."""
    context = driver.context(handle) if handle else None
    if driver.stack:
        driver.stack.pop()
    if context is not None:
        driver.stack.append(context)


@TABLE.entry("cuCtxGetCurrent", 4000, OUT_HANDLE, needs=Needs.DRIVER)
def context_get_current(driver: Driver) -> int:
    """0 where there is none."""
    return driver.stack[-1].handle if driver.stack else 0


@TABLE.entry("cuCtxGetDevice", 2000, OUT_INT)
def context_get_device(_driver: Driver) -> int:
    """The only one."""
    return 0


@TABLE.entry("cuCtxGetDevice", 13000, OUT_INT, HANDLE, needs=Needs.DRIVER)
def context_get_device_of(driver: Driver, handle: int) -> int:
    """That of a context, or of the current one."""
    _named(driver, handle)
    return 0


@TABLE.entry("cuCtxGetFlags", 7000, OUT_UINT)
def context_get_flags(driver: Driver) -> int:
    """Those that it was created with."""
    return driver.current().flags


@TABLE.entry("cuCtxGetId", 12000, HANDLE, OUT_LONG, needs=Needs.DRIVER)
def context_get_id(driver: Driver, handle: int) -> int:
    """Handles are never used twice, so they are good numbers."""
    return _named(driver, handle).handle


@TABLE.entry("cuCtxGetApiVersion", 3020, HANDLE, OUT_UINT, needs=Needs.DRIVER)
def context_get_api_version(driver: Driver, handle: int) -> int:
    """The version of the context's interface, 3020 ever since."""
    _named(driver, handle)
    return 3020


@TABLE.entry("cuCtxSynchronize", 2000)
def context_synchronize(driver: Driver) -> None:
    """All work is done when it is enqueued; what is left is to say whether it failed."""
    _no_capture(driver)


@TABLE.entry("cuCtxSynchronize", 13000, HANDLE, needs=Needs.DRIVER)
def context_synchronize_of(driver: Driver, handle: int) -> None:
    """That of a context, or of the current one."""
    context = _named(driver, handle)
    if context.fault is not None:
        raise DriverError(context.fault, "a kernel failed earlier")
    _no_capture(driver)


@TABLE.entry("cuCtxSetLimit", 3010, INT, SIZE)
def context_set_limit(driver: Driver, limit: int, value: int) -> None:
    """Limits are kept and have no effect."""
    driver.current().limits[_limit(limit)] = value


@TABLE.entry("cuCtxGetLimit", 3010, OUT_SIZE, INT)
def context_get_limit(driver: Driver, limit: int) -> int:
    """What was set, or 0."""
    return driver.current().limits.get(_limit(limit), 0)


@TABLE.entry("cuCtxGetStreamPriorityRange", 5050, maybe_out(c.c_int), maybe_out(c.c_int))
def context_get_stream_priority_range(_driver: Driver) -> tuple[int, int]:
    """Least and greatest; the greatest is the smaller number."""
    return 0, -1


def _limit(limit: int) -> int:
    if not 0 <= limit < LAST_LIMIT:
        raise DriverError(Result.INVALID_VALUE, f"{limit} is no limit")
    return limit


def _named(driver: Driver, handle: int) -> Context:
    return driver.context(handle) if handle else driver.current()


def _no_capture(driver: Driver) -> None:
    if driver.captures:
        raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "a stream is capturing")
