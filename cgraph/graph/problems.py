"""What can be wrong with a built graph: one class per error, codes CG501 to CG513.

Receives the facts from the rules; guarantees nothing but the wording. Which graph is wrong is left to the rules.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.core.roles import Role
from cgraph.core.signatures import Slot
from cgraph.diagnostics import Label, Problem, Severity
from cgraph.graph.model import Plane
from cgraph.graph.origins import origin_notes, short_place
from cgraph.source import Span


@frozen
class CommandProblem(Problem):
    """A problem of one command.

    Args:
        node: the command's index. origin: its origin; `span` is that of the command.
        repeats: further runs of the same command (in a loop or another call) with the same problem.
    """

    node: int
    origin: Origin = field(repr=False)
    repeats: int = field(default=0, kw_only=True)

    @property
    def subject(self) -> str:
        """What tells two problems of one command apart, whichever run of it."""
        return ""

    def details(self) -> Sequence[str]:
        """Facts of this kind of problem."""
        return ()

    def notes(self) -> Sequence[str]:
        """The details, then the way to the command."""
        place = () if self.span == self.origin.span else (f"the command is at {short_place(self.origin.span)}",)
        many = f"{self.repeats} further runs of this command have"
        repeats = ("1 further run of this command has" if self.repeats == 1 else many) + " the same problem"
        return (*self.details(), *place, *origin_notes(self.origin), *((repeats,) if self.repeats else ()))


@frozen
class PlaneProblem(CommandProblem):
    """A problem of one command with some part of a plane. `part` names its elements and bytes."""

    plane: Plane = field(repr=False)
    part: str

    @property
    def subject(self) -> str:
        """The plane's family: runs of a loop differ in its indices only."""
        return self.plane.family


@frozen
class UnwrittenRead(PlaneProblem):
    """A command reads what nothing wrote. `later` is where the bytes are written afterwards, if they are."""

    code: ClassVar[str] = "CG501"
    title: ClassVar[str] = "`{plane.name}` is read before anything wrote it"
    label: ClassVar[str] = "reads {part}, which hold nothing yet"

    later: Span | None

    def labels(self) -> Sequence[Label]:
        """Where the plane is declared, and the write that comes too late."""
        late = () if self.later is None else (Label(self.later, "written here, but only afterwards"),)
        return (Label(self.plane.span, f"a plane of role {self.plane.role.value}"), *late)


@frozen
class UnwrittenResult(Problem):
    """A result of the graph is not written in full; `span` is the plane's declaration."""

    code: ClassVar[str] = "CG502"
    title: ClassVar[str] = "the result `{plane.name}` is not written in full"
    label: ClassVar[str] = "never written: {missing}"

    plane: Plane = field(repr=False)
    missing: str
    writer: Span | None

    def labels(self) -> Sequence[Label]:
        """A command that writes some of it."""
        return () if self.writer is None else (Label(self.writer, "this writes a part"),)


@frozen
class WriteToGiven(PlaneProblem):
    """A command writes an input, or a weight without reading it."""

    code: ClassVar[str] = "CG503"
    title: ClassVar[str] = "`{plane.name}` is given and must not be overwritten"
    label: ClassVar[str] = "writes {part}"

    def labels(self) -> Sequence[Label]:
        """Where the plane is declared."""
        return (Label(self.plane.span, f"declared as {self.plane.role.value}"),)

    def helps(self) -> Sequence[str]:
        """What to write instead."""
        elsewhere = "write to an output, gradient, saved, state or scratch plane"
        if self.plane.role is Role.WEIGHT:
            return (elsewhere, "an update reads what it writes: by an `accumulate` slot, or by a `read` slot as well")
        return (elsewhere,)


@frozen
class PlaneOverrun(PlaneProblem):
    """A command touches bytes past a plane's end. `needs` and `has` count elements."""

    code: ClassVar[str] = "CG504"
    title: ClassVar[str] = "`{plane.name}` is too small: {needs} elements are needed, it has {has}"
    label: ClassVar[str] = "touches {part}"

    needs: int
    has: int

    def labels(self) -> Sequence[Label]:
        """Where the plane is declared."""
        return (Label(self.plane.span, f"{self.has} elements of {self.plane.element.value}"),)


