"""Finds the .cu file of an image and all that its compilation depends on.

Receives a signature; guarantees a text whose local includes (`#include "…"`) were all found and read. Includes in angle
brackets are left to the compiler.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from attrs import field, frozen

from cgraph.backends.cuda.problems_compiler import KernelFileNotFound, KernelFileUnreadable
from cgraph.core.elements import Element
from cgraph.core.signatures import Signature
from cgraph.diagnostics import ProblemsFound
from cgraph.resources import kernels_directory
from cgraph.source import Source

HALF_MACRO = {Element.F16: "1", Element.BF16: "2"}
# Its header knows what the macro means; a file that does not include it may work with any half.
HALF_HEADER = "common.cuh"
_LOCAL_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


@frozen(eq=False, slots=False)
class KernelSource:
    """A .cu file that was read.

    Args:
        path: absolute.
        text: its contents.
        includes: local headers that it needs, directly or through others, with their texts, each once.
    """

    path: Path
    text: str = field(repr=False)
    includes: tuple[tuple[Path, str], ...] = field(repr=False)

    @property
    def include_directories(self) -> tuple[Path, ...]:
        """Where local includes are looked for: beside the file, then among cgraph's own kernels."""
        return tuple(dict.fromkeys((self.path.parent, kernels_directory())))

    @cached_property
    def sources(self) -> dict[str, Source]:
        """The file and its headers by the names that the compiler prints."""
        texts = ((self.path, self.text), *self.includes)
        return {str(path): Source(str(path), text) for path, text in texts}

    def needs(self, header: str) -> bool:
        """Whether a header of that name is among its includes."""
        return any(path.name == header for path, _ in self.includes)


def find_kernel_source(signature: Signature) -> KernelSource:
    """The file that an image declaration names: beside the .cg file with the declaration, else in `kernels_cu`.

    A program that was given as text has no folder; the current one stands for it.

    Raises:
        ProblemsFound: it is in neither folder (CG731), or it cannot be read as UTF-8 (CG732).
    """
    beside = Path(signature.span.source.name).parent
    tried = tuple(dict.fromkeys(folder.resolve() / signature.file for folder in (beside, kernels_directory())))
    for path in tried:
        if path.is_file():
            return read_kernel_source(path, signature)
    places = tuple(str(path) for path in tried)
    raise ProblemsFound([KernelFileNotFound(signature.span, signature.name, signature.file, places)])


def read_kernel_source(path: Path, signature: Signature) -> KernelSource:
    """The text of a .cu file and of its local includes. Raises ProblemsFound (CG732) for a file that is no text."""
    text = _read(path, signature)
    folders = (path.parent, kernels_directory())
    includes: dict[Path, str] = {}
    waiting = [(path, text)]
    while waiting:
        includer, content = waiting.pop()
        for name in _LOCAL_INCLUDE.findall(content):
            found = _find_include(name, (includer.parent, *folders))
            if found is not None and found != path and found not in includes:
                includes[found] = _read(found, signature)
                waiting.append((found, includes[found]))
    return KernelSource(path, text, tuple(sorted(includes.items())))


def included_names(source: KernelSource) -> tuple[tuple[str, Path], ...]:
    """The names by which a file and its headers include local headers, each with the header's path, sorted."""
    folders = (source.path.parent, kernels_directory())
    known = {path for path, _ in source.includes}
    found = set()
    for path, text in ((source.path, source.text), *source.includes):
        for name in _LOCAL_INCLUDE.findall(text):
            header = _find_include(name, (path.parent, *folders))
            if header in known:
                found.add((name, header))
    return tuple(sorted(found))


def with_includes(text: str, names: Mapping[str, str]) -> str:
    """A text whose local includes have other names; those that are not listed stay as they are. Lines stay too."""

    def renamed(match: re.Match[str]) -> str:
        return match[0] if match[1] not in names else match[0].replace(f'"{match[1]}"', f'"{names[match[1]]}"')

    return _LOCAL_INCLUDE.sub(renamed, text)


def _find_include(name: str, folders: Sequence[Path]) -> Path | None:
    """None for a header that lies elsewhere, as CUDA's own do; if it is nowhere, the compiler will say so."""
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def _read(path: Path, signature: Signature) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = KernelFileUnreadable(signature.span, signature.name, str(path), str(error))
        raise ProblemsFound([problem]) from error
