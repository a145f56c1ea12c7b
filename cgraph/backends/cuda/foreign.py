"""Copies from memory of other libraries on a GPU.

Receives an address that the caller vouches for; its context is the one in which it was allocated.
"""

from typing import Any

from cuda.bindings import driver as cu
from cuda.pathfinder import DynamicLibNotFoundError
from numpy.typing import NDArray

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.problems_devices import NoDriver
from cgraph.diagnostics import ProblemsFound

CONTEXT = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT


def copy_to_host(target: NDArray[Any], address: int, stream: int | None) -> None:
    """Copies as many bytes as the target has.

    Args:
        target: contiguous, with elements.
        address: of the first byte on the device.
        stream: to wait for before; None where the memory is ready. 1 and 2 are the legacy and the per-thread stream.

    Raises:
        ProblemsFound: CG740 where there is no driver, CG742 where a call fails.
    """
    call = Calls()
    try:
        call(cu.cuInit, 0)
    except DynamicLibNotFoundError as error:
        raise ProblemsFound([NoDriver(None)]) from error
    call(cu.cuCtxPushCurrent, cu.CUcontext(call(cu.cuPointerGetAttribute, CONTEXT, address)))
    try:
        if stream is not None:
            call(cu.cuStreamSynchronize, cu.CUstream(stream))
        call(cu.cuMemcpyDtoH, target.ctypes.data, address, target.nbytes)
    finally:
        cu.cuCtxPopCurrent()