@frozen
class MisalignedPart(PlaneProblem):
    """A part does not start at an element."""

    code: ClassVar[str] = "CG505"
    title: ClassVar[str] = "a part of `{plane.name}` starts inside an element"
    label: ClassVar[str] = "byte {offset} is no multiple of {size_bytes}, the size of {plane.element.value}"

    offset: int
    size_bytes: int


@frozen
class ForbiddenAlias(PlaneProblem):
    """Two slots of one launch name the same bytes, and one writes them, where the signature does not allow it."""

    code: ClassVar[str] = "CG506"
    title: ClassVar[str] = "slots `{first.name}` and `{second.name}` race for bytes of `{plane.name}`"
    label: ClassVar[str] = "both touch {part}"

    first: Slot = field(repr=False)
    second: Slot = field(repr=False)
    allowed: bool

    @property
    def subject(self) -> str:
        """The plane's family and both slots."""
        return f"{self.plane.family} {self.first.name} {self.second.name}"

    def labels(self) -> Sequence[Label]:
        """The two slots in the signature."""
        return (Label(self.first.span, "this slot …"), Label(self.second.span, "… and this one"))

    def details(self) -> Sequence[str]:
        """What the signature says about the pair."""
        if self.allowed:
            return ("the signature lets the two name the very same bytes, but not overlap in part",)
        return ("the signature does not say that the two may alias",)

    def helps(self) -> Sequence[str]:
        """The two ways out."""
        if self.allowed:
            return ("write to another plane",)
        return ("write to another plane, or say `aliases` at the slot if the kernel reads before it writes",)


@frozen
class CopyOverlap(PlaneProblem):
    """A copy's source and destination overlap."""

    code: ClassVar[str] = "CG507"
    title: ClassVar[str] = "a copy reads and writes the same bytes of `{plane.name}`"
    label: ClassVar[str] = "source and destination share {part}"


@frozen
class GridOutOfRange(CommandProblem):
    """A launch asks for no blocks, or for more than a device takes."""

    code: ClassVar[str] = "CG508"
    title: ClassVar[str] = "a grid of {value} blocks in {axis} cannot be launched"
    label: ClassVar[str] = "must be 1 … {limit}"

    axis: str
    value: int
    limit: int

    @property
    def subject(self) -> str:
        """The axis."""
        return self.axis


@frozen
class BlockOutOfRange(CommandProblem):
    """A block has no threads, or more than a device takes."""

    code: ClassVar[str] = "CG509"
    title: ClassVar[str] = "a block of {block[0]} × {block[1]} × {block[2]} threads cannot be launched"
    label: ClassVar[str] = "{reason}"

    block: tuple[int, int, int]
    reason: str

    @property
    def subject(self) -> str:
        """What is wrong with it."""
        return self.reason


@frozen
class SharedMemoryTooLarge(CommandProblem):
    """A block asks for more dynamic shared memory than a device has."""

    code: ClassVar[str] = "CG510"
    title: ClassVar[str] = "{value} bytes of dynamic shared memory are too many"
    label: ClassVar[str] = "a block may have at most {limit} bytes"

    value: int
    limit: int


@frozen
class NaturalTooLarge(CommandProblem):
    """A natural argument does not fit the kernel's 32-bit signed parameter."""

    code: ClassVar[str] = "CG511"
    title: ClassVar[str] = "{value} is too large for the slot `{slot.name}`"
    label: ClassVar[str] = "a natural argument is at most {limit}"

    slot: Slot = field(repr=False)
    value: int
    limit: int

    @property
    def subject(self) -> str:
        """The slot."""
        return self.slot.name

    def labels(self) -> Sequence[Label]:
        """The slot in the signature."""
        return (Label(self.slot.span, "a 32-bit signed argument"),)


@frozen
class DeadWrite(PlaneProblem):
    """Nothing reads what a command writes to a scratch plane. `overwritten` is who writes the bytes next, if anyone."""

    code: ClassVar[str] = "CG512"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "nothing reads what is written to `{plane.name}`"
    label: ClassVar[str] = "writes {part}"

    overwritten: Span | None

    def labels(self) -> Sequence[Label]:
        """The command that overwrites it."""
        return () if self.overwritten is None else (Label(self.overwritten, "overwritten here"),)


@frozen
class UnusedPlane(Problem):
    """A declared plane that no command touches; `span` is its declaration."""

    code: ClassVar[str] = "CG513"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "no command touches the plane `{name}`"
    label: ClassVar[str] = "declared here"

    name: str
