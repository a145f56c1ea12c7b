"""Problems of a launch with its image's signature, found while checking or, with concrete sizes, while building."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.check.problems_origins import EvaluationProblem
from cgraph.diagnostics import Label
from cgraph.source import Span


@frozen
class LaunchProblem(EvaluationProblem):
    """Base of the problems here: each knows its image."""

    image: str
    declared: Span

    def labels(self) -> Sequence[Label]:
        return (*EvaluationProblem.labels(self), Label(self.declared, f"`{self.image}` is declared here"))


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
    label: ClassVar[str] = "`{image}` has {count}"

    number: int
    count: str


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
    title: ClassVar[str] = "slot {number} `{slot}` of `{image}` wants {expected}"
    label: ClassVar[str] = "{plane} holds {found}"

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
    label: ClassVar[str] = "{plane} has {found} elements"

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
    title: ClassVar[str] = "`{image}` must be launched with another grid in {axis}"
    label: ClassVar[str] = "{axis} is {found}, the image asks for {expected}"

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
    label: ClassVar[str] = "for this launch that is `{left} {relation} {right}`"

    requirement: str
    left: str
    relation: str
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

    def helps(self) -> Sequence[str]:
        return ("name a plane, or a part of one as `(cgAt plane offset)`; where it lies in memory is planned later",)


@frozen
class SizeDividesByZero(LaunchProblem):
    """A formula of the image that divides by zero for this launch."""

    code: ClassVar[str] = "CG240"
    title: ClassVar[str] = "a size of `{image}` divides by zero"
    label: ClassVar[str] = "with the naturals that this launch gives"
