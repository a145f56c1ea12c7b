"""Code that was compiled before, with all that compiling it again takes: what a bundle keeps of kernels.

Guarantees nothing: whoever reads it from a file has validated it, and the driver checks what it loads. Needs no CUDA
package, so that bundles can be looked at anywhere.
"""

from attrs import field, frozen

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.entries import Entry


@frozen(eq=False)
class Code:
    """Code of one kernel file for one architecture.

    Args:
        kind: a cubin, or PTX in UTF-8.
        architecture: of the devices that run it: `sm_90` for a cubin; for PTX the oldest one, `compute_80`.
        ptx_version: of the PTX, e.g. (9, 5); None for a cubin.
        data: the code.
        entries: the kernels in it; resources are known for cubins only.
    """

    kind: CodeKind
    architecture: str
    ptx_version: tuple[int, int] | None
    data: bytes = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)


@frozen(eq=False)
class KernelModule:
    """A kernel file with all that compiling it again takes, and the code that was made from it.

    Args:
        file: name of the .cu file, without a folder.
        source: its text.
        includes: name, as an `#include` finds it, and text of each local header that it needs.
        options: of the compiler, without architecture, folders and macros.
        defines: name and value of each macro, sorted.
        codes: PTX first, then cubins by architecture; () where no compiler was at hand.
    """

    file: str
    source: str = field(repr=False)
    includes: tuple[tuple[str, str], ...] = field(repr=False)
    options: tuple[str, ...]
    defines: tuple[tuple[str, str], ...]
    codes: tuple[Code, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its kernels with their parameters, as the first code has them; () without code."""
        return self.codes[0].entries if self.codes else ()
