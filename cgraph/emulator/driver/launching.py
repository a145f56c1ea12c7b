"""Launches as a caller describes them, checked and completed: grid, block, shared memory and argument values."""

import ctypes as c

from attrs import evolve

from cgraph.emulator.driver.entries_device import ATTRIBUTES
from cgraph.emulator.driver.hardware import Grid
from cgraph.emulator.driver.layouts import KernelNodeParams
from cgraph.emulator.driver.objects import Function
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import KernelWork

BLOCK_THREADS, BLOCK_LIMITS, GRID_LIMITS = (
    ATTRIBUTES[1],
    (ATTRIBUTES[2], ATTRIBUTES[3], ATTRIBUTES[4]),
    (ATTRIBUTES[5], ATTRIBUTES[6], ATTRIBUTES[7]),
)
SHARED_OPT_IN = ATTRIBUTES[97]
# CU_LAUNCH_PARAM_END, CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE
EXTRA_END, EXTRA_POINTER, EXTRA_SIZE = 0, 1, 2
EXTRA_MOST_WORDS = 16


def kernel_work(
    function: Function, grid: Grid, block: Grid, shared_bytes: int, kernel_params: int, extra: int
) -> KernelWork:
    """A launch with the values that its arguments have now.

    `kernel_params` is the address of an array with the address of each argument, `extra` that of an array that ends
    with EXTRA_END and names a buffer with all of them; one of the two is 0.

    Raises:
        DriverError: INVALID_VALUE for sizes that no device takes, missing arguments, or both kinds of them;
            LAUNCH_OUT_OF_RESOURCES for a block that is too large for this kernel.
    """
    for axis, blocks, most_blocks, threads, most_threads in zip(
        "xyz", grid, GRID_LIMITS, block, BLOCK_LIMITS, strict=True
    ):
        if not 1 <= blocks <= most_blocks or not 1 <= threads <= most_threads:
            raise DriverError(Result.INVALID_VALUE, f"{blocks} blocks of {threads} threads in {axis}")
    threads = block[0] * block[1] * block[2]
    if threads > BLOCK_THREADS:
        raise DriverError(Result.INVALID_VALUE, f"a block of {threads} threads")
    if threads > function.kernel.max_threads:
        raise DriverError(Result.LAUNCH_OUT_OF_RESOURCES, f"a block of {threads} threads")
    if shared_bytes > function.dynamic_shared_limit or shared_bytes + function.kernel.shared_bytes > SHARED_OPT_IN:
        raise DriverError(Result.INVALID_VALUE, f"{shared_bytes} bytes of dynamic shared memory")
    if extra and kernel_params:
        raise DriverError(Result.INVALID_VALUE, "arguments are given in both ways")
    arguments = _packed_arguments(function, extra) if extra else _single_arguments(function, kernel_params)
    return KernelWork(function, grid, block, shared_bytes, arguments, packed=bool(extra))


def kernel_work_of(driver: Driver, params: KernelNodeParams) -> KernelWork:
    """The launch that a kernel node's parameters describe. Raises DriverError, also where no kernel is named."""
    if params.func == 0 and params.kern == 0:
        raise DriverError(Result.INVALID_VALUE, "no kernel is named")
    work = kernel_work(
        driver.handles.get(Function, params.func or params.kern),
        (params.gridDimX, params.gridDimY, params.gridDimZ),
        (params.blockDimX, params.blockDimY, params.blockDimZ),
        params.sharedMemBytes,
        params.kernelParams,
        params.extra,
    )
    return evolve(work, of_library=params.func == 0)


def reported_arguments(work: KernelWork) -> tuple[int, int, object]:
    """`kernelParams` and `extra` of a launch, one of them 0, and what must be kept while they are used."""
    buffer = c.create_string_buffer(work.arguments, max(1, len(work.arguments)))
    start = c.addressof(buffer)
    if work.packed:
        size = c.c_size_t(len(work.arguments))
        words = (EXTRA_POINTER, start, EXTRA_SIZE, c.addressof(size), EXTRA_END)
        extra = (c.c_uint64 * len(words))(*words)
        return 0, c.addressof(extra), (buffer, size, extra)
    parameters = work.function.kernel.parameters
    if not parameters:
        return 0, 0, ()
    addresses = (c.c_uint64 * len(parameters))(*(start + parameter.offset for parameter in parameters))
    return c.addressof(addresses), 0, (buffer, addresses)


def _single_arguments(function: Function, kernel_params: int) -> bytes:
    parameters = function.kernel.parameters
    if not parameters:
        return b""
    if kernel_params == 0:
        raise DriverError(Result.INVALID_VALUE, "the kernel has parameters and no arguments are given")
    buffer = bytearray(function.parameter_bytes)
    addresses = (c.c_uint64 * len(parameters)).from_address(kernel_params)
    for parameter, address in zip(parameters, addresses, strict=True):
        if address == 0:
            raise DriverError(Result.INVALID_VALUE, "an argument's address is null")
        buffer[parameter.offset : parameter.offset + parameter.size_bytes] = c.string_at(address, parameter.size_bytes)
    return bytes(buffer)


def _packed_arguments(function: Function, extra: int) -> bytes:
    words: dict[int, int] = {}
    address = extra
    for _ in range(EXTRA_MOST_WORDS):
        word = c.c_uint64.from_address(address).value
        if word == EXTRA_END:
            break
        if word not in (EXTRA_POINTER, EXTRA_SIZE):
            raise DriverError(Result.INVALID_VALUE, f"{word} is no word of extra")
        words[word] = c.c_uint64.from_address(address + 8).value
        address += 16
    if not words.get(EXTRA_POINTER) or not words.get(EXTRA_SIZE):
        raise DriverError(Result.INVALID_VALUE, "extra names no buffer")
    size = c.c_size_t.from_address(words[EXTRA_SIZE]).value
    if size < function.parameter_bytes:
        raise DriverError(Result.INVALID_VALUE, f"{size} bytes of arguments, {function.parameter_bytes} are needed")
    return c.string_at(words[EXTRA_POINTER], function.parameter_bytes)
