"""Modules, kernels' parameters and attributes, and what launches are refused, on the emulated driver."""

import ctypes
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import function, kernel_params, upload

from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call, fails

pytestmark = pytest.mark.usefixtures("context")

ATTRIBUTE = cu.CUfunction_attribute
MAX_THREADS = ATTRIBUTE.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
SHARED = ATTRIBUTE.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
DYNAMIC_SHARED = ATTRIBUTE.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def test_parameters(module: Any) -> None:
    # u64, u32, u8, u64: each at a multiple of its size.
    add_to = function(module, "addTo")
    assert [call(cu.cuFuncGetParamInfo, add_to, number) for number in range(4)] == [(0, 8), (8, 4), (12, 1), (16, 8)]
    assert fails(cu.cuFuncGetParamInfo, add_to, 4) == "INVALID_VALUE"
    assert call(cu.cuFuncGetParamCount, add_to) == 4
    assert call(cu.cuFuncGetName, add_to) == b"addTo"


def test_attributes(module: Any) -> None:
    bounded, add_one = function(module, "bounded"), function(module, "addOne")
    assert call(cu.cuFuncGetAttribute, MAX_THREADS, bounded) == 64
    assert call(cu.cuFuncGetAttribute, MAX_THREADS, add_one) == 1024
    assert call(cu.cuFuncGetAttribute, SHARED, bounded) == 1024
    assert call(cu.cuFuncGetAttribute, DYNAMIC_SHARED, bounded) == 48 * 1024
    # What a block of compute capability 8.0 may have in all is 163 KiB; 1 KiB is static.
    call(cu.cuFuncSetAttribute, bounded, DYNAMIC_SHARED, 162 * 1024)
    assert fails(cu.cuFuncSetAttribute, bounded, DYNAMIC_SHARED, 162 * 1024 + 1) == "INVALID_VALUE"
    assert fails(cu.cuFuncSetAttribute, bounded, MAX_THREADS, 32) == "INVALID_VALUE"
    assert call(cu.cuFuncGetAttribute, DYNAMIC_SHARED, bounded) == 162 * 1024


def test_occupancy(module: Any) -> None:
    add_one, bounded = function(module, "addOne"), function(module, "bounded")
    blocks = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor
    # 2048 threads, 32 blocks and 164 KiB of shared memory on a multiprocessor, 1 KiB of it taken for each block.
    assert [call(blocks, add_one, threads, 0) for threads in (1024, 256, 32)] == [2, 8, 32]
    assert call(blocks, add_one, 64, 40 * 1024) == 4
    assert call(blocks, bounded, 128, 0) == 0
    assert fails(blocks, add_one, 0, 0) == "INVALID_VALUE"


def test_libraries() -> None:
    library = call(cu.cuLibraryLoadData, MODULE.encode(), [], [], 0, [], [], 0)
    kernel = call(cu.cuLibraryGetKernel, library, b"scale")
    assert call(cu.cuKernelGetParamInfo, kernel, 2) == (12, 4)
    assert call(cu.cuLibraryGetKernelCount, library) == 4
    assert call(cu.cuKernelGetName, kernel) == b"scale"
    assert call(cu.cuFuncGetAttribute, MAX_THREADS, call(cu.cuKernelGetFunction, kernel)) == 1024
    call(cu.cuLibraryUnload, library)
    assert fails(cu.cuKernelGetFunction, kernel) == "INVALID_HANDLE"


def test_images_that_are_none() -> None:
    assert fails(cu.cuModuleLoadData, b"this is no PTX") == "INVALID_IMAGE"
    assert fails(cu.cuModuleLoadData, b"") == "INVALID_IMAGE"
    assert fails(cu.cuModuleLoadData, b"\x7fELF\x02\x01\x01") == "NO_BINARY_FOR_GPU"
    assert fails(cu.cuModuleLoadData, MODULE.replace("st.global", "stir.global").encode()) == "INVALID_PTX"
    assert fails(cu.cuModuleLoad, b"/no/such/file.ptx") == "FILE_NOT_FOUND"
    INSTALLATION.take_problems()


