"""The emulated driver of the test process, and short names for calls of it through cuda.bindings."""

from typing import Any

from cuda.bindings import driver as cu

from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.driver.resolver import Installation, install

INSTALLATION: Installation = install(MachineHardware())


def call(function: Any, *arguments: Any) -> Any:
    """A driver call that must succeed; gives its value, or a tuple of them, or None."""
    result, *values = function(*arguments)
    assert result == cu.CUresult.CUDA_SUCCESS, (
        f"{function.__name__}: {result.name}, {INSTALLATION.driver.failures[-1:]}"
    )
    return values[0] if len(values) == 1 else tuple(values) or None


def fails(function: Any, *arguments: Any) -> str:
    """The name of the result of a driver call that must fail, without its prefix."""
    result = function(*arguments)[0]
    assert result != cu.CUresult.CUDA_SUCCESS, function.__name__
    return str(result.name).removeprefix("CUDA_ERROR_")
