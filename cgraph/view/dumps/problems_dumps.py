"""What may be wrong with a dump: CG890 to CG899.

CG890 and CG891 leave nothing to show; after the others what could be read is shown.
"""

from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem
from cgraph.diagnostics.problem import Severity


@frozen
class NotADump(Problem):
    """A text is no directed graph in DOT."""

    code: ClassVar[str] = "CG890"
    title: ClassVar[str] = "{file} is no directed graph in the DOT language"
    label: ClassVar[str] = "{reason}"

    file: str
    reason: str

    def notes(self) -> tuple[str, ...]:
        return () if self.span is not None else (self.reason,)

    def helps(self) -> tuple[str, ...]:
        return ("a dump begins with `digraph`; cudaGraphDebugDotPrint and `debug_dump` of PyTorch write one",)


@frozen
class DumpTooLarge(Problem):
    """A file is larger than any dump."""

    code: ClassVar[str] = "CG891"
    title: ClassVar[str] = "{file} is too large to be viewed"

    file: str
    most_bytes: int

    def notes(self) -> tuple[str, ...]:
        return (f"a dump may have {self.most_bytes} bytes",)


@frozen
class BrokenStatement(Problem):
    """A statement departs from the DOT language; it is left out."""

    code: ClassVar[str] = "CG892"
    title: ClassVar[str] = "a statement of the dump is broken"
    label: ClassVar[str] = "expected {expected}, found {found}"

    expected: str
    found: str

    def notes(self) -> tuple[str, ...]:
        return ("the statement is left out; reading goes on at the next one",)


@frozen
class CutOff(Problem):
    """The text ends inside the graph; the place is what is not complete."""

    code: ClassVar[str] = "CG893"
    title: ClassVar[str] = "the dump is cut off"
    label: ClassVar[str] = "{what} is not complete"

    what: str

    def notes(self) -> tuple[str, ...]:
        return ("all that stands complete before it is shown",)


@frozen
class GraphInItself(Problem):
    """Graphs run each other in a circle, which no driver allows."""

    code: ClassVar[str] = "CG894"
    title: ClassVar[str] = "`{inner}` runs inside itself"
    label: ClassVar[str] = "`{outer}` runs `{inner}` here, which runs `{outer}`"

    outer: str
    inner: str

    def notes(self) -> tuple[str, ...]:
        return ("the graph is not drawn inside this command",)


@frozen
class MissingGraph(Problem):
    """A command runs a graph that the file does not hold."""

    code: ClassVar[str] = "CG895"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "the dump does not hold `{graph}`"
    label: ClassVar[str] = "this command runs it"

    graph: str


@frozen
class EdgesInCircle(Problem):
    """Commands wait for each other; `circle` names one way round."""

    code: ClassVar[str] = "CG896"
    title: ClassVar[str] = "commands wait for each other in a circle"
    label: ClassVar[str] = "{circle}"

    circle: str

    def notes(self) -> tuple[str, ...]:
        return ("this dependency is left out",)


@frozen
class UnknownEnd(Problem):
    """A dependency names a command that its graph does not hold."""

    code: ClassVar[str] = "CG897"
    title: ClassVar[str] = "a dependency names `{name}`, which is no command of `{graph}`"
    label: ClassVar[str] = "it is left out"

    name: str
    graph: str


@frozen
class TooMuch(Problem):
    """A file holds more of something than is read; it is cut there."""

    code: ClassVar[str] = "CG898"
    title: ClassVar[str] = "the dump holds more than {most} {things}"
    label: ClassVar[str] = "{rest}"

    things: str
    most: int
    rest: str = "what follows is left out"


@frozen
class UnknownLabel(Problem):
    """A command's label has a form that no known tool writes."""

    code: ClassVar[str] = "CG899"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "the label of a command is not understood"
    label: ClassVar[str] = "{reason}"

    reason: str

    def notes(self) -> tuple[str, ...]:
        return ("the command is shown with the text of its label",)
