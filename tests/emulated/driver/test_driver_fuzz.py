"""Wrong handles and wrong numbers end in error codes: no crash, no exception, no error in the emulator itself."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, kernel_params
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.driver_kernels import MODULE
from tests.support.emulated import INSTALLATION, call

SIZES = st.sampled_from([0, 1, 2, 3, 4, 8, 17, 64, 1025, 65_536, 2**31 - 1, 2**32 - 1])


class World:
    """Objects of every kind, some of them destroyed; arguments are drawn from all of them."""

    def __init__(self) -> None:
        call(cu.cuInit, 0)
        self.context = call(cu.cuCtxCreate, None, 0, 0)
        module = call(cu.cuModuleLoadData, MODULE.encode())
        graph, gone = call(cu.cuGraphCreate, 0), call(cu.cuGraphCreate, 0)
        memory, freed = call(cu.cuMemAlloc, 64), call(cu.cuMemAlloc, 64)
        empty = call(cu.cuGraphAddEmptyNode, graph, [], 0)
        fill = call(cu.cuGraphAddMemsetNode, graph, [empty], 1, fill_params(int(memory), 1, 1), None)
        executable = call(cu.cuGraphInstantiate, graph, 0)
        stream, event = call(cu.cuStreamCreate, 0), call(cu.cuEventCreate, 0)
        function = call(cu.cuModuleGetFunction, module, b"bounded")
        call(cu.cuGraphDestroy, gone)
        call(cu.cuMemFree, freed)
        self.host = np.zeros(64, np.uint8)
        self.handles = [
            int(thing)
            for thing in (module, graph, gone, empty, fill, executable, stream, event, function, memory, freed)
        ]
        self.handles += [0, 1, 2, 0x10, int(memory) + 60, int(self.context)]


class Arguments:
    """Arguments of one call, drawn from a world."""

    def __init__(self, draw: Callable[..., Any], world: World) -> None:
        self._draw = draw
        self._world = world
        self.host = world.host
        self.h, self.k, self.n, self.m = self.handle, self.handle, self.size, self.size

    @property
    def handle(self) -> int:
        return self._draw(st.sampled_from(self._world.handles))

    @property
    def size(self) -> int:
        return self._draw(SIZES)

    def nodes(self) -> list[Any]:
        return [cu.CUgraphNode(self.handle) for _ in range(self._draw(st.integers(0, 3)))]

    def kernel(self) -> Any:
        params = kernel_params(self.handle, self.size, self.size, (0,), (ctypes.c_void_p,))
        params.kernelParams, params.sharedMemBytes = 0, self.size
        return params

    def fill(self) -> Any:
        params = fill_params(self.handle, self.size, self.size, self.size)
        params.height, params.pitch = self.size, self.size
        return params

    def copy(self) -> Any:
        params = copy_params(self.handle, self.handle, self.size)
        params.Height, params.Depth, params.srcPitch = self.size, self.size, self.size
        return params


def data(count: int) -> list[Any]:
    return [cu.CUgraphEdgeData() for _ in range(count)]


# Each makes one call; h and k are any handles or addresses, n and m any sizes.
CALLS: list[Callable[[Arguments], Any]] = [
    lambda a: cu.cuMemAlloc(a.n % 4097 or 1 << 50),
    lambda a: cu.cuMemFree(a.h),
    lambda a: cu.cuMemcpyDtoD(a.h, a.k, a.n),
    lambda a: cu.cuMemcpyDtoDAsync(a.h, a.k, a.n, a.handle),
    lambda a: cu.cuMemcpyHtoD(a.h, a.host.ctypes.data, min(a.n, 64)),
    lambda a: cu.cuMemcpyDtoH(a.host.ctypes.data, a.h, min(a.n, 64)),
    lambda a: cu.cuMemsetD8(a.h, a.n & 0xFF, a.m),
    lambda a: cu.cuMemsetD32Async(a.h, a.n, a.m, a.k),
    lambda a: cu.cuMemsetD2D16(a.h, a.n, 1, a.m, a.size),
    lambda a: cu.cuMemGetAddressRange(a.h),
    lambda a: cu.cuStreamSynchronize(a.h),
    lambda a: cu.cuStreamDestroy(a.h),
    lambda a: cu.cuStreamWaitEvent(a.h, a.k, 0),
    lambda a: cu.cuStreamBeginCapture(a.h, cu.CUstreamCaptureMode(a.n % 3)),
    lambda a: cu.cuStreamEndCapture(a.h),
    lambda a: cu.cuEventRecord(a.h, a.k),
    lambda a: cu.cuEventElapsedTime(a.h, a.k),
    lambda a: cu.cuEventDestroy(a.h),
    lambda a: cu.cuModuleGetFunction(a.h, b"addOne"),
    lambda a: cu.cuModuleUnload(a.h),
    lambda a: cu.cuFuncGetParamInfo(a.h, a.n),
    lambda a: cu.cuFuncSetAttribute(a.h, cu.CUfunction_attribute(a.n % 10), min(a.m, 2**31 - 1)),
    lambda a: cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(a.h, min(a.n, 2**31 - 1), a.m),
    lambda a: cu.cuLaunchKernel(a.h, a.n, a.m, 1, a.m, a.n, 1, a.m, a.k, 0, 0),
    lambda a: cu.cuGraphAddEmptyNode(a.h, found := a.nodes(), len(found)),
    lambda a: cu.cuGraphAddKernelNode(a.h, found := a.nodes(), len(found), a.kernel()),
    lambda a: cu.cuGraphAddMemsetNode(a.h, found := a.nodes(), len(found), a.fill(), None),
    lambda a: cu.cuGraphAddMemcpyNode(a.h, found := a.nodes(), len(found), a.copy(), None),
    lambda a: cu.cuGraphAddChildGraphNode(a.h, [], 0, a.k),
    lambda a: cu.cuGraphAddDependencies(a.h, [cu.CUgraphNode(a.k)], [cu.CUgraphNode(a.handle)], data(1), 1),
    lambda a: cu.cuGraphRemoveDependencies(a.h, [cu.CUgraphNode(a.k)], [cu.CUgraphNode(a.h)], data(1), 1),
    lambda a: cu.cuGraphGetNodes(a.h, a.n % 9),
    lambda a: cu.cuGraphGetEdges(a.h, a.n % 9),
    lambda a: cu.cuGraphNodeGetDependencies(a.h, a.n % 9),
    lambda a: cu.cuGraphNodeGetType(a.h),
    lambda a: cu.cuGraphKernelNodeGetParams(a.h),
    lambda a: cu.cuGraphMemsetNodeSetParams(a.h, a.fill()),
    lambda a: cu.cuGraphDestroyNode(a.h),
    lambda a: cu.cuGraphClone(a.h),
    lambda a: cu.cuGraphInstantiate(a.h, a.n),
    lambda a: cu.cuGraphLaunch(a.h, a.k),
    lambda a: cu.cuGraphExecUpdate(a.h, a.k),
    lambda a: cu.cuGraphExecKernelNodeSetParams(a.h, a.k, a.kernel()),
    lambda a: cu.cuGraphExecMemsetNodeSetParams(a.h, a.k, a.fill(), None),
    lambda a: cu.cuGraphExecMemcpyNodeSetParams(a.h, a.k, a.copy(), None),
    lambda a: cu.cuGraphExecDestroy(a.h),
    lambda a: cu.cuGraphDestroy(a.h),
    lambda a: cu.cuCtxPushCurrent(a.h),
    lambda _: cu.cuCtxPopCurrent(),
    lambda _: cu.cuCtxSynchronize(),
    lambda a: cu.cuDeviceGetAttribute(cu.CUdevice_attribute(1 + a.n % 100), a.m & 0xFF),
]


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_calls_in_any_order(drawn: st.DataObject) -> None:
    before = INSTALLATION.driver.allocated_bytes
    world = World()
    try:
        for _ in range(drawn.draw(st.integers(1, 12))):
            make = drawn.draw(st.sampled_from(CALLS))
            result, *values = make(Arguments(drawn.draw, world))
            assert result != cu.CUresult.CUDA_ERROR_UNKNOWN, INSTALLATION.driver.failures[-1]
            # Whatever came back is fair game for the calls that follow.
            world.handles += [int(v) for v in values if hasattr(v, "getPtr") and result == 0 and hasattr(v, "__int__")]
    finally:
        for _ in range(20):
            cu.cuCtxPopCurrent()
        cu.cuCtxDestroy(world.context)
    assert INSTALLATION.driver.failures == []
    assert INSTALLATION.driver.captures == []
    assert INSTALLATION.driver.allocated_bytes == before
