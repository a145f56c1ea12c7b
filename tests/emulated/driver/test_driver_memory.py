"""Memory of the emulated device: allocations, copies and fills through cuda.bindings, against values known by hand."""

from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import download, ints, upload

from tests.support.emulated import INSTALLATION, call, fails

pytestmark = pytest.mark.usefixtures("context")

NOWHERE = 0x10


def test_bytes_come_back() -> None:
    values = np.arange(-50, 50, dtype=np.int32)
    assert ints(upload(values), 100) == list(range(-50, 50))


def test_parts_of_allocations() -> None:
    address = upload(np.arange(6, dtype=np.int32))
    other = upload(np.array([70, 71], np.int32))
    call(cu.cuMemcpyDtoD, address + 8, other, 8)
    assert ints(address, 6) == [0, 1, 70, 71, 4, 5]
    call(cu.cuMemcpy, address, address + 12, 4)
    assert ints(address, 1) == [71]


def test_fills() -> None:
    address = int(call(cu.cuMemAlloc, 16))
    call(cu.cuMemsetD8, address, 0x11, 16)
    call(cu.cuMemsetD16, address + 4, 0x2233, 2)
    call(cu.cuMemsetD32, address + 8, 0x44556677, 1)
    found = download(address, np.empty(16, np.uint8)).tobytes()
    assert found == bytes.fromhex("11111111 33223322 77665544 11111111")


def test_fills_of_rows_leave_what_lies_between() -> None:
    address = upload(np.zeros(12, np.uint8))
    call(cu.cuMemsetD2D8, address, 4, 0xAB, 2, 3)
    assert download(address, np.empty(12, np.uint8)).tobytes() == bytes.fromhex("abab0000 abab0000 abab0000")
    call(cu.cuMemsetD2D16, address + 2, 4, 0x0102, 1, 2)
    assert download(address, np.empty(12, np.uint8)).tobytes() == bytes.fromhex("abab0201 abab0201 abab0000")


def test_copies_of_rows() -> None:
    source, to = upload(np.arange(24, dtype=np.uint8)), upload(np.zeros(24, np.uint8))
    params = cu.CUDA_MEMCPY3D()
    params.srcMemoryType = params.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    params.srcDevice, params.srcPitch, params.srcHeight, params.srcXInBytes = source, 4, 3, 1
    params.dstDevice, params.dstPitch, params.dstHeight, params.dstY = to, 3, 4, 1
    params.WidthInBytes, params.Height, params.Depth = 2, 2, 2
    call(cu.cuMemcpy3D, params)
    # Slices of 12 bytes on both sides; source rows start at byte 1 of 4, destination rows at row 1 of 3 bytes each.
    expected = [0] * 24
    for z in range(2):
        for y in range(2):
            for x in range(2):
                expected[12 * z + 3 * (y + 1) + x] = 12 * z + 4 * y + 1 + x
    assert download(to, np.empty(24, np.uint8)).tolist() == expected


def test_host_memory_of_the_driver() -> None:
    host = call(cu.cuMemHostAlloc, 8, 0)
    address = upload(np.array([5, 6], np.int32))
    call(cu.cuMemcpyDtoH, host, address, 8)
    call(cu.cuMemcpyHtoD, address, int(host) + 4, 4)
    assert ints(address, 2) == [6, 6]
    call(cu.cuMemFreeHost, host)
    assert fails(cu.cuMemFreeHost, host) == "INVALID_VALUE"


def test_what_lies_at_an_address(context: Any) -> None:
    address = int(call(cu.cuMemAlloc, 1000))
    start, size = call(cu.cuMemGetAddressRange, address + 999)
    assert (int(start), size) == (address, 1000)
    assert fails(cu.cuMemGetAddressRange, address + 1000) == "NOT_FOUND"
    attribute = cu.CUpointer_attribute
    assert call(cu.cuPointerGetAttribute, attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == 2
    owner = call(cu.cuPointerGetAttribute, attribute.CU_POINTER_ATTRIBUTE_CONTEXT, address)
    assert int(owner) == int(context)
    assert fails(cu.cuPointerGetAttribute, attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, NOWHERE) == "INVALID_VALUE"


def test_allocations_are_counted() -> None:
    free, total = call(cu.cuMemGetInfo)
    address = call(cu.cuMemAlloc, 4096)
    assert call(cu.cuMemGetInfo) == (free - 4096, total)
    call(cu.cuMemFree, address)
    assert call(cu.cuMemGetInfo) == (free, total)


def test_a_context_takes_its_memory_along() -> None:
    call(cu.cuInit, 0)
    before = INSTALLATION.driver.allocated_bytes
    made = call(cu.cuCtxCreate, None, 0, 0)
    address = int(call(cu.cuMemAlloc, 4096))
    call(cu.cuCtxDestroy, made)
    assert INSTALLATION.driver.allocated_bytes == before
    assert INSTALLATION.driver.hardware.memory.find(address) is None


def test_misuse_is_an_error_code() -> None:
    address, host = upload(np.zeros(4, np.int32)), np.zeros(8, np.int32)
    assert fails(cu.cuMemAlloc, 0) == "INVALID_VALUE"
    assert fails(cu.cuMemAlloc, 1 << 50) == "OUT_OF_MEMORY"
    assert fails(cu.cuMemFree, address + 4) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyHtoD, address, host.ctypes.data, 17) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyHtoD, address, 0, 4) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyHtoD, host.ctypes.data, host.ctypes.data, 4) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyDtoH, host.ctypes.data, address - 1, 4) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyDtoD, address, address + 4, 16) == "INVALID_VALUE"
    assert fails(cu.cuMemsetD32, address + 2, 0, 1) == "INVALID_VALUE"
    assert fails(cu.cuMemsetD8, address, 0, 17) == "INVALID_VALUE"
    assert fails(cu.cuMemsetD2D32, address, 2, 0, 1, 2) == "INVALID_VALUE"
    call(cu.cuMemFree, address)
    assert fails(cu.cuMemFree, address) == "INVALID_VALUE"
    assert fails(cu.cuMemcpyDtoH, host.ctypes.data, address, 4) == "INVALID_VALUE"
    assert INSTALLATION.driver.failures == []


@pytest.mark.parametrize("stream_or_not", [cu.cuMemcpyDtoDAsync, cu.cuMemcpyDtoD])
def test_copies_of_nothing(stream_or_not: Any) -> None:
    address = upload(np.zeros(1, np.int32))
    more = (0,) if stream_or_not is cu.cuMemcpyDtoDAsync else ()
    call(stream_or_not, address, address, 0, *more)
