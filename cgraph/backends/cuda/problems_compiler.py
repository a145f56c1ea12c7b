"""What can be wrong with the kernels of a program and with the compiler for them: CG730 to CG739.

Guarantees nothing but the wording. Imports no CUDA package, so that the codes can be listed anywhere. `span` is the
name in the image's declaration, or None where no kernel in particular is at fault.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Label, Problem

# Lines of a compiler's log that are shown.
MOST_LINES = 12


@frozen
class NvrtcNotFound(Problem):
    """There is no NVRTC on this machine."""

    code: ClassVar[str] = "CG730"
    title: ClassVar[str] = "kernels cannot be compiled: NVIDIA's compiler library NVRTC is not installed"

    reason: str

    def notes(self) -> Sequence[str]:
        """What the search said."""
        return (self.reason,)

    def helps(self) -> Sequence[str]:
        """How to get it."""
        return ('install cgraph-lang[cuda]; it brings the packages of cuda-toolkit\'s extra "nvrtc"',)


@frozen
class KernelFileNotFound(Problem):
    """An image's .cu file is nowhere."""

    code: ClassVar[str] = "CG731"
    title: ClassVar[str] = "there is no {file}, which image {image} names"
    label: ClassVar[str] = "declared here"

    image: str
    file: str
    tried: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """Where it was looked for."""
        return tuple(f"not found: {place}" for place in self.tried)

    def helps(self) -> Sequence[str]:
        """Where it belongs."""
        return ("put it beside the program that declares the image",)


@frozen
class KernelFileUnreadable(Problem):
    """A .cu file or a header is there, but it is no text."""

    code: ClassVar[str] = "CG732"
    title: ClassVar[str] = "{path} cannot be read"
    label: ClassVar[str] = "image {image} needs it"

    image: str
    path: str
    reason: str

    def notes(self) -> Sequence[str]:
        """What the system said."""
        return (self.reason,)


@frozen
class HalfNotOnDevice(Problem):
    """`half` was bound to a type that the kernels have no code for."""

    code: ClassVar[str] = "CG733"
    title: ClassVar[str] = "half is {half} in this build, and kernels know f16 and bf16 only"
    label: ClassVar[str] = "the kernel of {image} works with half"

    image: str
    half: str

    def helps(self) -> Sequence[str]:
        """What to choose."""
        return ("build with --half f16 or --half bf16; f32 and f64 are for the host",)


@frozen
class ArchitectureUnknown(Problem):
    """The installed NVRTC has no code for a device."""

    code: ClassVar[str] = "CG734"
    title: ClassVar[str] = "NVRTC {version} does not compile for {architecture}"

    architecture: str
    version: str
    known: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What it compiles for, and what cgraph asks for."""
        return (f"it knows {', '.join(self.known)}", "cgraph's kernels need compute capability 8.0 or newer")


@frozen
class CompilationFailed(Problem):
    """A .cu file has errors.

    Args:
        image: one that needs the file; `span` is its name.
        file: the .cu file.
        errors: the first errors that lie in files at hand, to be shown in place.
        log: what the compiler wrote.
        tried: where CUDA's headers were looked for, if one of them was not found; else ().
    """

    code: ClassVar[str] = "CG735"
    title: ClassVar[str] = "{file} does not compile"
    label: ClassVar[str] = "image {image} needs it"

    image: str
    file: str
    errors: tuple[Label, ...] = field(repr=False)
    log: str = field(repr=False)
    tried: tuple[str, ...] = field(repr=False, default=())

    def labels(self) -> Sequence[Label]:
        """The compiler's errors at their lines."""
        return self.errors

    def notes(self) -> Sequence[str]:
        """The log where it says more than the labels, and where headers were looked for."""
        lines = [] if self.errors else self.log.strip().splitlines()
        more = (f"… and {len(lines) - MOST_LINES} more lines",) if len(lines) > MOST_LINES else ()
        return (*lines[:MOST_LINES], *more, *(f"CUDA's headers: {place}" for place in self.tried))

    def helps(self) -> Sequence[str]:
        """How to get headers."""
        return ("install cgraph-lang[cuda], or set CUDA_HOME to a toolkit's folder",) if self.tried else ()


@frozen
class EntryNotFound(Problem):
    """A .cu file compiles, but has no kernel of the declared name."""

    code: ClassVar[str] = "CG736"
    title: ClassVar[str] = "{file} has no kernel {entry}"
    label: ClassVar[str] = "image {image} names it"

    image: str
    file: str
    entry: str
    known: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """The kernels that it has."""
        return (f"it has {', '.join(self.known)}",) if self.known else ("it has no kernels at all",)

    def helps(self) -> Sequence[str]:
        """The usual reasons."""
        return ('kernels are declared extern "C" __global__; some stand behind an #ifdef on a constant of the image',)


@frozen
class ParametersDiffer(Problem):
    """A declaration and its kernel do not have the same parameters.

    Args:
        differences: one for each slot or parameter that differs; each span is a slot's, or the image's.
    """

    code: ClassVar[str] = "CG737"
    title: ClassVar[str] = "image {image} and its kernel {entry} of {file} disagree"
    label: ClassVar[str] = "declared here"

    image: str
    file: str
    entry: str
    differences: tuple[Label, ...] = field(repr=False)
    kernel: str

    def labels(self) -> Sequence[Label]:
        """Each difference at its slot."""
        return self.differences

    def notes(self) -> Sequence[str]:
        """What the kernel takes."""
        return (f"the compiled kernel takes ({self.kernel})",)

    def helps(self) -> Sequence[str]:
        """What goes with what."""
        return ("a pointer slot is a pointer, natural is int, float is float; slots are in the order of parameters",)


@frozen
class BlockTooLarge(Problem):
    """A declared block has more threads than the kernel was compiled for."""

    code: ClassVar[str] = "CG738"
    title: ClassVar[str] = "image {image} declares blocks of {threads} threads, and its kernel allows {limit}"
    label: ClassVar[str] = "declared here"

    image: str
    threads: int
    limit: int

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return ("change `block` in the declaration or __launch_bounds__ of the kernel",)


@frozen
class NvrtcFailed(Problem):
    """NVRTC itself failed; the text is not at fault."""

    code: ClassVar[str] = "CG739"
    title: ClassVar[str] = "NVRTC failed in {call}: {result}"

    call: str
    result: str
    log: str = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What it wrote."""
        return tuple(self.log.splitlines()[:MOST_LINES])
