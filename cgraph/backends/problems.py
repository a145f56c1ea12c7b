"""What a user may meet when a graph is prepared for a backend or its planes are filled: CG701 to CG703."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Problem
from cgraph.graph.origins import origin_notes


@frozen
class ImageWithoutMeaning(Problem):
    """The host was asked for an image that has no NumPy function.

    Args:
        image: its name in the language.
        file: its .cu file.
        entry: the kernel in it.
        origin: of the first launch.
    """

    code: ClassVar[str] = "CG701"
    title: ClassVar[str] = "the host does not know what {image} means"
    label: ClassVar[str] = "launches {entry} of {file}, for which no NumPy function is registered"

    image: str
    file: str
    entry: str
    origin: Origin = field(repr=False)

    def notes(self) -> Sequence[str]:
        """The way to the first launch."""
        return origin_notes(self.origin)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (
            "run the program on the emulated backend, which executes the kernel itself",
            f'or register a function with @meaning("{self.file}", "{self.entry}") from cgraph.images.registry',
        )


@frozen
class UnknownPlane(Problem):
    """A plane was asked for by a name that the graph does not have.

    Args:
        name: the name asked for.
        known: names that the graph has.
    """

    code: ClassVar[str] = "CG702"
    title: ClassVar[str] = "the graph has no plane {name}"

    name: str
    known: tuple[str, ...] = field(repr=False)

    def helps(self) -> Sequence[str]:
        """Names that look like it, or the first few."""
        close = get_close_matches(self.name, self.known, n=3)
        if close:
            return (f"did you mean {' or '.join(close)}?",)
        more = ", …" if len(self.known) > 8 else ""
        return (f"it has {', '.join(self.known[:8])}{more}",) if self.known else ()


@frozen
class PlaneMismatch(Problem):
    """An array does not fit the plane that it shall fill.

    Args:
        name: the plane's; `span` is its declaration.
        expected: element type and extent of the plane.
        given: those of the array.
    """

    code: ClassVar[str] = "CG703"
    title: ClassVar[str] = "plane {name} takes {expected}, not {given}"
    label: ClassVar[str] = "declared here"

    name: str
    expected: str
    given: str
