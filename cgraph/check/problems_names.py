"""Problems with names: unknown, declared twice, referring to themselves; and with imports."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Fix, Label, Problem
from cgraph.source import Span


@frozen
class UnknownName(Problem):
    """A name that nothing declares."""

    code: ClassVar[str] = "CG101"
    title: ClassVar[str] = "unknown name `{name}`"
    label: ClassVar[str] = "not declared here, in an import or by the language"

    name: str
    suggestion: str | None

    def helps(self) -> Sequence[str]:
        return () if self.suggestion is None else (f"a name that is spelt alike: `{self.suggestion}`",)

    def fix(self) -> Fix | None:
        if self.suggestion is None or self.span is None:
            return None
        return Fix(self.span, self.suggestion, f"write `{self.suggestion}`")


@frozen
class DeclaredTwice(Problem):
    """Two declarations of one name."""

    code: ClassVar[str] = "CG102"
    title: ClassVar[str] = "`{name}` is declared twice"
    label: ClassVar[str] = "declared again here"

    name: str
    first: Span

    def labels(self) -> Sequence[Label]:
        return (Label(self.first, "first declared here"),)

    def helps(self) -> Sequence[str]:
        return ("files share one space of names: rename one of the two",)


@frozen
class NameOfTheLanguage(Problem):
    """A declaration of a name that the language defines."""

    code: ClassVar[str] = "CG103"
    title: ClassVar[str] = "`{name}` belongs to the language"
    label: ClassVar[str] = "it cannot be declared again"

    name: str


@frozen
class Recursion(Problem):
    """Declarations that refer to themselves, directly or through others.

    Args:
        path: the uses after the first one, up to the one that closes the circle.
        group: how many declarations refer to each other.
    """

    code: ClassVar[str] = "CG104"
    title: ClassVar[str] = "`{name}` refers to itself"
    label: ClassVar[str] = "`{first_use}` is used here"

    name: str
    first_use: str
    path: tuple[tuple[str, Span], ...]
    group: int

    def labels(self) -> Sequence[Label]:
        return tuple(Label(span, f"which uses `{name}` here") for name, span in self.path)

    def notes(self) -> Sequence[str]:
        others = self.group - 1 - len(self.path)
        more = (f"{others} more declarations refer to each other with these",) if others > 0 else ()
        return ("every program ends, so no declaration may need its own value", *more)

    def helps(self) -> Sequence[str]:
        return ("`cgEach`, `cgEachDown` and `naturalFold` repeat something a known number of times",)


@frozen
class ImportNotFound(Problem):
    """An import whose file is neither beside the importing file nor in the library."""

    code: ClassVar[str] = "CG105"
    title: ClassVar[str] = "cannot import `{path}`"
    label: ClassVar[str] = "there is no such file"

    path: str
    suggestion: str | None

    def notes(self) -> Sequence[str]:
        return ("looked beside this file, then in the library",)

    def helps(self) -> Sequence[str]:
        return () if self.suggestion is None else (f"the library has `{self.suggestion}`",)


@frozen
class NotAPlane(Problem):
    """`gradient of` something that is not a plane."""

    code: ClassVar[str] = "CG106"
    title: ClassVar[str] = "`{name}` is not a plane"
    label: ClassVar[str] = "`gradient of` needs the name of a plane"

    name: str
