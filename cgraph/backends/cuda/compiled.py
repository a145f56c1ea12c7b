"""Code of kernels that is ready to be loaded, wherever it comes from, and what a device takes of it.

Receives code with what it says about its kernels; guarantees that an image's kernel is in it and takes exactly what
the image's slots say. Needs no CUDA package. Compiling is left to `compiler`, choosing stored code to `stored`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.entries import Entry
from cgraph.backends.cuda.problems_compiler import EntryNotFound
from cgraph.backends.cuda.signature_check import check_entry
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem
from cgraph.graph.model import Image


@frozen(eq=False)
class CompiledModule:
    """The code of one .cu file.

    Args:
        path: of the file.
        architecture: e.g. `sm_90`.
        code: a cubin, or PTX in UTF-8.
        entries: its kernels.
        key: names all that the code depends on; equal keys mean equal code.
    """

    path: Path
    architecture: str
    kind: CodeKind
    code: bytes = field(repr=False)
    entries: tuple[Entry, ...]
    key: str


@frozen(eq=False)
class CompiledKernel:
    """An image's kernel: `entry` in the code of `module`, which images of one file share."""

    image: Image
    module: CompiledModule
    entry: Entry


@frozen
class Target:
    """What a device and its driver take.

    Args:
        architecture: of the device, e.g. `sm_90`.
        kinds: of code that it loads, the one to compile to first.
        ptx_version: the newest PTX that the driver reads; None where its reader does not go by the version.
    """

    architecture: str
    kinds: tuple[CodeKind, ...]
    ptx_version: tuple[int, int] | None = None


# The kernels of images, in their order, for a build's `half` and a device. Raises ProblemsFound.
KernelSupply: TypeAlias = Callable[[Sequence[Image], Element, Target], tuple[CompiledKernel, ...]]


def find_kernel(image: Image, module: CompiledModule) -> tuple[CompiledKernel | None, list[Problem]]:
    """An image's kernel in a module, and what is wrong with it: CG736, CG737 and CG738."""
    signature = image.signature
    entry = next((entry for entry in module.entries if entry.name == signature.entry), None)
    if entry is None:
        names = tuple(entry.name for entry in module.entries)
        return None, [EntryNotFound(signature.span, signature.name, signature.file, signature.entry, names)]
    return CompiledKernel(image, module, entry), check_entry(signature, entry)
