"""Memory as driver calls see it: device and host addresses in one space, ranges that must lie inside an allocation.

Receives addresses and sizes from callers; guarantees that a device range that is not inside one live allocation is an
error code. Host addresses are the caller's word: as with a real driver, a wrong one is a crash.
"""

import ctypes as c

from attrs import frozen

from cgraph.emulator.driver.layouts import MemoryType
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

LAST_HOST_ADDRESS = 1 << 56
ELEMENT_SIZES_BYTES = (1, 2, 4)


@frozen
class Place:
    """A range's first byte, and whether it is the device's."""

    address: int
    on_device: bool


def allocate(driver: Driver, size_bytes: int) -> int:
    """Device memory for the current context. Raises DriverError: INVALID_VALUE for no bytes, OUT_OF_MEMORY."""
    context = driver.current()
    if size_bytes == 0:
        raise DriverError(Result.INVALID_VALUE, "an allocation of 0 bytes")
    if driver.allocated_bytes + size_bytes > driver.hardware.total_bytes:
        raise DriverError(Result.OUT_OF_MEMORY, f"{size_bytes} bytes do not fit")
    try:
        address = driver.hardware.memory.allocate(size_bytes)
    except MemoryError as error:
        raise DriverError(Result.OUT_OF_MEMORY, str(error)) from error
    context.memory[address] = size_bytes
    driver.allocated_bytes += size_bytes
    return address


def free(driver: Driver, address: int) -> None:
    """Gives device memory back; 0 is nothing to do. Raises DriverError: INVALID_VALUE where nothing begins there."""
    driver.current()
    if address == 0:
        return
    owner = next((found for found in driver.contexts if address in found.memory), None)
    if owner is None:
        raise DriverError(Result.INVALID_VALUE, f"no allocation begins at {address:#x}")
    driver.hardware.memory.free(address)
    driver.allocated_bytes -= owner.memory.pop(address)


def locate(driver: Driver, address: int, memory_type: int = MemoryType.UNIFIED) -> Place:
    """Where an address lies. Raises DriverError where it is of another kind than `memory_type` says."""
    on_device = driver.hardware.memory.find(address) is not None
    if memory_type == MemoryType.DEVICE and not on_device:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} is not in device memory")
    if memory_type == MemoryType.HOST:
        on_device = False
    if not on_device and not 0 < address < LAST_HOST_ADDRESS:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} is no address")
    return Place(address, on_device)


def check_device_range(driver: Driver, address: int, size_bytes: int) -> None:
    """Raises DriverError: INVALID_VALUE where the range is not inside one allocation."""
    found = driver.hardware.memory.find(address)
    if found is None or address + size_bytes > found.stop:
        raise DriverError(Result.INVALID_VALUE, f"{size_bytes} bytes at {address:#x} are not inside one allocation")


def copy(driver: Driver, destination: Place, source: Place, size_bytes: int) -> None:
    """Copies a run of bytes. Raises DriverError where a device range is not inside one allocation."""
    for place in (destination, source):
        if place.on_device:
            check_device_range(driver, place.address, size_bytes)
    memory = driver.hardware.memory
    if destination.on_device and source.on_device:
        memory.copy(destination.address, source.address, size_bytes)
    elif destination.on_device:
        memory.write(destination.address, memoryview((c.c_ubyte * size_bytes).from_address(source.address)).cast("B"))
    elif source.on_device:
        c.memmove(destination.address, memory.read(source.address, size_bytes), size_bytes)
    else:
        c.memmove(destination.address, source.address, size_bytes)


def check_fill(address: int, element_bytes: int, pitch: int, width: int, height: int) -> None:
    """Raises DriverError: INVALID_VALUE for an element, an alignment or a pitch that a fill does not take."""
    if element_bytes not in ELEMENT_SIZES_BYTES:
        raise DriverError(Result.INVALID_VALUE, f"an element of {element_bytes} bytes")
    if address % element_bytes:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} is no multiple of {element_bytes}")
    if height > 1 and (pitch % element_bytes or pitch < width * element_bytes):
        raise DriverError(Result.INVALID_VALUE, f"a pitch of {pitch} bytes")


def fill(driver: Driver, address: int, value: int, element_bytes: int, pitch: int, width: int, height: int) -> None:
    """Sets `height` rows of `width` elements, `pitch` bytes apart, to a value's lowest bytes."""
    check_fill(address, element_bytes, pitch, width, height)
    if width == 0 or height == 0:
        return
    row_bytes = width * element_bytes
    check_device_range(driver, address, (height - 1) * pitch + row_bytes)
    pattern = (value & ((1 << 8 * element_bytes) - 1)).to_bytes(element_bytes, "little")
    memory = driver.hardware.memory
    if height == 1 or pitch == row_bytes:
        memory.fill(address, pattern, width * height)
        return
    row = pattern * width
    for start in range(address, address + height * pitch, pitch):
        memory.write(start, row)
