"""What a kernel does beyond its declaration, or beside commands that it is in no order with: CG766, CG768, CG769."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Label, Problem
from cgraph.emulator.problems import AccessFault
from cgraph.graph.origins import origin_notes
from cgraph.source import Span


@frozen
class UndeclaredAccess(AccessFault):
    """An access to bytes of a plane that the launch does not declare: its edges and its memory do not know of it."""

    code: ClassVar[str] = "CG766"
    title: ClassVar[str] = "{where} {access} bytes of {memory} that its launch does not declare"
    label: ClassVar[str] = "{access} {size_bytes} bytes at byte {offset} of {memory}"

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        verb = "write" if self.access == "writes" else "read"
        return (f"keep the kernel within its slots, or declare that it {self.access} them (`{verb}`, `accumulate`)",)


@frozen
class UnorderedAccess(AccessFault):
    """An access to bytes that another command uses, one of the two writing, and no path of edges orders the two.

    Args:
        rival: the other command and what it did; rival_span: its place in the program, if it has one.
    """

    code: ClassVar[str] = "CG768"
    title: ClassVar[str] = "{where} {access} bytes of {memory} that an unordered command uses"
    label: ClassVar[str] = "{access} {size_bytes} bytes at byte {offset} of {memory}"

    rival: str
    rival_span: Span | None

    def labels(self) -> Sequence[Label]:
        """The launch, and the other command."""
        rival = () if self.rival_span is None else (Label(self.rival_span, self.rival),)
        return (*super().labels(), *rival)

    def details(self) -> Sequence[str]:
        return (*super().details(), f"{self.rival}, and no path of edges orders the two")


@frozen
class UnorderedCommand(Problem):
    """A fill or a copy that uses bytes that another command uses, and no path of edges orders the two.

    Args:
        command: in words; access: `reads` or `writes`; plane: whose bytes; offset: of the first of them.
        rival: the other command and what it did; rival_span: its place in the program, if it has one.
        origin: of the command.
    """

    code: ClassVar[str] = "CG769"
    title: ClassVar[str] = "{command}, {access} bytes of {plane} that an unordered command uses"
    label: ClassVar[str] = "{access} byte {offset} of {plane}"

    command: str
    access: str
    plane: str
    offset: int
    rival: str
    rival_span: Span | None
    origin: Origin = field(repr=False)

    def labels(self) -> Sequence[Label]:
        """The other command."""
        return () if self.rival_span is None else (Label(self.rival_span, self.rival),)

    def notes(self) -> Sequence[str]:
        """The other command, and the way to this one."""
        return (f"{self.rival}, and no path of edges orders the two", *origin_notes(self.origin))
