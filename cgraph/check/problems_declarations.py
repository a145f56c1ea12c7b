"""Problems with declarations of images."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Label, Problem
from cgraph.source import Span


@frozen
class SlotDeclaredTwice(Problem):
    """Two slots of one image with the same number or name."""

    code: ClassVar[str] = "CG220"
    title: ClassVar[str] = "slot {what} is declared twice in `{image}`"
    label: ClassVar[str] = "declared again here"

    what: str
    image: str
    first: Span

    def labels(self) -> Sequence[Label]:
        return (Label(self.first, "first declared here"),)


@frozen
class SlotNumberMissing(Problem):
    """Slot numbers with a gap."""

    code: ClassVar[str] = "CG221"
    title: ClassVar[str] = "`{image}` has no slot {missing}"
    label: ClassVar[str] = "slots are numbered from 0 without gaps, but slot {missing} is not declared"

    image: str
    missing: int


@frozen
class UnknownAlias(Problem):
    """An alias that names no other pointer slot."""

    code: ClassVar[str] = "CG222"
    title: ClassVar[str] = "`{name}` is no other pointer slot of `{image}`"
    label: ClassVar[str] = "a slot may share bytes only with another pointer slot"

    name: str
    image: str
    pointers: tuple[str, ...]

    def helps(self) -> Sequence[str]:
        others = ", ".join(f"`{name}`" for name in self.pointers)
        return (f"the other pointer slots are {others}",) if others else ()


@frozen
class ItemGivenTwice(Problem):
    """Two grids, blocks, shared sizes or constants of one name in an image."""

    code: ClassVar[str] = "CG223"
    title: ClassVar[str] = "`{image}` states its {what} twice"
    label: ClassVar[str] = "stated again here"

    image: str
    what: str
    first: Span

    def labels(self) -> Sequence[Label]:
        return (Label(self.first, "first stated here"),)


@frozen
class NoBlock(Problem):
    """An image that does not say how many threads a block has."""

    code: ClassVar[str] = "CG224"
    title: ClassVar[str] = "`{image}` does not say how many threads a block has"
    label: ClassVar[str] = "add `block [x, y, z]` or `block x`"

    image: str
