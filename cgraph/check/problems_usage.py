"""Problems with usage quantities."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Fix, Label, Problem
from cgraph.source import Span

_MOST_USES_SHOWN = 6
_MEANINGS = {"linear": "use its `{}` exactly once", "erased": "compute nothing from its `{}`"}


@frozen
class LinearUsedOften(Problem):
    """A linear name with more than one use."""

    code: ClassVar[str] = "CG301"
    title: ClassVar[str] = "linear `{name}` {count}"
    label: ClassVar[str] = "`{name}` must be used exactly once"

    name: str
    count: str
    uses: tuple[Label, ...]
    quantity_span: Span

    def labels(self) -> Sequence[Label]:
        return self.uses[:_MOST_USES_SHOWN]

    def notes(self) -> Sequence[str]:
        more = len(self.uses) - _MOST_USES_SHOWN
        return (f"and {more} more uses",) if more > 0 else ()

    def fix(self) -> Fix | None:
        return Fix(self.quantity_span, "unrestricted", "allow any number of uses")


@frozen
class LinearNeverUsed(Problem):
    """A linear name without a use."""

    code: ClassVar[str] = "CG302"
    title: ClassVar[str] = "linear `{name}` is never used"
    label: ClassVar[str] = "`{name}` must be used exactly once, but its count is 0"

    name: str
    erased_uses: tuple[Span, ...]
    quantity_span: Span

    def labels(self) -> Sequence[Label]:
        return tuple(
            Label(span, "a use in a type or an erased argument counts 0")
            for span in self.erased_uses[:_MOST_USES_SHOWN]
        )

    def fix(self) -> Fix | None:
        return Fix(self.quantity_span, "unrestricted", "allow any number of uses")


@frozen
class ErasedUsed(Problem):
    """An erased name where something is computed."""

    code: ClassVar[str] = "CG303"
    title: ClassVar[str] = "erased `{name}` is needed when the graph is built"
    label: ClassVar[str] = "`{name}` may stand only in types and erased arguments"

    name: str
    uses: tuple[Label, ...]
    quantity_span: Span

    def labels(self) -> Sequence[Label]:
        return self.uses[:_MOST_USES_SHOWN]

    def fix(self) -> Fix | None:
        return Fix(self.quantity_span, "unrestricted", "keep it when the graph is built")


@frozen
class QuantityMismatch(Problem):
    """A function whose binder promises less than is expected of it."""

    code: ClassVar[str] = "CG304"
    title: ClassVar[str] = "the function's `{name}` is {found}, but {expected} is expected"
    label: ClassVar[str] = "the function must keep to `{expected}`"

    name: str
    found: str
    expected: str

    def render_label(self) -> str:
        return f"the function must {_MEANINGS[self.expected].format(self.name)}"
