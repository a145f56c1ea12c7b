"""What a user may meet when the replay of an imported graph is compared with its recording: CG863."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class ImportedNodeDiffers(Problem):
    """A node of an imported graph left other bytes than in the recorded run, and no node before it did.

    Args:
        node: in words, with its index.
        device: that the recording is from.
        details: for each plane that it was given, what is known of the difference.
    """

    code: ClassVar[str] = "CG863"
    title: ClassVar[str] = "the replay differs from the recording on {device}, first in {node}"

    node: str
    device: str
    details: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        """What it left."""
        return self.details
