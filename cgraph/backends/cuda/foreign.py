"""Copies from memory of other libraries on a GPU.

Receives an address that the caller vouches for, in the primary context of its device, which libraries share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cuda.bindings import driver as cu
from numpy.typing import NDArray

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.context import open_context

ORDINAL = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def copy_to_host(target: NDArray[Any], address: int, stream: int | None) -> None:
    """Copies as many bytes as the target has.

    Args:
        target: contiguous, with elements.
        address: of the first byte on the device.
        stream: to wait for before; None where the memory is ready. 1 and 2 are the legacy and the per-thread stream.

    Raises:
        ProblemsFound: CG740 where there is no driver, CG741 where there is no device, CG742 where a call fails.
    """
    call = Calls()
    # Any device's context will do to ask whose the address is.
    with _opened(0, call):
        number = int(call(cu.cuPointerGetAttribute, ORDINAL, address))
    with _opened(number, call):
        if stream is not None:
            call(cu.cuStreamSynchronize, cu.CUstream(stream))
        call(cu.cuMemcpyDtoH, target.ctypes.data, address, target.nbytes)


@contextmanager
def _opened(number: int, call: Calls) -> Iterator[None]:
    """A device's context, current."""
    context = open_context(number, call)
    try:
        with context.current():
            yield
    finally:
        context.close()
