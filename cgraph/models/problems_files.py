"""Problems with files of plane contents, and with the values in them."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem, Severity


@frozen
class UnknownFileKind(Problem):
    """A file name that says nothing about the format."""

    code: ClassVar[str] = "CG720"
    title: ClassVar[str] = "`{path}` is no file of planes by its name"

    path: str
    kinds: str

    def helps(self) -> Sequence[str]:
        return (f"planes are kept in {self.kinds} files",)


@frozen
class UnreadablePlanes(Problem):
    """A file of planes that is missing, truncated or broken."""

    code: ClassVar[str] = "CG721"
    title: ClassVar[str] = "cannot read planes from `{path}`: {reason}"

    path: str
    reason: str


@frozen
class UnwritablePlanes(Problem):
    """A file of planes that cannot be written."""

    code: ClassVar[str] = "CG722"
    title: ClassVar[str] = "cannot write planes to `{path}`: {reason}"

    path: str
    reason: str


@frozen
class InputWithoutPlane(Problem):
    """An array whose name is no plane of the graph."""

    code: ClassVar[str] = "CG723"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "no plane of the graph takes {shown}"

    shown: str

    def helps(self) -> Sequence[str]:
        return ("a plane's name is its family and its indices, for example `cgQkvWeight 0`",)


@frozen
class NotFinite(Problem):
    """An input with values that are not numbers."""

    code: ClassVar[str] = "CG724"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "`{name}` holds {count} of {elements} elements that are NaN or infinite"

    name: str
    count: int
    elements: int
    first: tuple[int, ...]

    def notes(self) -> Sequence[str]:
        return (f"the first one is at {list(self.first)}; every result that depends on it will not be finite",)


@frozen
class WrongKindOfNumbers(Problem):
    """An array that cannot stand for a plane's elements."""

    code: ClassVar[str] = "CG725"
    title: ClassVar[str] = "plane `{name}` holds {expected}, the file has {found}"

    name: str
    expected: str
    found: str


@frozen
class SavedWithoutValue(Problem):
    """A saved plane that neither a file nor a forward program fills."""

    code: ClassVar[str] = "CG726"
    title: ClassVar[str] = "`{name}` is saved by a forward pass and has no value here"
    label: ClassVar[str] = "declared here"

    name: str

    def helps(self) -> Sequence[str]:
        return (
            "run the forward program with `--out saved.safetensors` and give that file with `--inputs`",
            "or name the forward program with `--forward`; it is then run first",
        )
