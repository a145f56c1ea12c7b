"""What a user may meet when the NumPy function of an image and its declaration do not fit: CG708 and CG709."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.backends.problems import OfLaunch


@frozen
class MeaningMismatch(OfLaunch):
    """The NumPy function of an image takes other slots or constants than the image has.

    Args:
        reasons: what differs, one a line.
    """

    code: ClassVar[str] = "CG708"
    title: ClassVar[str] = "{image} does not fit the NumPy function for {entry} of {file}"
    label: ClassVar[str] = "launched here"

    reasons: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What differs, and the way to the launch."""
        return (*self.reasons, *super().notes())

    def helps(self) -> Sequence[str]:
        """What to compare."""
        return (
            "declare the image with the slots and constants of the library's image of this kernel",
            "a bundle of another version of cgraph: save it again with this one",
        )


@frozen
class MeaningFailed(OfLaunch):
    """The NumPy function of an image raised an error; most often extents are not those that it works with.

    Args:
        command: in words, with its index.
        error: the error's kind and text.
        place: the function, its file and the line that raised.
        arguments: each slot with its extent or its value.
    """

    code: ClassVar[str] = "CG709"
    title: ClassVar[str] = "the NumPy function for {entry} of {file} failed in {command}: {error}"
    label: ClassVar[str] = "launched here"

    command: str
    error: str
    place: str
    arguments: tuple[str, ...] = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What it was given, where it failed, and the way to the launch."""
        return (f"it got {', '.join(self.arguments)}", f"raised by {self.place}", *super().notes())
