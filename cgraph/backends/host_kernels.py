"""The way to kernels that the host executes itself, for images without a NumPy function.

Receives launches of such images; gives what binds them to the host's planes. What compiles and executes kernels is
imported only when it is asked for, because it may not be installed.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol

from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.planes import HostPlanes
from cgraph.backends.problems import ImageWithoutMeaning
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import LaunchNode

COMPILER_MISSING = "CG730"


class HostKernels(Protocol):
    """Kernels that are ready to be launched on the host."""

    def bind(self, node: LaunchNode) -> Callable[[], object]:
        """A launch as a call."""


def load_host_kernels(
    nodes: Sequence[LaunchNode], half: Element, planes: HostPlanes, stored: StoredKernels | None = None
) -> HostKernels:
    """Loads the kernels of launches into the emulator.

    Args:
        nodes: a launch of each image.
        half: what the build bound `half` to.
        planes: that the launches work on.
        stored: kernels that were compiled before; None for the program's own files.

    Raises:
        ProblemsFound: CG701 where kernels cannot be compiled here, CG704 where one needs another `half`, CG731 to CG739
            from the compiler, CG750 to CG754 where the emulator does not know what a kernel does, CG830 and CG831 where
            the stored ones will not do.
    """
    try:
        loader = import_module("cgraph.backends.cuda.on_host")
        kernels: HostKernels = loader.load_kernels(nodes, half, planes, stored)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cuda":
            raise
        raise _without_compiler(nodes, f"there is no module {error.name}") from error
    except ProblemsFound as stopped:
        if all(problem.code != COMPILER_MISSING for problem in stopped.problems):
            raise
        raise _without_compiler(nodes, "NVIDIA's compiler library NVRTC is not installed") from stopped
    return kernels


def _without_compiler(nodes: Sequence[LaunchNode], reason: str) -> ProblemsFound:
    """A problem for each kernel, at its first launch."""
    first: dict[tuple[str, str], ImageWithoutMeaning] = {}
    for node in nodes:
        signature = node.image.signature
        key = signature.file, signature.entry
        first.setdefault(key, ImageWithoutMeaning(node.origin.span, signature.name, *key, node.origin, reason))
    return ProblemsFound(list(first.values()))
