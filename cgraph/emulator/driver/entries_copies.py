"""Entry points that copy memory and fill it, at once or on a stream."""

from cgraph.emulator.driver.abi import ADDRESS, BYTE, HANDLE, SHORT, SIZE, UINT, Table, structure
from cgraph.emulator.driver.capturing import enqueue, forbid_unsafe_calls
from cgraph.emulator.driver.layouts import Memcpy3D, MemoryType
from cgraph.emulator.driver.memory import check_device_range, locate
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.work import CopyWork, FillWork, check_fill_work, copy_from_params, flat_copy

TABLE = Table()

HOST, DEVICE, UNIFIED = MemoryType.HOST, MemoryType.DEVICE, MemoryType.UNIFIED
NULL_STREAM = 0


def _copy(driver: Driver, to: int, to_type: int, source: int, from_type: int, size_bytes: int, stream: int) -> None:
    """Enqueues a copy. Raises DriverError where a place or a size is wrong."""
    on = driver.stream(stream)
    if size_bytes == 0:
        return
    if 0 in (to, source):
        raise DriverError(Result.INVALID_VALUE, "an address is null")
    places = locate(driver, to, to_type), locate(driver, source, from_type)
    for place in places:
        if place.on_device:
            check_device_range(driver, place.address, size_bytes)
    enqueue(driver, on, flat_copy(*places, size_bytes))


def _fill(driver: Driver, work: FillWork, stream: int) -> None:
    """Enqueues a fill. Raises DriverError where a place or a size is wrong."""
    on = driver.stream(stream)
    if work.width == 0 or work.height == 0:
        return
    check_fill_work(driver, work)
    check_device_range(driver, work.address, (work.height - 1) * work.pitch + work.width * work.element_bytes)
    enqueue(driver, on, work)


def _register_copy(name: str, version: int, kinds: tuple[int, int]) -> None:
    to_type, from_type = kinds

    @TABLE.entry(name, version, ADDRESS, ADDRESS, SIZE)
    def copy_now(driver: Driver, to: int, source: int, size_bytes: int) -> None:
        forbid_unsafe_calls(driver)
        _copy(driver, to, to_type, source, from_type, size_bytes, NULL_STREAM)

    @TABLE.entry(f"{name}Async", version, ADDRESS, ADDRESS, SIZE, HANDLE)
    def copy_on_stream(driver: Driver, to: int, source: int, size_bytes: int, stream: int) -> None:
        _copy(driver, to, to_type, source, from_type, size_bytes, stream)


def _register_fill(element_bytes: int) -> None:
    kind = {1: BYTE, 2: SHORT, 4: UINT}[element_bytes]
    bits = 8 * element_bytes

    @TABLE.entry(f"cuMemsetD{bits}", 3020, ADDRESS, kind, SIZE)
    def fill_now(driver: Driver, to: int, value: int, count: int) -> None:
        forbid_unsafe_calls(driver)
        _fill(driver, FillWork(to, 0, value, element_bytes, count, 1), NULL_STREAM)

    @TABLE.entry(f"cuMemsetD{bits}Async", 3020, ADDRESS, kind, SIZE, HANDLE)
    def fill_on_stream(driver: Driver, to: int, value: int, count: int, stream: int) -> None:
        _fill(driver, FillWork(to, 0, value, element_bytes, count, 1), stream)

    @TABLE.entry(f"cuMemsetD2D{bits}", 3020, ADDRESS, SIZE, kind, SIZE, SIZE)
    def fill_rows_now(driver: Driver, to: int, pitch: int, value: int, width: int, height: int) -> None:
        forbid_unsafe_calls(driver)
        _fill(driver, FillWork(to, pitch, value, element_bytes, width, height), NULL_STREAM)

    @TABLE.entry(f"cuMemsetD2D{bits}Async", 3020, ADDRESS, SIZE, kind, SIZE, SIZE, HANDLE)
    def fill_rows_on_stream(
        driver: Driver, to: int, pitch: int, value: int, width: int, height: int, stream: int
    ) -> None:
        _fill(driver, FillWork(to, pitch, value, element_bytes, width, height), stream)


def _copy_params(driver: Driver, params: Memcpy3D, stream: int) -> None:
    on = driver.stream(stream)
    work: CopyWork = copy_from_params(driver, params)
    if 0 not in (work.width, work.height, work.depth):
        enqueue(driver, on, work)


@TABLE.entry("cuMemcpy3D", 3020, structure(Memcpy3D))
def copy_3d(driver: Driver, params: Memcpy3D) -> None:
    """At once."""
    forbid_unsafe_calls(driver)
    _copy_params(driver, params, NULL_STREAM)


@TABLE.entry("cuMemcpy3DAsync", 3020, structure(Memcpy3D), HANDLE)
def copy_3d_async(driver: Driver, params: Memcpy3D, stream: int) -> None:
    """On a stream."""
    _copy_params(driver, params, stream)


_register_copy("cuMemcpy", 4000, (UNIFIED, UNIFIED))
_register_copy("cuMemcpyHtoD", 3020, (DEVICE, HOST))
_register_copy("cuMemcpyDtoH", 3020, (HOST, DEVICE))
_register_copy("cuMemcpyDtoD", 3020, (DEVICE, DEVICE))
for _bytes in (1, 2, 4):
    _register_fill(_bytes)
