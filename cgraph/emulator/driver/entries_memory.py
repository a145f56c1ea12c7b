"""Entry points that allocate memory and say what lies at an address."""

import ctypes as c
from typing import Any

from cgraph.emulator.driver.abi import (
    ADDRESS,
    HANDLE,
    INT,
    OUT_HANDLE,
    OUT_SIZE,
    OUT_UINT,
    SIZE,
    UINT,
    Table,
    maybe_out,
    read_handles,
)
from cgraph.emulator.driver.capturing import forbid_unsafe_calls
from cgraph.emulator.driver.layouts import MemoryType
from cgraph.emulator.driver.memory import allocate, free
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

PITCH_BYTES = 512  # rows of cuMemAllocPitch begin at multiples of this
PITCH_ELEMENTS_BYTES = (4, 8, 16)

# CUpointer_attribute
ATTRIBUTE_CONTEXT, ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_DEVICE_POINTER, ATTRIBUTE_HOST_POINTER = 1, 2, 3, 4
ATTRIBUTE_BUFFER_ID, ATTRIBUTE_IS_MANAGED, ATTRIBUTE_ORDINAL = 7, 8, 9
ATTRIBUTE_RANGE_START, ATTRIBUTE_RANGE_SIZE, ATTRIBUTE_MAPPED = 11, 12, 13
ATTRIBUTE_TYPES: dict[int, Any] = {
    ATTRIBUTE_CONTEXT: c.c_uint64,
    ATTRIBUTE_MEMORY_TYPE: c.c_uint,
    ATTRIBUTE_DEVICE_POINTER: c.c_uint64,
    ATTRIBUTE_HOST_POINTER: c.c_uint64,
    ATTRIBUTE_BUFFER_ID: c.c_uint64,
    ATTRIBUTE_IS_MANAGED: c.c_bool,
    ATTRIBUTE_ORDINAL: c.c_int,
    ATTRIBUTE_RANGE_START: c.c_uint64,
    ATTRIBUTE_RANGE_SIZE: c.c_size_t,
    ATTRIBUTE_MAPPED: c.c_bool,
}


@TABLE.entry("cuMemGetInfo", 3020, OUT_SIZE, OUT_SIZE)
def memory_get_info(driver: Driver) -> tuple[int, int]:
    """Free and total, in bytes."""
    total = driver.hardware.total_bytes
    return total - driver.allocated_bytes, total


@TABLE.entry("cuMemAlloc", 3020, OUT_HANDLE, SIZE)
def memory_allocate(driver: Driver, size_bytes: int) -> int:
    """As `allocate`."""
    forbid_unsafe_calls(driver)
    return allocate(driver, size_bytes)


@TABLE.entry("cuMemAllocAsync", 11020, OUT_HANDLE, SIZE, HANDLE)
def memory_allocate_async(driver: Driver, size_bytes: int, stream: int) -> int:
    """At once. Not while the stream captures: allocation nodes are not kept."""
    _not_capturing(driver, stream)
    return allocate(driver, size_bytes)


@TABLE.entry("cuMemAllocManaged", 6000, OUT_HANDLE, SIZE, UINT)
def memory_allocate_managed(_driver: Driver, _size_bytes: int, _flags: int) -> int:
    """The host cannot reach emulated memory."""
    raise DriverError(Result.NOT_SUPPORTED, "managed memory")


@TABLE.entry("cuMemAllocPitch", 3020, OUT_HANDLE, OUT_SIZE, SIZE, SIZE, UINT)
def memory_allocate_pitch(driver: Driver, width_bytes: int, height: int, element_bytes: int) -> tuple[int, int]:
    """Address, and bytes from row to row."""
    if 0 in (width_bytes, height) or element_bytes not in PITCH_ELEMENTS_BYTES:
        raise DriverError(Result.INVALID_VALUE, f"{height} rows of {width_bytes} bytes")
    pitch = -(-width_bytes // PITCH_BYTES) * PITCH_BYTES
    return allocate(driver, pitch * height), pitch


@TABLE.entry("cuMemFree", 3020, ADDRESS)
def memory_free(driver: Driver, address: int) -> None:
    """As `free`."""
    forbid_unsafe_calls(driver)
    free(driver, address)


@TABLE.entry("cuMemFreeAsync", 11020, ADDRESS, HANDLE)
def memory_free_async(driver: Driver, address: int, stream: int) -> None:
    """At once."""
    _not_capturing(driver, stream)
    if address == 0:
        raise DriverError(Result.INVALID_VALUE, "no address")
    free(driver, address)


@TABLE.entry("cuMemGetAddressRange", 3020, maybe_out(c.c_uint64), maybe_out(c.c_size_t), ADDRESS)
def memory_get_address_range(driver: Driver, address: int) -> tuple[int, int]:
    """First address and size of the allocation."""
    found = driver.hardware.memory.find(address)
    if found is None:
        raise DriverError(Result.NOT_FOUND, f"{address:#x} is in no allocation")
    return found.address, found.size_bytes


@TABLE.entry("cuMemHostAlloc", 2020, OUT_HANDLE, SIZE, UINT)
def memory_host_allocate(driver: Driver, size_bytes: int, _flags: int) -> int:
    """Ordinary memory of the host: nothing here needs it pinned."""
    return _allocate_on_host(driver, size_bytes)


def _allocate_on_host(driver: Driver, size_bytes: int) -> int:
    if size_bytes == 0 or size_bytes > driver.hardware.total_bytes:
        raise DriverError(Result.INVALID_VALUE if size_bytes == 0 else Result.OUT_OF_MEMORY, f"{size_bytes} bytes")
    buffer = c.create_string_buffer(size_bytes)
    address = c.addressof(buffer)
    driver.host_memory[address] = buffer
    return address


@TABLE.entry("cuMemAllocHost", 3020, OUT_HANDLE, SIZE)
def memory_allocate_host(driver: Driver, size_bytes: int) -> int:
    """As `memory_host_allocate`."""
    return _allocate_on_host(driver, size_bytes)


@TABLE.entry("cuMemFreeHost", 2000, ADDRESS)
def memory_free_host(driver: Driver, address: int) -> None:
    """What `memory_host_allocate` gave."""
    if driver.host_memory.pop(address, None) is None:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} was not allocated here")


