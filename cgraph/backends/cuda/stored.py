"""Code of kernels that was stored, in place of a compiler: which of it a device takes.

Receives, for each image, the module that was stored for it; guarantees kernels whose parameter lists, as the code
itself states them, fit the images. A cubin is preferred to PTX, PTX to compiling the stored text again. Needs no CUDA
package but for the last; neither the program's files nor the project's are looked at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from attrs import field, frozen

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import CompiledKernel, CompiledModule, Target, find_kernel
from cgraph.backends.cuda.entries import read_entries
from cgraph.backends.cuda.problems_stored import KernelNotStored, NoCodeForDevice
from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.core.elements import Element
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image

# e.g. `sm_90`, `compute_80`, `sm_90a`, `sm_100f`
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d{1,3})(\d)([af]?)")


@frozen(eq=False)
class StoredKernels:
    """What was stored for the images of a graph.

    Args:
        modules: by image; None where only a NumPy function was known.
    """

    modules: Mapping[Image, KernelModule | None] = field(repr=False)

    def supply(self, images: Sequence[Image], half: Element, target: Target) -> tuple[CompiledKernel, ...]:
        """The kernels of images, as `KernelSupply` says.

        Args:
            images: of the graph.
            half: of the build; stored code was made for it.
            target: what the device takes.

        Raises:
            ProblemsFound: CG830 or CG831, CG736 to CG738; all that are found.
        """
        del half
        made: dict[int, CompiledModule | ProblemsFound] = {}
        kernels: list[CompiledKernel] = []
        problems: list[Problem] = []
        for image in images:
            signature, module = image.signature, self.modules.get(image)
            if module is None:
                problems.append(KernelNotStored(signature.span, signature.name))
                continue
            if id(module) not in made:
                made[id(module)] = _try(module, signature, target)
                stopped = made[id(module)]
                problems.extend(stopped.problems if isinstance(stopped, ProblemsFound) else ())
            found = made[id(module)]
            if isinstance(found, CompiledModule):
                kernel, wrong = find_kernel(image, found)
                problems.extend(wrong)
                kernels.extend(() if kernel is None else (kernel,))
        if problems:
            raise ProblemsFound(problems)
        return tuple(kernels)


def choose(codes: Sequence[Code], target: Target) -> tuple[Code | None, tuple[str, ...]]:
    """The code for a device, and why each that would be better is none. None where no code will do.

    A cubin runs on devices of its major compute capability and of its minor one or a newer; PTX on its virtual
    architecture's devices and all newer ones. Code for an architecture with a suffix runs on exactly that one. Source:
    CUDA C++ Programming Guide, "Compute Capabilities" and "Feature availability".
    """
    reasons: list[str] = []
    for kind in (CodeKind.CUBIN, CodeKind.PTX):
        of_kind = [code for code in codes if code.kind is kind]
        fits = []
        for code in of_kind:
            found = tuple(_misfits(code, target))
            reasons.extend(found)
            if not found:
                fits.append(code)
        if fits:
            return max(fits, key=lambda code: _capability(code.architecture)[:2]), tuple(reasons)
        if not of_kind:
            reasons.append(f"there is no {_WORDS[kind]}")
    return None, tuple(reasons)


_WORDS = {CodeKind.CUBIN: "cubin", CodeKind.PTX: "PTX"}


def _misfits(code: Code, target: Target) -> Iterator[str]:
    word = f"{_WORDS[code.kind]} of {code.architecture}"
    if code.kind not in target.kinds:
        yield f"{word}: the device takes no machine code"
        return
    try:
        (major, minor, suffix), (own_major, own_minor, _) = map(_capability, (code.architecture, target.architecture))
    except ValueError as error:
        yield f"{word}: {error}"
        return
    if suffix:
        runs = (major, minor) == (own_major, own_minor)
    elif code.kind is CodeKind.CUBIN:
        runs = major == own_major and minor <= own_minor
    else:
        runs = (major, minor) <= (own_major, own_minor)
    if not runs:
        yield f"{word}: the device is {target.architecture}"
    if code.ptx_version is not None and target.ptx_version is not None and code.ptx_version > target.ptx_version:
        written, read = (".".join(map(str, version)) for version in (code.ptx_version, target.ptx_version))
        yield f"{word}: it is PTX {written}, and the driver reads PTX up to {read}"


def _capability(architecture: str) -> tuple[int, int, str]:
    """Major and minor number and the suffix. Raises ValueError."""
    match = _ARCHITECTURE.fullmatch(architecture)
    if match is None:
        raise ValueError(f"`{architecture}` is no architecture")
    return int(match[1]), int(match[2]), match[3]


def _try(module: KernelModule, signature: Signature, target: Target) -> CompiledModule | ProblemsFound:
    """A module's code for a device, or the problem with it."""
    code, reasons = choose(module.codes, target)
    if code is not None:
        # PTX states its own parameters; those of machine code the driver is asked for when it is loaded.
        is_text = code.kind is CodeKind.PTX
        entries = read_entries(code.data.decode("utf-8", "replace"), "") if is_text else code.entries
        key = sha256(code.data).hexdigest()
        return CompiledModule(Path(module.file), code.architecture, code.kind, code.data, entries, key)
    try:
        compiler = import_module("cgraph.backends.cuda.compiler")
        compiled: CompiledModule = compiler.compile_stored(module, signature, target.architecture, target.kinds[0])
    except ImportError as error:
        reasons = (*reasons, f"its text cannot be compiled: {error}")
    except ProblemsFound as stopped:
        reasons = (
            *reasons,
            *(f"its text cannot be compiled: {problem.render_title()}" for problem in stopped.problems),
        )
    else:
        return compiled
    return ProblemsFound([NoCodeForDevice(signature.span, module.file, target.architecture, signature.name, reasons)])
