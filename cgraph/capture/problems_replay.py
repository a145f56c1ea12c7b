"""What a user may meet when a bundle is replayed, compared with its recording, or recorded: CG833 to CG839."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Problem
from cgraph.graph.origins import origin_notes

MOST_NAMES = 8


@frozen
class BundleInconsistent(Problem):
    """Parts of a bundle do not belong together. `span` is the command at fault, or None.

    Args:
        what: in words.
        origin: of the command.
    """

    code: ClassVar[str] = "CG833"
    title: ClassVar[str] = "the bundle contradicts itself: {what}"
    label: ClassVar[str] = "this command"

    what: str
    origin: Origin | None = field(default=None, repr=False)

    def notes(self) -> Sequence[str]:
        way = () if self.origin is None else origin_notes(self.origin)
        return (*way, "nothing of it reached a device")


@frozen
class NoRecording(Problem):
    """A replay shall be compared with a recorded run, and the bundle holds none."""

    code: ClassVar[str] = "CG834"
    title: ClassVar[str] = "{bundle} holds no recorded run to compare with"

    bundle: str

    def helps(self) -> Sequence[str]:
        """How to get one."""
        return (
            "`cgraph replay FILE --record RECORDED` runs it and writes a bundle with the run",
            "or in Python: `with cgraph.capture.record() as recording:` around a run, then recording.save(…)",
        )


@frozen
class CommandDiffers(Problem):
    """A command wrote other bits than in the recorded run, and no command before it did. `span` is the command.

    Args:
        command: in words, with its index; kernel: the file and the kernel that it launches, "" for other commands.
        phase: that it runs in, "" outside of any.
        device: that the recording is from, and the replay too.
        details: for each plane that it writes, what is known of the difference.
        origin: of the command.
    """

    code: ClassVar[str] = "CG835"
    title: ClassVar[str] = "the replay differs from the recording, first in {command}"
    label: ClassVar[str] = "wrote other bits than in the recording on {device}"

    command: str
    kernel: str
    phase: str
    device: str
    details: tuple[str, ...]
    origin: Origin = field(repr=False)

    def notes(self) -> Sequence[str]:
        """Where it is and what it wrote."""
        return (
            *origin_notes(self.origin),
            *((f"kernel: {self.kernel}",) if self.kernel else ()),
            *((f"phase: {self.phase}",) if self.phase else ()),
            *self.details,
        )


@frozen
class ResultDiffers(Problem):
    """A result of a replay is not the recorded one. `span` is the plane's declaration.

    Args:
        plane: its name.
        difference: in words.
        explanation: what else is known; "" for nothing.
    """

    code: ClassVar[str] = "CG836"
    title: ClassVar[str] = "plane {plane} is not the recorded one: {difference}"
    label: ClassVar[str] = "declared here"

    plane: str
    difference: str
    explanation: str = ""

    def notes(self) -> Sequence[str]:
        return (self.explanation,) if self.explanation else ()


@frozen
class PlanesWithoutContents(Problem):
    """Planes that a run reads have no contents, neither in the bundle nor given.

    Args:
        bundle: its file.
        names: of the planes.
    """

    code: ClassVar[str] = "CG837"
    title: ClassVar[str] = "{bundle} holds no contents for {count} plane(s) that a run reads"

    bundle: str
    count: int
    names: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        more = ", …" if len(self.names) > MOST_NAMES else ""
        return (", ".join(self.names[:MOST_NAMES]) + more,)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return ("give them with --inputs FILE", "or save the bundle with its data")


@frozen
class NothingRecorded(Problem):
    """A recording shall be saved or looked at, and nothing ran while it was on."""

    code: ClassVar[str] = "CG838"
    title: ClassVar[str] = "nothing was recorded: no program ran inside `with record()`"

    def helps(self) -> Sequence[str]:
        """What counts as a run."""
        return ("run the program in the same thread, inside the `with`",)
