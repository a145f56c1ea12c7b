"""What a user may meet when planes are allocated: CG718."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Problem


@frozen
class NotEnoughMemory(Problem):
    """A graph needs more memory than its device has. `span` is the declaration of the largest plane.

    Args:
        asked_bytes: for all planes.
        device: its name.
        available_bytes: what it has; None where nobody knows.
        largest: names and sizes of the largest planes, in bytes.
        arena_bytes: of `asked_bytes`, what scratch planes share.
        planes: how many there are.
    """

    code: ClassVar[str] = "CG718"
    title: ClassVar[str] = "the planes need {asked_bytes} bytes, more than {device} has"
    label: ClassVar[str] = "the largest plane"

    asked_bytes: int
    device: str
    available_bytes: int | None
    largest: tuple[tuple[str, int], ...] = field(repr=False)
    arena_bytes: int = field(repr=False)
    planes: int = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What there is, and who needs most."""
        available = () if self.available_bytes is None else (f"available: {self.available_bytes} bytes",)
        others = self.planes - len(self.largest)
        named = [f"{name} {size_bytes}" for name, size_bytes in self.largest]
        planes = (f"the largest planes, in bytes: {', '.join(named)}{f', and {others} more' if others > 0 else ''}",)
        arena = (f"scratch planes share an arena of {self.arena_bytes} bytes",) if self.arena_bytes else ()
        return (*available, *planes, *arena)

    def helps(self) -> Sequence[str]:
        """What makes a graph smaller."""
        return ("build it with smaller parameters, or run it on a device with more memory",)
