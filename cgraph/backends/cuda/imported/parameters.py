"""The parameters of a loaded kernel, as the driver tells them (cuda.h 12.4 and later)."""

from typing import Any

from cuda.bindings import driver as cu

from cgraph.backends.cuda.imported.model import ParameterPlace


def read_parameters(function: Any) -> tuple[ParameterPlace, ...]:
    """All parameters in their order; the driver says that there are no more by refusing the next one."""
    found: list[ParameterPlace] = []
    while True:
        result, offset, size_bytes = cu.cuFuncGetParamInfo(function, len(found))
        if result != cu.CUresult.CUDA_SUCCESS:
            return tuple(found)
        found.append(ParameterPlace(int(offset), int(size_bytes)))
