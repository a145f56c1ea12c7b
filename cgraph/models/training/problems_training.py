"""What a user may meet when a program is trained: CG785 to CG794."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem, Severity


@frozen
class EntryMissing(Problem):
    """A definition that training needs and the program lacks.

    Args:
        file: the program's. entry: what is missing. purpose: what for. instead: how to do without it; "" if one cannot.
    """

    code: ClassVar[str] = "CG785"
    title: ClassVar[str] = "`{file}` cannot be trained: it has no definition `{entry}`"

    file: str
    entry: str
    purpose: str
    instead: str

    def notes(self) -> Sequence[str]:
        return (f"`{self.entry}` {self.purpose}",)

    def helps(self) -> Sequence[str]:
        return (self.instead,) if self.instead else ("programs/gpt.cg has all entries that training uses",)


@frozen
class PlaneOfContract(Problem):
    """A plane that training uses and an entry lacks, or has in another form; `span` declares it.

    Args:
        entry: the definition.
        name: the plane's. expected: its element type, extent and role. found: the same, "" where there is none.
    """

    code: ClassVar[str] = "CG786"
    title: ClassVar[str] = "`{entry}` {lacks} `{name} : {expected}`, which training uses"

    entry: str
    name: str
    expected: str
    found: str

    def render_title(self) -> str:
        lacks = "does not have" if self.found else "uses no plane"
        return self.title.format(entry=self.entry, lacks=lacks, name=self.name, expected=self.expected)

    def render_label(self) -> str:
        return f"here it is {self.found}" if self.found else ""


@frozen
class VocabularyTooSmall(Problem):
    """The program has fewer tokens than the text."""

    code: ClassVar[str] = "CG787"
    title: ClassVar[str] = "the vocabulary is too small: cgVocab = {vocabulary}, the text needs {needed}"

    vocabulary: int
    needed: int
    kind: str

    def notes(self) -> Sequence[str]:
        if self.kind == "bytes":
            return ("a byte has 256 values, whichever of them the text uses",)
        return (f"the text has {self.needed} different characters",)

    def helps(self) -> Sequence[str]:
        return ("leave `--set cgVocab=…` out: it then follows from the text",)


@frozen
class BrokenCheckpoint(Problem):
    """A file that is no checkpoint of a training run, or that somebody changed."""

    code: ClassVar[str] = "CG788"
    title: ClassVar[str] = "`{path}` is no checkpoint of a training run: {reason}"

    path: str
    reason: str


@frozen
class CheckpointDiffers(Problem):
    """A resumed run was to use something else than the run that it continues.

    Args:
        path: the checkpoint's. what: differs. stored: it is in the checkpoint. given: it is now.
    """

    code: ClassVar[str] = "CG789"
    title: ClassVar[str] = "`{path}` was trained with {what} {stored}, not {given}"

    path: str
    what: str
    stored: str
    given: str

    def helps(self) -> Sequence[str]:
        return ("leave out what the checkpoint decides, or start anew without `--resume`",)


@frozen
class StepsReached(Problem):
    """There is nothing left to do."""

    code: ClassVar[str] = "CG790"
    title: ClassVar[str] = "`{path}` is at step {done} already, and {steps} steps were asked for"

    path: str
    done: int
    steps: int

    def helps(self) -> Sequence[str]:
        return (f"ask for more steps in all, for example `--steps {2 * self.done}`",)


@frozen
class TrainingNotFinite(Problem):
    """A loss or a weight became NaN or infinite.

    Args:
        what: became so. step: after or in which step, from 1. kept: the last checkpoint, in words.
        half: what `half` stands for.
    """

    code: ClassVar[str] = "CG791"
    title: ClassVar[str] = "training stopped at step {step}: {what}"

    what: str
    step: int
    kept: str
    half: str

    def notes(self) -> Sequence[str]:
        return (self.kept,)

    def helps(self) -> Sequence[str]:
        helps = ["lower `--learning-rate`, lengthen `--warmup-steps`, or limit the gradient with `--clip-norm 1`"]
        if self.half == "f16":
            helps.append("f16 ends at 65504; `--half bf16` has the range of f32")
        return tuple(helps)


@frozen
class OnlySkipped(Problem):
    """One step after the other changes nothing, because its gradient overflows.

    Args:
        count: of them. step: the last, from 1. scale: the loss scale now. kept: the last checkpoint, in words.
    """

    code: ClassVar[str] = "CG792"
    title: ClassVar[str] = "training stopped at step {step}: the gradient was not finite in the last {count} steps"

    count: int
    step: int
    scale: float
    kept: str

    def notes(self) -> Sequence[str]:
        return (f"such a step changes no weight; the loss scale is {self.scale:g} now", self.kept)

    def helps(self) -> Sequence[str]:
        return ("`--half bf16` has the range of f32; a lower `--learning-rate` keeps activations smaller",)


@frozen
class CheckpointNotWritten(Problem):
    """A checkpoint could not be written; training goes on, and the next one may succeed.

    Args:
        path: the file's, of which the old content is kept. step: done. reason: why.
    """

    code: ClassVar[str] = "CG793"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "no checkpoint at step {step}: {reason}"

    path: str
    step: int
    reason: str

    def notes(self) -> Sequence[str]:
        return (f"`{self.path}` is as it was; training goes on",)


@frozen
class UnwritableReport(Problem):
    """A log or a plot that cannot be written."""

    code: ClassVar[str] = "CG794"
    title: ClassVar[str] = "cannot write the {what} `{path}`: {reason}"

    what: str
    path: str
    reason: str
