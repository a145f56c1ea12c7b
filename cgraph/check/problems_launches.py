"""Problems of a launch with its image's signature, found while checking or, with concrete sizes, while building."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import evolve, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Label, Problem
from cgraph.source import Source, Span

_MOST_CALLS_SHOWN = 4


@frozen
class LaunchProblem(Problem):
    """Base of the problems here: each knows its image and how the program came to the launch."""

    code: ClassVar[str] = "CG230"
    title: ClassVar[str] = "a launch of `{image}` does not fit its signature"

    image: str
    declared: Span
    origin: Origin

    def labels(self) -> Sequence[Label]:
        steps = [step for step in self.origin.chain() if step.span != self.span]
        return (
            Label(self.declared, "declared here"),
            *(Label(step.span, _words(step)) for step in reversed(steps[-_MOST_CALLS_SHOWN:])),
        )


def blame(problem: Problem, source: Source) -> Problem:
    """The problem moved to the innermost step of its origin that lies in the user's own file, if it lies elsewhere."""
    if not isinstance(problem, LaunchProblem) or problem.span is None or problem.span.source is source:
        return problem
    own = [step for step in problem.origin.chain() if step.span.source is source]
    return evolve(problem, span=own[-1].span) if own else problem


def _words(step: Origin) -> str:
    return "launched here" if step.text == "launch" else f"`{step.text}`"


@frozen
class MissingSlot(LaunchProblem):
    """A slot that must be given and is not."""

    code: ClassVar[str] = "CG231"
    title: ClassVar[str] = "slot {number} `{slot}` of `{image}` is missing"
    label: ClassVar[str] = "this launch does not give slot {number} ({kind})"

    number: int
    slot: str
    kind: str

    def helps(self) -> Sequence[str]:
        call = {"pointer": "cgPointer", "natural": "cgNatural", "float": "cgFloat"}[self.kind]
        return (f"add `({call} (cgArgument {self.number}) … )` to the slots",)


@frozen
class SlotGivenTwice(LaunchProblem):
    """A slot with two values."""

    code: ClassVar[str] = "CG232"
    title: ClassVar[str] = "slot {number} of `{image}` is given twice"
    label: ClassVar[str] = "given again here"

    number: int
    first: Span

    def labels(self) -> Sequence[Label]:
        return (Label(self.first, "also given here"), *LaunchProblem.labels(self))


@frozen
class NoSuchSlot(LaunchProblem):
    """A slot that the image does not have."""

    code: ClassVar[str] = "CG233"
    title: ClassVar[str] = "`{image}` has no slot {number}"
    label: ClassVar[str] = "its slots are 0 to {last}"

    number: int
    last: int


@frozen
class WrongSlotKind(LaunchProblem):
    """A pointer, natural or float where the signature says another."""

    code: ClassVar[str] = "CG234"
    title: ClassVar[str] = "slot {number} `{slot}` of `{image}` is a {expected}, not a {found}"
    label: ClassVar[str] = "a {found} is given here"

    number: int
    slot: str
    expected: str
    found: str


@frozen
class WrongSlotElement(LaunchProblem):
    """A plane of another element type than the slot's."""

    code: ClassVar[str] = "CG235"
    title: ClassVar[str] = "slot {number} `{slot}` of `{image}` wants {expected}, `{plane}` holds {found}"
    label: ClassVar[str] = "wrong element type"

    number: int
    slot: str
    expected: str
    plane: str
    found: str


@frozen
class PlaneTooSmall(LaunchProblem):
    """A plane with fewer elements than the kernel touches."""

    code: ClassVar[str] = "CG236"
    title: ClassVar[str] = "plane too small: slot {number} `{slot}` of `{image}` touches {needed} elements"
    label: ClassVar[str] = "`{plane}` has {found} elements"

    number: int
    slot: str
    needed: str
    plane: str
    found: str
    where: str = ""

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class WrongGrid(LaunchProblem):
    """A grid other than the one that the image declares."""

    code: ClassVar[str] = "CG237"
    title: ClassVar[str] = "`{image}` must be launched with another grid"
    label: ClassVar[str] = "grid {axis} is {found}, the image asks for {expected}"

    axis: str
    found: str
    expected: str
    where: str = ""

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class RequirementFails(LaunchProblem):
    """A condition on sizes that the kernel relies on and that does not hold."""

    code: ClassVar[str] = "CG238"
    title: ClassVar[str] = "`{image}` requires `{requirement}`"
    label: ClassVar[str] = "here it is {left} against {right}"

    requirement: str
    left: str
    right: str
    requirement_span: Span
    where: str = ""

    def labels(self) -> Sequence[Label]:
        return (Label(self.requirement_span, "required here"), *LaunchProblem.labels(self))

    def notes(self) -> Sequence[str]:
        return (self.where,) if self.where else ()


@frozen
class NoPlaneInSlot(LaunchProblem):
    """A number where a pointer slot needs a plane."""

    code: ClassVar[str] = "CG239"
    title: ClassVar[str] = "slot {number} `{slot}` of `{image}` needs a plane"
    label: ClassVar[str] = "this is the natural {found}, not a plane's address"

    number: int
    slot: str
    found: str


@frozen
class SizeDividesByZero(LaunchProblem):
    """A formula of the image that divides by zero for this launch."""

    code: ClassVar[str] = "CG240"
    title: ClassVar[str] = "a size of `{image}` divides by zero"
    label: ClassVar[str] = "with the naturals that this launch gives"
