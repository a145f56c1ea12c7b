"""Where a program's kernels come from when nothing was stored: the compiler.

It is imported only when it is asked for, so that stored kernels run where no NVRTC can be loaded.
"""

from collections.abc import Sequence
from importlib import import_module

from cgraph.backends.cuda.compiled import CompiledKernel, Target
from cgraph.core.elements import Element
from cgraph.graph.model import Image


def compile_kernels(images: Sequence[Image], half: Element, target: Target) -> tuple[CompiledKernel, ...]:
    """The kernels of images, compiled, as `KernelSupply` says. Raises ProblemsFound: CG730 to CG739."""
    compiler = import_module("cgraph.backends.cuda.compiler")
    kernels: tuple[CompiledKernel, ...] = compiler.compile_images(images, half, target.architecture, target.kinds[0])
    return kernels
