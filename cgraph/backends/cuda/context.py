"""A device and the context in which programs run on it.

Receives a device's number; guarantees the primary context, retained until `close`, which other libraries of the process
share, and a stream of our own in it. Owner: the executable that opened it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define
from cuda.bindings import driver as cu
from cuda.pathfinder import DynamicLibNotFoundError

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.problems_devices import NoDevice, NoDriver
from cgraph.diagnostics import ProblemsFound

MAJOR = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
MINOR = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
MULTIPROCESSORS = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
NON_BLOCKING = cu.CUstream_flags.CU_STREAM_NON_BLOCKING


@define(eq=False)
class DeviceContext:
    """A device, its primary context and a stream.

    Args:
        number: of the device.
        capability: major and minor number of its compute capability.
        call: makes driver calls for it.
    """

    number: int
    device: Any
    context: Any
    stream: Any
    capability: tuple[int, int]
    call: Calls
    closed: bool = False

    @property
    def architecture(self) -> str:
        """As the compiler names it, e.g. `sm_90`."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes the context current, and what was current before afterwards."""
        self.call(cu.cuCtxPushCurrent, self.context)
        try:
            yield
        finally:
            # Its result is no news: the context was pushed above, and a failed kernel has been reported already.
            cu.cuCtxPopCurrent()

    def synchronize(self) -> None:
        """Waits for the stream. Raises ProblemsFound (CG742) where a kernel failed."""
        self.call(cu.cuStreamSynchronize, self.stream)

    def close(self) -> None:
        """Gives the stream and the context back, once or again. Errors are left to whoever uses the device next."""
        if self.closed:
            return
        self.closed = True
        cu.cuCtxPushCurrent(self.context)
        cu.cuStreamDestroy(self.stream)
        cu.cuCtxPopCurrent()
        cu.cuDevicePrimaryCtxRelease(self.device)


def open_context(number: int, call: Calls) -> DeviceContext:
    """Opens a device.

    Raises:
        ProblemsFound: CG740 where there is no driver, CG741 where there is no such device, CG742 for all else.
    """
    device = _find_device(number, call)
    capability = call(cu.cuDeviceGetAttribute, MAJOR, device), call(cu.cuDeviceGetAttribute, MINOR, device)
    context = call(cu.cuDevicePrimaryCtxRetain, device)
    try:
        call(cu.cuCtxPushCurrent, context)
        try:
            stream = call(cu.cuStreamCreate, NON_BLOCKING)
        finally:
            cu.cuCtxPopCurrent()
    except ProblemsFound:
        cu.cuDevicePrimaryCtxRelease(device)
        raise
    return DeviceContext(number, device, context, stream, capability, call)


def count_multiprocessors(number: int) -> int:
    """How many multiprocessors a device has. Raises ProblemsFound as `open_context` does."""
    call = Calls()
    return int(call(cu.cuDeviceGetAttribute, MULTIPROCESSORS, _find_device(number, call)))


def _find_device(number: int, call: Calls) -> Any:
    """The driver's handle of a device."""
    try:
        (result,) = cu.cuInit(0)
    except DynamicLibNotFoundError as error:
        raise ProblemsFound([NoDriver(None)]) from error
    if result == cu.CUresult.CUDA_ERROR_NO_DEVICE:
        raise ProblemsFound([NoDevice(None, number, 0)])
    call(cu.cuInit, 0)
    count = call(cu.cuDeviceGetCount)
    if number >= count:
        raise ProblemsFound([NoDevice(None, number, count)])
    return call(cu.cuDeviceGet, number)
