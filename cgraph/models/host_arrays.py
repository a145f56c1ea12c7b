"""NumPy arrays from what other libraries keep their numbers in.

Receives arrays, nested lists, objects with `__dlpack__` and objects with `__cuda_array_interface__`; guarantees a NumPy
array in this process's memory, or a ValueError that names the argument. Memory is shared where that is possible, so the
result is to be read only.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.foreign import copy_from_device


def host_array(name: str, value: object) -> NDArray[Any]:
    """The value as an array.

    Args:
        name: what the argument is called in messages.
        value: an array of any library, on the host or on a GPU, or what NumPy makes an array of.

    Raises:
        ValueError: it cannot be made an array.
        ProblemsFound: it lies on a GPU, and a driver call fails (CG740 to CG742) or CUDA is not installed (CG748).
    """
    if isinstance(value, np.ndarray):
        return value
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return copy_from_device(name, interface)
    try:
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        raise ValueError(f"{name}: {type(value).__name__} cannot be read as an array: {error}") from error
