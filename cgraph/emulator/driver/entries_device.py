"""Entry points about errors, the driver itself and its one device."""

import ctypes as c

from cgraph.emulator.driver.abi import (
    ADDRESS,
    INT,
    OUT_HANDLE,
    OUT_INT,
    OUT_SIZE,
    OUT_UINT,
    UINT,
    Needs,
    Table,
)
from cgraph.emulator.driver.objects import Context
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import DRIVER_VERSION, Driver

TABLE = Table()

DEVICE_NAME = "cgraph emulated device"
UUID_BYTES = 16

# CUdevice_attribute: what programs ask for, as of a small device of compute capability 8.0 and the CUDA C++ Programming
# Guide's limits. An attribute that is not here is 0: a feature that the device does not have.
ATTRIBUTES = {
    1: 1024,  # MAX_THREADS_PER_BLOCK
    2: 1024,  # MAX_BLOCK_DIM_X
    3: 1024,  # MAX_BLOCK_DIM_Y
    4: 64,  # MAX_BLOCK_DIM_Z
    5: 2**31 - 1,  # MAX_GRID_DIM_X
    6: 65_535,  # MAX_GRID_DIM_Y
    7: 65_535,  # MAX_GRID_DIM_Z
    8: 48 * 1024,  # MAX_SHARED_MEMORY_PER_BLOCK
    9: 64 * 1024,  # TOTAL_CONSTANT_MEMORY
    10: 32,  # WARP_SIZE
    11: 2**31 - 1,  # MAX_PITCH
    12: 65_536,  # MAX_REGISTERS_PER_BLOCK
    13: 1_000_000,  # CLOCK_RATE, in kHz
    14: 512,  # TEXTURE_ALIGNMENT
    15: 1,  # GPU_OVERLAP
    16: 1,  # MULTIPROCESSOR_COUNT
    19: 1,  # CAN_MAP_HOST_MEMORY
    31: 1,  # CONCURRENT_KERNELS
    36: 1_000_000,  # MEMORY_CLOCK_RATE, in kHz
    37: 256,  # GLOBAL_MEMORY_BUS_WIDTH, in bits
    38: 1 << 20,  # L2_CACHE_SIZE
    39: 2048,  # MAX_THREADS_PER_MULTIPROCESSOR
    40: 1,  # ASYNC_ENGINE_COUNT
    41: 1,  # UNIFIED_ADDRESSING
    78: 1,  # STREAM_PRIORITIES_SUPPORTED
    81: 164 * 1024,  # MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    82: 65_536,  # MAX_REGISTERS_PER_MULTIPROCESSOR
    97: 163 * 1024,  # MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    106: 32,  # MAX_BLOCKS_PER_MULTIPROCESSOR
    111: 1024,  # RESERVED_SHARED_MEMORY_PER_BLOCK
}
MAJOR, MINOR = 75, 76  # COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR
LAST_ATTRIBUTE = 200  # more than cuda.h has so far


def check_device(device: int) -> None:
    """Raises DriverError where the number is no device's."""
    if device != 0:
        raise DriverError(Result.INVALID_DEVICE, f"there is no device {device}")


def device_attribute(driver: Driver, attribute: int) -> int:
    """An attribute's value. Raises DriverError for a number that is no attribute's."""
    if not 1 <= attribute < LAST_ATTRIBUTE:
        raise DriverError(Result.INVALID_VALUE, f"{attribute} is no attribute")
    if attribute in (MAJOR, MINOR):
        return driver.hardware.capability[attribute - MAJOR]
    return ATTRIBUTES.get(attribute, 0)


@TABLE.entry("cuGetErrorName", 6000, INT, OUT_HANDLE, needs=Needs.NOTHING)
def get_error_name(driver: Driver, error: int) -> int:
    """An unknown result is an error, as in the real driver."""
    return driver.text(_result(error).full_name)


@TABLE.entry("cuGetErrorString", 6000, INT, OUT_HANDLE, needs=Needs.NOTHING)
def get_error_string(driver: Driver, error: int) -> int:
    """As `get_error_name`."""
    return driver.text(_result(error).text)


def _result(error: int) -> Result:
    try:
        return Result(error)
    except ValueError:
        raise DriverError(Result.INVALID_VALUE, f"{error} is no result") from None


@TABLE.entry("cuInit", 2000, UINT, needs=Needs.NOTHING)
def init(driver: Driver, flags: int) -> None:
    """Flags must be 0."""
    if flags != 0:
        raise DriverError(Result.INVALID_VALUE, "flags must be 0")
    driver.initialized = True


