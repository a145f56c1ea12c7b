"""Modules of the CUDA backend, imported only when they are asked for: what they need may not be installed."""

from importlib import import_module
from types import ModuleType

from cgraph.backends.problems_devices import CudaNotInstalled
from cgraph.diagnostics import ProblemsFound


def cuda_module(name: str) -> ModuleType:
    """A module of `cgraph.backends.cuda`. Raises ProblemsFound (CG748) where CUDA's Python packages are missing."""
    try:
        return import_module(f"cgraph.backends.cuda.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cuda":
            raise
        raise ProblemsFound([CudaNotInstalled(None, error.name)]) from error
