"""What a user may meet when a graph is prepared for a backend or its planes are filled: CG701 to CG706."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Problem
from cgraph.graph.origins import origin_notes


@frozen
class OfLaunch(Problem):
    """Base of what is wrong with an image on the host; `span` is a launch of it.

    Args:
        image: its name in the language.
        file: its .cu file.
        entry: the kernel in it.
        origin: of the launch.
    """

    image: str
    file: str
    entry: str
    origin: Origin = field(repr=False)

    def notes(self) -> Sequence[str]:
        """The way to the launch."""
        return origin_notes(self.origin)

    @property
    def _registration(self) -> str:
        return f'register a function with @meaning("{self.file}", "{self.entry}") from cgraph.images.registry'


@frozen
class ImageWithoutMeaning(OfLaunch):
    """The host has no NumPy function for an image and cannot compile its kernel. `reason` says why not."""

    code: ClassVar[str] = "CG701"
    title: ClassVar[str] = "the host does not know what {image} means"
    label: ClassVar[str] = "launches {entry} of {file}, for which no NumPy function is registered"

    reason: str = ""

    def notes(self) -> Sequence[str]:
        return (*super().notes(), *((f"the kernel itself cannot be compiled: {self.reason}",) if self.reason else ()))

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (
            "install cgraph-lang[cuda]: with its compiler the host executes the kernel itself",
            f"or {self._registration}",
        )


@frozen
class HalfOfKernel(OfLaunch):
    """The host would execute a kernel itself, but the kernel has no code for the element types of this build."""

    code: ClassVar[str] = "CG704"
    title: ClassVar[str] = "the host cannot run {image} with half = {half}"
    label: ClassVar[str] = "launches {entry} of {file}, for which no NumPy function is registered"

    half: str

    def notes(self) -> Sequence[str]:
        wide = "; in this build its f32 planes are f64 as well" if self.half == "f64" else ""
        return (
            *super().notes(),
            f"so the host executes the kernel itself, which knows half as f16 and bf16 only{wide}",
        )

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return ("build with --half f16 or --half bf16", f"or {self._registration}")


@frozen
class KernelFailed(OfLaunch):
    """A kernel that the host executed did what no kernel may do; other problems say what."""

    code: ClassVar[str] = "CG705"
    title: ClassVar[str] = "the kernel of {image} failed"
    label: ClassVar[str] = "in this launch of {entry} of {file}"


@frozen
class SlotNotWritten(OfLaunch):
    """A kernel left a part of what it shall write.

    Args:
        slot: its name.
        count: elements that were not written.
        first: index of the first of them, in row-major order.
        elements: of the slot's extent.
    """

    code: ClassVar[str] = "CG706"
    title: ClassVar[str] = "{entry} of {file} does not write all of {slot}"
    label: ClassVar[str] = "in this launch of {image}"

    slot: str
    count: int
    first: int
    elements: int

    def notes(self) -> Sequence[str]:
        left = f"{self.count} of {self.elements} elements are not written, the first is element {self.first}"
        return (*super().notes(), left)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (
            f"`{self.slot}` is declared `write`, which is all of its extent: let the kernel write all of it",
            "or declare it `accumulate`, which keeps what is there",
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
