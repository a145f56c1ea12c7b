"""Entry points about a kernel's attributes, and about how many of its blocks fit on a multiprocessor."""

from cgraph.emulator.driver.abi import HANDLE, INT, OUT_INT, OUT_SIZE, SIZE, UINT, Needs, Table
from cgraph.emulator.driver.entries_device import ATTRIBUTES, check_device
from cgraph.emulator.driver.objects import Function
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

# CUfunction_attribute
MAX_THREADS, SHARED_BYTES, CONST_BYTES, LOCAL_BYTES, REGISTERS, PTX_VERSION, BINARY_VERSION = range(7)
DYNAMIC_SHARED_LIMIT, SHARED_CARVEOUT = 8, 9
LAST_ATTRIBUTE = 18
SETTABLE = (DYNAMIC_SHARED_LIMIT, SHARED_CARVEOUT, 10, 11, 12, 13, 14, 15)

# CUdevice_attribute
SHARED_OPT_IN, SHARED_PER_MULTIPROCESSOR, SHARED_RESERVED = ATTRIBUTES[97], ATTRIBUTES[81], ATTRIBUTES[111]
THREADS_PER_MULTIPROCESSOR, BLOCKS_PER_MULTIPROCESSOR, WARP_THREADS = ATTRIBUTES[39], ATTRIBUTES[106], ATTRIBUTES[10]


def get_attribute(driver: Driver, function: Function, attribute: int) -> int:
    """An attribute's value. Registers and local memory are not known: PTX leaves them to its compiler.

    Raises:
        DriverError: INVALID_VALUE for a number that is no attribute's.
    """
    if not 0 <= attribute < LAST_ATTRIBUTE:
        raise DriverError(Result.INVALID_VALUE, f"{attribute} is no attribute")
    major, minor = driver.hardware.capability
    return {
        MAX_THREADS: function.kernel.max_threads,
        SHARED_BYTES: function.kernel.shared_bytes,
        PTX_VERSION: 10 * major + minor,
        BINARY_VERSION: 10 * major + minor,
        DYNAMIC_SHARED_LIMIT: function.dynamic_shared_limit,
        SHARED_CARVEOUT: function.attributes.get(SHARED_CARVEOUT, -1),
    }.get(attribute, function.attributes.get(attribute, 0))


def set_attribute(function: Function, attribute: int, value: int) -> None:
    """Sets an attribute that can be set.

    Raises:
        DriverError: INVALID_VALUE for one that cannot, or a value that the device does not allow.
    """
    if attribute not in SETTABLE:
        raise DriverError(Result.INVALID_VALUE, f"attribute {attribute} can't be set")
    if attribute == DYNAMIC_SHARED_LIMIT:
        if not 0 <= value <= SHARED_OPT_IN - function.kernel.shared_bytes:
            raise DriverError(Result.INVALID_VALUE, f"{value} bytes of dynamic shared memory")
        function.dynamic_shared_limit = value
        return
    if attribute == SHARED_CARVEOUT and not -1 <= value <= 100:
        raise DriverError(Result.INVALID_VALUE, f"a carveout of {value} percent")
    function.attributes[attribute] = value


def blocks_per_multiprocessor(function: Function, threads: int, dynamic_shared_bytes: int) -> int:
    """How many blocks fit at once, by threads and shared memory; 0 where not even one does."""
    shared_bytes = function.kernel.shared_bytes + dynamic_shared_bytes
    if threads > function.kernel.max_threads or shared_bytes > SHARED_OPT_IN:
        return 0
    warps = -(-threads // WARP_THREADS)
    by_threads = THREADS_PER_MULTIPROCESSOR // (warps * WARP_THREADS)
    by_shared = SHARED_PER_MULTIPROCESSOR // (shared_bytes + SHARED_RESERVED)
    return min(by_threads, by_shared, BLOCKS_PER_MULTIPROCESSOR)


@TABLE.entry("cuFuncGetAttribute", 2020, OUT_INT, INT, HANDLE)
def function_get_attribute(driver: Driver, attribute: int, handle: int) -> int:
    """As `get_attribute`."""
    return get_attribute(driver, driver.handles.get(Function, handle), attribute)


@TABLE.entry("cuFuncSetAttribute", 9000, HANDLE, INT, INT)
def function_set_attribute(driver: Driver, handle: int, attribute: int, value: int) -> None:
    """As `set_attribute`."""
    set_attribute(driver.handles.get(Function, handle), attribute, value)


@TABLE.entry("cuFuncSetCacheConfig", 3000, HANDLE, INT)
def function_set_cache_config(driver: Driver, handle: int, _config: int) -> None:
    """A preference without effect."""
    driver.handles.get(Function, handle)


@TABLE.entry("cuKernelGetAttribute", 12000, OUT_INT, INT, HANDLE, INT, needs=Needs.DRIVER)
def kernel_get_attribute(driver: Driver, attribute: int, handle: int, device: int) -> int:
    """As `get_attribute`."""
    check_device(device)
    return get_attribute(driver, driver.handles.get(Function, handle), attribute)


@TABLE.entry("cuKernelSetAttribute", 12000, INT, INT, HANDLE, INT, needs=Needs.DRIVER)
def kernel_set_attribute(driver: Driver, attribute: int, value: int, handle: int, device: int) -> None:
    """As `set_attribute`."""
    check_device(device)
    set_attribute(driver.handles.get(Function, handle), attribute, value)


@TABLE.entry("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, OUT_INT, HANDLE, INT, SIZE)
def occupancy(driver: Driver, handle: int, threads: int, dynamic_shared_bytes: int) -> int:
    """As `blocks_per_multiprocessor`."""
    function = driver.handles.get(Function, handle)
    if threads <= 0:
        raise DriverError(Result.INVALID_VALUE, f"a block of {threads} threads")
    return blocks_per_multiprocessor(function, threads, dynamic_shared_bytes)


@TABLE.entry("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000, OUT_INT, HANDLE, INT, SIZE, UINT)
def occupancy_with_flags(driver: Driver, handle: int, threads: int, dynamic_shared_bytes: int, _flags: int) -> int:
    """As `occupancy`."""
    fitting: int = occupancy(driver, handle, threads, dynamic_shared_bytes)
    return fitting


@TABLE.entry("cuOccupancyAvailableDynamicSMemPerBlock", 10020, OUT_SIZE, HANDLE, INT, INT)
def available_shared_memory(driver: Driver, handle: int, blocks: int, threads: int) -> int:
    """What is left for each block when so many shall fit at once."""
    function = driver.handles.get(Function, handle)
    if threads <= 0 or blocks <= 0 or blocks_per_multiprocessor(function, threads, 0) < blocks:
        raise DriverError(Result.INVALID_VALUE, f"{blocks} blocks of {threads} threads do not fit")
    share = SHARED_PER_MULTIPROCESSOR // blocks - SHARED_RESERVED - function.kernel.shared_bytes
    return min(share, SHARED_OPT_IN - function.kernel.shared_bytes)