def test_names_and_handles(module: Any) -> None:
    add_one = function(module, "addOne")
    assert fails(cu.cuModuleGetFunction, module, b"nobody") == "NOT_FOUND"
    assert fails(cu.cuModuleGetFunction, add_one, b"addOne") == "INVALID_HANDLE"
    call(cu.cuModuleUnload, module)
    assert fails(cu.cuModuleUnload, module) == "INVALID_HANDLE"
    assert fails(cu.cuFuncGetAttribute, MAX_THREADS, add_one) == "INVALID_HANDLE"


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "expected"),
    [
        ((0, 1, 1), (1, 1, 1), 0, "INVALID_VALUE"),
        ((1, 0, 1), (1, 1, 1), 0, "INVALID_VALUE"),
        ((1, 65_536, 1), (1, 1, 1), 0, "INVALID_VALUE"),
        ((1, 1, 65_536), (1, 1, 1), 0, "INVALID_VALUE"),
        ((2**31, 1, 1), (1, 1, 1), 0, "INVALID_VALUE"),
        ((1, 1, 1), (1, 1, 0), 0, "INVALID_VALUE"),
        ((1, 1, 1), (1025, 1, 1), 0, "INVALID_VALUE"),
        ((1, 1, 1), (1, 1, 65), 0, "INVALID_VALUE"),
        ((1, 1, 1), (32, 33, 1), 0, "INVALID_VALUE"),
        ((1, 1, 1), (65, 1, 1), 0, "LAUNCH_OUT_OF_RESOURCES"),
        ((1, 1, 1), (32, 1, 1), 48 * 1024 + 1, "INVALID_VALUE"),
    ],
)
def test_launches_that_no_device_takes(
    module: Any, graph: Any, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int, expected: str
) -> None:
    bounded, arguments = function(module, "bounded"), ((0,), (ctypes.c_void_p,))
    assert fails(cu.cuLaunchKernel, bounded, *grid, *block, shared_bytes, 0, arguments, 0) == expected
    params = kernel_params(bounded, 1, 1, *arguments)
    params.gridDimX, params.gridDimY, params.gridDimZ = grid
    params.blockDimX, params.blockDimY, params.blockDimZ = block
    params.sharedMemBytes = shared_bytes
    assert fails(cu.cuGraphAddKernelNode, graph, [], 0, params) == expected


def test_arguments_that_are_missing(module: Any) -> None:
    add_one = function(module, "addOne")
    assert fails(cu.cuLaunchKernel, add_one, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) == "INVALID_VALUE"
    nulls = (ctypes.c_void_p * 2)(0, 0)
    assert fails(cu.cuLaunchKernel, add_one, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(nulls), 0) == "INVALID_VALUE"
    buffer, size = ctypes.create_string_buffer(8), ctypes.c_size_t(8)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    assert fails(cu.cuLaunchKernel, add_one, 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(extra)) == "INVALID_VALUE"


def test_arguments_come_back_in_the_way_they_were_given(module: Any, graph: Any) -> None:
    add_to = function(module, "addTo")
    address = upload(np.zeros(4, np.int32))
    types = (ctypes.c_void_p, ctypes.c_int, ctypes.c_ubyte, ctypes.c_void_p)
    params = kernel_params(add_to, 3, 32, (address, 4, 200, address + 8), types)
    node = call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    found = call(cu.cuGraphKernelNodeGetParams, node)
    assert (found.gridDimX, found.blockDimX, int(found.func), int(found.extra)) == (3, 32, int(add_to), 0)
    places = (ctypes.c_void_p * 4).from_address(int(found.kernelParams))
    values = [
        ctypes.c_uint64.from_address(places[0]).value,
        ctypes.c_int.from_address(places[1]).value,
        ctypes.c_ubyte.from_address(places[2]).value,
        ctypes.c_uint64.from_address(places[3]).value,
    ]
    assert values == [address, 4, 200, address + 8]

    buffer = ctypes.create_string_buffer(24)
    ctypes.c_uint64.from_buffer(buffer, 0).value = address + 4
    ctypes.c_ubyte.from_buffer(buffer, 12).value = 7
    size = ctypes.c_size_t(24)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    params.kernelParams, params.extra = 0, ctypes.addressof(extra)
    call(cu.cuGraphKernelNodeSetParams, node, params)
    buffer.raw = bytes(24)  # the values were taken
    found = call(cu.cuGraphKernelNodeGetParams, node)
    assert int(found.kernelParams) == 0
    words = (ctypes.c_void_p * 5).from_address(int(found.extra))
    assert (words[0], words[2], words[4]) == (1, 2, None)
    assert ctypes.c_size_t.from_address(words[3]).value == 24
    given = ctypes.string_at(words[1], 24)
    assert (int.from_bytes(given[:8], "little"), given[12]) == (address + 4, 7)
