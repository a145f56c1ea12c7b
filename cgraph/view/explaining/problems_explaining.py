"""Why there is nothing to explain: CG514 to CG517."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem

MOST_FILES = 12


@frozen
class NothingHere(Problem):
    """A line that no command comes from and that declares nothing. `nearest` tells of lines that have something."""

    code: ClassVar[str] = "CG514"
    title: ClassVar[str] = "nothing on line {line} becomes a part of the graph"
    label: ClassVar[str] = "no command comes from here"

    line: int
    nearest: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        return self.nearest


@frozen
class NoSuchLine(Problem):
    """A line that a text does not have."""

    code: ClassVar[str] = "CG515"
    title: ClassVar[str] = "{file} has no line {line}"

    file: str
    line: int
    lines: int

    def notes(self) -> Sequence[str]:
        return (f"its lines are 1 to {self.lines}" if self.lines else "it is empty",)


@frozen
class NotOfProgram(Problem):
    """A text that the graph does not come from. `files` are those that it comes from."""

    code: ClassVar[str] = "CG516"
    title: ClassVar[str] = "{program} does not come from {file}"

    program: str
    file: str
    files: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        if not self.files:
            return ("it holds no text of a program",)
        more = f" and {len(self.files) - MOST_FILES} more" if len(self.files) > MOST_FILES else ""
        return (f"it comes from {', '.join(self.files[:MOST_FILES])}{more}",)

    def helps(self) -> Sequence[str]:
        if self.file == self.program:
            return (f"ask for a line of one of these: `cgraph explain FILE:LINE --program {self.program}`",)
        return ("`--program FILE` names the program, bundle or dump to look into",)


@frozen
class NoWholeProgram(Problem):
    """A file that others import, and nothing says which program shall be built."""

    code: ClassVar[str] = "CG517"
    title: ClassVar[str] = "{file} has nothing to build: no definition `{entry}`"

    file: str
    entry: str

    def helps(self) -> Sequence[str]:
        return (
            "`--program FILE` names the program that imports it",
            "`--entry NAME` names the definition to build",
        )
