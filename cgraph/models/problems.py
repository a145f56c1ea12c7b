"""What a user may meet when a backward program is paired with its forward program: CG710 to CG717.

Receives the facts from `pairs` and `forward`; guarantees nothing but the wording.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Label, Problem
from cgraph.source import Span


@frozen
class NoForward(Problem):
    """No forward program was named, and none was found.

    Args:
        file: the backward program's.
        tried: the file that would have been taken; None where the name does not lead to one.
    """

    code: ClassVar[str] = "CG710"
    title: ClassVar[str] = "no forward program for `{file}`"

    file: str
    tried: str | None

    def notes(self) -> Sequence[str]:
        if self.tried is None:
            return ("it is looked for beside a file `NAME.cg` as `NAME_forward.cg`, or as `forward` for `backward`",)
        return (f"there is no `{self.tried}`",)

    def helps(self) -> Sequence[str]:
        return ("name it with `--forward FILE[:ENTRY]`, or with `--forward-entry NAME` if it stands in the same file",)


@frozen
class OutputMissing(Problem):
    """A gradient is given for an output that the forward program does not write; `span` declares the gradient."""

    code: ClassVar[str] = "CG711"
    title: ClassVar[str] = "the forward program writes no output `{output}`"
    label: ClassVar[str] = "the backward program starts from its gradient"

    output: str
    gradient: str
    outputs: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        if not self.outputs:
            return ("it writes no planes of role `output`",)
        return (f"its outputs are {', '.join(self.outputs)}",)


@frozen
class NoGradients(Problem):
    """The backward program computes no gradient of an input or a weight."""

    code: ClassVar[str] = "CG712"
    title: ClassVar[str] = "`{entry}` computes no gradient of an input or a weight"

    entry: str

    def helps(self) -> Sequence[str]:
        return ("declare its results as planes of role `gradient of …`, naming an input or a weight",)


@frozen
class NotKept(Problem):
    """The backward program reads what the forward program does not leave behind; `span` declares the plane.

    Args:
        name: the plane's.
        part: of it, that is missing.
        role: the plane's in the forward program; None where that has no such plane.
        forward_span: its declaration there.
    """

    code: ClassVar[str] = "CG713"
    title: ClassVar[str] = "the forward program does not keep `{name}`, which the backward program reads"
    label: ClassVar[str] = "{part} are missing"

    name: str
    part: str
    role: str | None
    forward_span: Span | None = field(repr=False)

    def labels(self) -> Sequence[Label]:
        if self.forward_span is None or self.forward_span == self.span:
            return ()
        return (Label(self.forward_span, f"in the forward program it is {self.role}"),)

    def notes(self) -> Sequence[str]:
        if self.role is None:
            return ("the forward program has no plane of this name",)
        if self.role == "scratch":
            return ("what a scratch plane holds is lost when the forward program ends",)
        return ()

    def helps(self) -> Sequence[str]:
        return ("declare it `saved` in both programs, and let the forward program write it in full",)


@frozen
class PlanesDiffer(Problem):
    """Two planes that belong together are not alike; `span` declares the one of the backward program.

    Args:
        name: the plane's. shape: its element type and extent.
        other: the other plane. other_shape: its element type and extent. other_span: its declaration.
    """

    code: ClassVar[str] = "CG714"
    title: ClassVar[str] = "`{name}` is {shape}, and {other} is {other_shape}"
    label: ClassVar[str] = "this one is {shape}"

    name: str
    shape: str
    other: str
    other_shape: str
    other_span: Span = field(repr=False)

    def labels(self) -> Sequence[Label]:
        return () if self.other_span == self.span else (Label(self.other_span, f"this one is {self.other_shape}"),)


@frozen
class ResultNotFinite(Problem):
    """A plane holds NaN or infinity after a run; `span` is its declaration.

    Args:
        name: the plane's.
        program: which of the two was run.
        place: indices of the first such element.
        count: of such elements.
        elements: of the plane.
    """

    code: ClassVar[str] = "CG715"
    title: ClassVar[str] = "the {program} program leaves `{name}` not finite"
    label: ClassVar[str] = "first at {place}; {count} of its {elements} elements"

    name: str
    program: str
    place: list[int]
    count: int
    elements: int


@frozen
class NoLoss(Problem):
    """It is not known which function of the outputs the backward program differentiates."""

    code: ClassVar[str] = "CG716"
    title: ClassVar[str] = "`{entry}` starts from no gradient of an output"

    entry: str
    outputs: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        outputs = ", ".join(self.outputs) if self.outputs else "none"
        return (
            "without one, the forward program must have a single output of one element: the loss itself",
            f"its outputs: {outputs}",
        )

    def helps(self) -> Sequence[str]:
        return ("declare the plane that enters the backward pass as `gradient of` the output",)


@frozen
class ValuesMissing(Problem):
    """The forward program was to be run without values for all that it reads."""

    code: ClassVar[str] = "CG717"
    title: ClassVar[str] = "the forward program needs values of {shown}"

    shown: str
