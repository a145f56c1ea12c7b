"""Arrays of other libraries that lie on a GPU, copied to the host.

Receives what an object's `__cuda_array_interface__` says; the driver is imported only then, because it may be missing.
Source: the interface's description, version 3, in Numba's documentation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda_modules import cuda_module


def copy_from_device(name: str, interface: Mapping[str, Any]) -> NDArray[Any]:
    """A copy of the array in the host's memory.

    Args:
        name: what the array is called in messages.
        interface: with `shape`, `typestr`, `data`, and perhaps `strides`, `mask` and `stream`.

    Raises:
        ValueError: it is masked, or its elements do not lie one after the other.
        ProblemsFound: CG740 to CG742 from the driver, CG748 where CUDA's Python packages are missing.
    """
    if interface.get("mask") is not None:
        raise ValueError(f"{name}: masked arrays on a GPU are not read")
    array = np.empty(tuple(interface["shape"]), np.dtype(interface["typestr"]))
    strides = interface.get("strides")
    if strides is not None and tuple(strides) != array.strides:
        raise ValueError(f"{name}: its elements on the GPU do not lie one after the other")
    if array.size:
        cuda_module("foreign").copy_to_host(array, interface["data"][0], interface.get("stream"))
    return array