@TABLE.entry("cuMemHostGetFlags", 2030, OUT_UINT, ADDRESS)
def memory_host_get_flags(driver: Driver, address: int) -> int:
    """Always 0."""
    if address not in driver.host_memory:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} was not allocated here")
    return 0


@TABLE.entry("cuPointerGetAttribute", 4000, ADDRESS, INT, ADDRESS)
def pointer_get_attribute(driver: Driver, data: int, attribute: int, address: int) -> None:
    """What is known about an address; nothing about one that the driver did not give out."""
    if data == 0 or attribute not in ATTRIBUTE_TYPES:
        raise DriverError(Result.INVALID_VALUE, f"{attribute} is no attribute")
    values = _attributes(driver, address)
    if values is None:
        raise DriverError(Result.INVALID_VALUE, f"{address:#x} is no address of ours")
    ATTRIBUTE_TYPES[attribute].from_address(data).value = values[attribute]


@TABLE.entry("cuPointerGetAttributes", 7000, UINT, ADDRESS, ADDRESS, ADDRESS)
def pointer_get_attributes(driver: Driver, count: int, attributes: int, data: int, address: int) -> None:
    """Several at once; all are 0 for an address that the driver did not give out."""
    if count == 0 or attributes == 0:
        raise DriverError(Result.INVALID_VALUE, "no attributes are asked for")
    asked = list((c.c_uint * count).from_address(attributes))
    places = read_handles(data, count)
    if not all(attribute in ATTRIBUTE_TYPES for attribute in asked) or 0 in places:
        raise DriverError(Result.INVALID_VALUE, f"attributes {asked}")
    values = _attributes(driver, address) or {}
    for attribute, place in zip(asked, places, strict=True):
        ATTRIBUTE_TYPES[attribute].from_address(place).value = values.get(attribute, 0)


def _attributes(driver: Driver, address: int) -> dict[int, int] | None:
    found = driver.hardware.memory.find(address)
    if found is not None:
        owner = next((context for context in driver.contexts if found.address in context.memory), None)
        return {
            ATTRIBUTE_CONTEXT: 0 if owner is None else owner.handle,
            ATTRIBUTE_MEMORY_TYPE: MemoryType.DEVICE,
            ATTRIBUTE_DEVICE_POINTER: address,
            ATTRIBUTE_HOST_POINTER: 0,
            ATTRIBUTE_BUFFER_ID: found.address,
            ATTRIBUTE_IS_MANAGED: False,
            ATTRIBUTE_ORDINAL: 0,
            ATTRIBUTE_RANGE_START: found.address,
            ATTRIBUTE_RANGE_SIZE: found.size_bytes,
            ATTRIBUTE_MAPPED: True,
        }
    for start, buffer in driver.host_memory.items():
        if start <= address < start + len(buffer):
            return {
                ATTRIBUTE_CONTEXT: driver.current().handle,
                ATTRIBUTE_MEMORY_TYPE: MemoryType.HOST,
                ATTRIBUTE_DEVICE_POINTER: 0,
                ATTRIBUTE_HOST_POINTER: address,
                ATTRIBUTE_BUFFER_ID: start,
                ATTRIBUTE_IS_MANAGED: False,
                ATTRIBUTE_ORDINAL: 0,
                ATTRIBUTE_RANGE_START: start,
                ATTRIBUTE_RANGE_SIZE: len(buffer),
                ATTRIBUTE_MAPPED: True,
            }
    return None


def _not_capturing(driver: Driver, stream: int) -> None:
    if driver.stream(stream).capture is not None:
        raise DriverError(Result.STREAM_CAPTURE_UNSUPPORTED, "allocations are not captured")