@TABLE.entry("cuDriverGetVersion", 2020, OUT_INT, needs=Needs.NOTHING)
def driver_get_version(_driver: Driver) -> int:
    """The CUDA version whose interface this is."""
    return DRIVER_VERSION


@TABLE.entry("cuDeviceGetCount", 2000, OUT_INT, needs=Needs.DRIVER)
def device_get_count(_driver: Driver) -> int:
    """One."""
    return 1


@TABLE.entry("cuDeviceGet", 2000, OUT_INT, INT, needs=Needs.DRIVER)
def device_get(_driver: Driver, ordinal: int) -> int:
    """A device is its number."""
    check_device(ordinal)
    return ordinal


@TABLE.entry("cuDeviceGetName", 2000, ADDRESS, INT, INT, needs=Needs.DRIVER)
def device_get_name(_driver: Driver, name: int, length: int, device: int) -> None:
    """Cut off where the buffer ends, always with a zero byte."""
    check_device(device)
    if name == 0 or length <= 0:
        raise DriverError(Result.INVALID_VALUE, "no room for the name")
    data = DEVICE_NAME.encode()[: length - 1] + b"\0"
    c.memmove(name, data, len(data))


@TABLE.entry("cuDeviceGetUuid", 11040, ADDRESS, INT, needs=Needs.DRIVER)
def device_get_uuid(_driver: Driver, uuid: int, device: int) -> None:
    """Always the same bytes."""
    check_device(device)
    if uuid == 0:
        raise DriverError(Result.INVALID_VALUE, "no room for the number")
    c.memmove(uuid, DEVICE_NAME.encode()[:UUID_BYTES], UUID_BYTES)


@TABLE.entry("cuDeviceTotalMem", 3020, OUT_SIZE, INT, needs=Needs.DRIVER)
def device_total_mem(driver: Driver, device: int) -> int:
    """In bytes."""
    check_device(device)
    return driver.hardware.total_bytes


@TABLE.entry("cuDeviceGetAttribute", 2000, OUT_INT, INT, INT, needs=Needs.DRIVER)
def device_get_attribute(driver: Driver, attribute: int, device: int) -> int:
    """As `device_attribute`."""
    check_device(device)
    return device_attribute(driver, attribute)


@TABLE.entry("cuDeviceComputeCapability", 2000, OUT_INT, OUT_INT, INT, needs=Needs.DRIVER)
def device_compute_capability(driver: Driver, device: int) -> tuple[int, int]:
    """Major and minor."""
    check_device(device)
    return driver.hardware.capability


@TABLE.entry("cuDevicePrimaryCtxRetain", 7000, OUT_HANDLE, INT, needs=Needs.DRIVER)
def primary_context_retain(driver: Driver, device: int) -> int:
    """Makes the primary context with the first call."""
    check_device(device)
    if driver.primary is None:
        driver.primary = Context(driver.primary_flags)
        driver.handles.add(driver.primary)
    driver.primary_retained += 1
    return driver.primary.handle


@TABLE.entry("cuDevicePrimaryCtxRelease", 11000, INT, needs=Needs.DRIVER)
def primary_context_release(driver: Driver, device: int) -> None:
    """Destroys the primary context with the last call."""
    check_device(device)
    if driver.primary is None:
        raise DriverError(Result.INVALID_CONTEXT, "the primary context is not retained")
    driver.primary_retained -= 1
    if driver.primary_retained == 0:
        driver.destroy_context(driver.primary)
        driver.primary = None


@TABLE.entry("cuDevicePrimaryCtxReset", 11000, INT, needs=Needs.DRIVER)
def primary_context_reset(driver: Driver, device: int) -> None:
    """Destroys the primary context, whoever retains it."""
    check_device(device)
    if driver.primary is not None:
        driver.destroy_context(driver.primary)
        driver.primary, driver.primary_retained = None, 0


@TABLE.entry("cuDevicePrimaryCtxGetState", 7000, INT, OUT_UINT, OUT_INT, needs=Needs.DRIVER)
def primary_context_get_state(driver: Driver, device: int) -> tuple[int, int]:
    """Flags, and whether it exists."""
    check_device(device)
    return driver.primary_flags, int(driver.primary is not None)


@TABLE.entry("cuDevicePrimaryCtxSetFlags", 11000, INT, UINT, needs=Needs.DRIVER)
def primary_context_set_flags(driver: Driver, device: int, flags: int) -> None:
    """Flags change nothing here but what is answered."""
    check_device(device)
    driver.primary_flags = flags
    if driver.primary is not None:
        driver.primary.flags = flags
