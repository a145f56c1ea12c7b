"""What the driver's tests share: a current context, and memory that is read and written from NumPy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("cuda.bindings")

from cuda.bindings import driver as cu

from tests.support.driver_kernels import MODULE
from tests.support.emulated import call


@pytest.fixture
def context() -> Iterator[Any]:
    """A context of the test's own, current; whatever is made in it ends with it."""
    call(cu.cuInit, 0)
    made = call(cu.cuCtxCreate, None, 0, call(cu.cuDeviceGet, 0))
    yield made
    cu.cuCtxDestroy(made)


@pytest.fixture
def stream(context: Any) -> Any:
    del context
    return call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)


@pytest.fixture
def graph(context: Any) -> Iterator[Any]:
    del context
    made = call(cu.cuGraphCreate, 0)
    yield made
    cu.cuGraphDestroy(made)


@pytest.fixture
def module(context: Any) -> Any:
    del context
    return call(cu.cuModuleLoadData, MODULE.encode())


def function(module: Any, name: str) -> Any:
    return call(cu.cuModuleGetFunction, module, name.encode())


def upload(values: NDArray[Any]) -> int:
    """A new allocation with these values."""
    address = int(call(cu.cuMemAlloc, values.nbytes))
    call(cu.cuMemcpyHtoD, address, values.ctypes.data, values.nbytes)
    return address


def download(address: int, like: NDArray[Any]) -> NDArray[Any]:
    """As many values as `like` has, of its type."""
    found = np.empty_like(like)
    call(cu.cuMemcpyDtoH, found.ctypes.data, address, found.nbytes)
    return found


def ints(address: int, count: int) -> list[int]:
    return [int(value) for value in download(address, np.empty(count, np.int32))]


def fill_params(address: int, value: int, count: int, element_bytes: int = 4) -> Any:
    params = cu.CUDA_MEMSET_NODE_PARAMS()
    params.dst, params.value, params.elementSize = address, value, element_bytes
    params.width, params.height, params.pitch = count, 1, 0
    return params


def copy_params(to: int, source: int, size_bytes: int) -> Any:
    params = cu.CUDA_MEMCPY3D()
    params.dstMemoryType = params.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    params.dstDevice, params.srcDevice = to, source
    params.WidthInBytes, params.Height, params.Depth = size_bytes, 1, 1
    return params


def kernel_params(function: Any, grid: int, block: int, values: tuple[Any, ...], types: tuple[Any, ...]) -> Any:
    params = cu.CUDA_KERNEL_NODE_PARAMS()
    params.func = function
    params.gridDimX, params.gridDimY, params.gridDimZ = grid, 1, 1
    params.blockDimX, params.blockDimY, params.blockDimZ = block, 1, 1
    params.kernelParams = (values, types)
    return params
