"""Kernels of images as they are stored: their files, and code for many devices.

Receives images with bound sizes; guarantees modules that `stored` can choose from, the same on every machine with the
same compiler: no path of this machine is in them, but those of CUDA's own headers where a kernel includes some.
Without a compiler, or for a `half` that kernels do not know, a module holds no code but its texts. The compiler is
imported only when it is asked for.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import CompiledModule
from cgraph.backends.cuda.problems_storing import HeaderNamesCollide
from cgraph.backends.cuda.ptx_versions import stated_version
from cgraph.backends.cuda.sources import HALF_HEADER, HALF_MACRO, KernelSource, find_kernel_source, included_names
from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.backends.cuda.units import OPTIONS, constants_of, group_images, macros_of
from cgraph.backends.cuda_modules import cuda_module
from cgraph.core.elements import Element
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image
from cgraph.images.registry import find_meaning

OLDEST_ARCHITECTURE = "sm_80"  # runs on every device that cgraph supports
COMPILER_MISSING = ("CG730", "CG748")
FILE_MISSING = "CG731"
FAILED = ("CG734", "CG735")


def store_kernels(
    images: Sequence[Image], half: Element, architectures: Sequence[str] = ()
) -> tuple[tuple[KernelModule, ...], tuple[int | None, ...]]:
    """The modules of images, and for each image the number of its module.

    An image with a NumPy function whose file is nowhere has no module (None).

    Args:
        images: of one build.
        half: what the build bound `half` to.
        architectures: to make cubins for, e.g. `sm_90`. PTX is made for the oldest one, or, where a kernel does not
            compile for that, for the oldest of these.

    Raises:
        ProblemsFound: CG731 to CG739 from the compiler but CG733, CG816 where headers cannot be told apart by name.
    """
    groups = [[images[number] for number in group] for group in group_images(images)]
    wanted = tuple(sorted(set(architectures)))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        made = tuple(threads.map(lambda group: _try_module(group, half, wanted), groups))
    problems = [problem for module in made if isinstance(module, ProblemsFound) for problem in module.problems]
    if problems:
        raise ProblemsFound(problems)
    modules: list[KernelModule] = []
    number_of: dict[Image, int] = {}
    for group, module in zip(groups, made, strict=True):
        if isinstance(module, KernelModule):
            number_of.update(dict.fromkeys(group, len(modules)))
            modules.append(module)
    return tuple(modules), tuple(number_of.get(image) for image in images)


def _try_module(
    group: Sequence[Image], half: Element, architectures: Sequence[str]
) -> KernelModule | ProblemsFound | None:
    """A group's module; None where its file is nowhere and nobody needs it; or the problems with it."""
    try:
        return _module(group, half, architectures)
    except ProblemsFound as stopped:
        known = all(find_meaning(image.signature.file, image.signature.entry) is not None for image in group)
        if known and all(problem.code == FILE_MISSING for problem in stopped.problems):
            return None
        return stopped


def _module(group: Sequence[Image], half: Element, architectures: Sequence[str]) -> KernelModule:
    signature = group[0].signature
    source = find_kernel_source(signature)
    module = KernelModule(
        file=signature.file,
        source=source.text,
        includes=_includes(source, signature),
        options=OPTIONS,
        defines=macros_of(constants_of(group), half),
        codes=(),
    )
    if half not in HALF_MACRO and source.needs(HALF_HEADER):
        return module
    try:
        codes = _codes(module, signature, architectures)
    except ProblemsFound as stopped:
        if any(problem.code not in COMPILER_MISSING for problem in stopped.problems):
            raise
        return module
    return KernelModule(module.file, module.source, module.includes, module.options, module.defines, codes)


def _codes(module: KernelModule, signature: Signature, architectures: Sequence[str]) -> tuple[Code, ...]:
    """PTX, then cubins. Raises ProblemsFound."""
    failures: list[Problem] = []
    for oldest in dict.fromkeys((OLDEST_ARCHITECTURE, *architectures)):
        try:
            ptx = _compile(module, signature, oldest, CodeKind.PTX)
        except ProblemsFound as stopped:
            if any(problem.code not in FAILED for problem in stopped.problems):
                raise
            failures = failures or list(stopped.problems)
            continue
        cubins = (_compile(module, signature, architecture, CodeKind.CUBIN) for architecture in architectures)
        return (ptx, *cubins)
    raise ProblemsFound(failures)


def _compile(module: KernelModule, signature: Signature, architecture: str, kind: CodeKind) -> Code:
    compiled: CompiledModule = cuda_module("compiler").compile_stored(module, signature, architecture, kind)
    if kind is CodeKind.CUBIN:
        return Code(kind, architecture, None, compiled.code, compiled.entries)
    version = stated_version(compiled.code)
    if version is None:
        raise RuntimeError("the compiler's PTX does not state its version")
    return Code(kind, architecture.replace("sm_", "compute_", 1), version, compiled.code, compiled.entries)


def _includes(source: KernelSource, signature: Signature) -> tuple[tuple[str, str], ...]:
    """Names and texts of local headers. Raises ProblemsFound (CG816) where two have one name."""
    texts = dict(source.includes)
    headers: dict[str, str] = {}
    places: dict[str, str] = {}
    for name, path in included_names(source):
        if name in headers:
            problem = HeaderNamesCollide(signature.span, signature.file, name, places[name], str(path))
            raise ProblemsFound([problem])
        headers[name], places[name] = texts[path], str(path)
    return tuple(headers.items())
