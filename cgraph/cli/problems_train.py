"""What a user may meet with the options of `cgraph train`: CG795 to CG797."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class UnknownPlotKind(Problem):
    """A plot whose file name says nothing about the format."""

    code: ClassVar[str] = "CG795"
    title: ClassVar[str] = "`{path}` is no plot by its name"

    path: str
    kinds: str

    def helps(self) -> Sequence[str]:
        return (f"plots are written as {self.kinds}",)


@frozen
class MatplotlibMissing(Problem):
    """A plot was asked for, and what draws it is not installed."""

    code: ClassVar[str] = "CG796"
    title: ClassVar[str] = "`{path}` needs matplotlib, which is not installed"

    path: str

    def notes(self) -> Sequence[str]:
        return ("the curve at the end of the terminal's output needs nothing",)

    def helps(self) -> Sequence[str]:
        return ("install it: pip install 'cgraph-lang[plot]'",)


@frozen
class SequenceBeyondContext(Problem):
    """Sequences of more tokens than there are positions; both sizes were given."""

    code: ClassVar[str] = "CG797"
    title: ClassVar[str] = "sequences are longer than the context: cgSeq = {seq}, cgContext = {context}"

    seq: int | float
    context: int | float

    def notes(self) -> Sequence[str]:
        return ("cgContext is how many positions the model knows, and a sequence has cgSeq of them",)

    def helps(self) -> Sequence[str]:
        return ("leave `--set cgSeq=…` or `--set cgContext=…` out: it then follows from the other",)
