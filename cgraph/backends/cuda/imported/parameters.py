"""The parameters of a loaded kernel, as the driver tells them (cuda.h 12.4 and later)."""

from typing import Any

from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.model import ParameterPlace


def read_parameters(call: Calls, function: Any) -> tuple[ParameterPlace, ...]:
    """All parameters in their order. Raises ProblemsFound (CG742)."""
    found: list[ParameterPlace] = []
    # The driver says that there is no parameter of a number by refusing that number.
    while cu.cuFuncGetParamInfo(function, len(found))[0] != cu.CUresult.CUDA_ERROR_INVALID_VALUE:
        offset, size_bytes = call(cu.cuFuncGetParamInfo, function, len(found))
        found.append(ParameterPlace(int(offset), int(size_bytes)))
    return tuple(found)
