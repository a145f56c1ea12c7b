"""What is wrong with the contents of a bundle, or keeps a program from being stored in one: CG808 to CG815."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Problem, Severity


@frozen
class FieldWrong(Problem):
    """A field of a bundle is not what its place asks for.

    Args:
        path: of the file.
        place: in the manifest, e.g. `graph.planes.extent.3`.
        expected, found: in words.
    """

    code: ClassVar[str] = "CG808"
    title: ClassVar[str] = "{path}: {place}: expected {expected}, found {found}"

    path: str
    place: str
    expected: str
    found: str

    def notes(self) -> Sequence[str]:
        return ("the file is what somebody wrote, its checksums agree; nothing of it was used",)


@frozen
class UnknownContent(Problem):
    """A bundle holds something that this cgraph does not know."""

    code: ClassVar[str] = "CG809"
    title: ClassVar[str] = "{path} holds {found}, this cgraph knows {known}"

    path: str
    found: str
    known: str


@frozen
class GraphWrong(Problem):
    """The graph of a bundle breaks rules that every graph keeps; the problems that follow say which."""

    code: ClassVar[str] = "CG810"
    title: ClassVar[str] = "{path}: its graph breaks {count} rule(s) of graphs"

    path: str
    count: int

    def notes(self) -> Sequence[str]:
        return ("no program that checks gives such a graph; nothing of it was used",)


@frozen
class NotStorable(Problem):
    """A graph cannot be written as a bundle, because none could be read back.

    Args:
        reason: in words.
    """

    code: ClassVar[str] = "CG811"
    title: ClassVar[str] = "the graph cannot be stored: {reason}"

    reason: str


@frozen
class CodeDoesNotFit(Problem):
    """Stored code has no kernel for an image, or one with other parameters; the problems that follow say which."""

    code: ClassVar[str] = "CG813"
    title: ClassVar[str] = "stored code does not fit the images: {count} difference(s)"

    count: int


@frozen
class StoredWithoutCode(Problem):
    """A bundle is written without code of kernels, so it replays on the host alone. Only a warning.

    Args:
        reason: why there is no code; remedy: what to do about it.
    """

    code: ClassVar[str] = "CG814"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "the bundle holds no code, it replays on the host only: {reason}"

    reason: str
    remedy: str

    def helps(self) -> Sequence[str]:
        return (self.remedy,)


@frozen
class NeitherCodeNorMeaning(Problem):
    """A kernel has no NumPy function and no code can be stored, so nothing could replay it. `span` is its image.

    Args:
        image, file, entry: of the kernel.
        reason: why there is no code; remedy: what to do about it.
    """

    code: ClassVar[str] = "CG815"
    title: ClassVar[str] = "nothing could replay image {image}: no code and no NumPy function"
    label: ClassVar[str] = "kernel `{entry}` in {file}"

    image: str
    file: str
    entry: str
    reason: str = field(repr=False)
    remedy: str = field(repr=False)

    def notes(self) -> Sequence[str]:
        return (f"there is no code because {self.reason}",)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (
            self.remedy,
            "or register a NumPy function for the image with @meaning from cgraph.images.registry",
        )
