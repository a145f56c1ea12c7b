"""Bound names while a term is checked: who binds them, what they stand for, and every use with its count.

A use counts the product of the quantities of the binders that its place is an argument of, from the name's own binder
on. Instead of a list of all of them the scope keeps where the last erased and the last unrestricted one stand, which
is enough: with neither, the product is linear.
"""

from attrs import define, field

from cgraph.check import environments
from cgraph.check.values import Environment, Value
from cgraph.core.quantities import Quantity
from cgraph.core.types import Type
from cgraph.source import Span


@define(eq=False)
class Binder:
    """A bound name.

    Args:
        level: how many binders are around it.
        factors: how many argument positions are around it.
        uses: place and count of each use.
    """

    name: str
    quantity: Quantity
    type: Type
    span: Span
    quantity_span: Span | None
    level: int
    factors: int
    environment_around: Environment
    uses: list[tuple[Span, Quantity]] = field(factory=list)


@define(eq=False)
class Scope:
    """The bound names around the term that is being checked; grows and shrinks as the rules walk."""

    binders: dict[str, list[Binder]] = field(factory=dict)
    environment: Environment = None
    level: int = 0
    _factors: int = 0
    _last_erased: int = -1
    _last_unrestricted: int = -1

    def bind(
        self, name: str, quantity: Quantity, type_: Type, value: Value, span: Span, quantity_span: Span | None = None
    ) -> Binder:
        """Adds a name; `unbind` must follow."""
        binder = Binder(name, quantity, type_, span, quantity_span, self.level, self._factors, self.environment)
        self.binders.setdefault(name, []).append(binder)
        self.environment = environments.bind(value, self.environment, self.level)
        self.level += 1
        return binder

    def unbind(self, binder: Binder) -> None:
        """Takes back the latest name."""
        self.binders[binder.name].pop()
        self.environment = binder.environment_around
        self.level -= 1

    def find(self, name: str) -> Binder | None:
        """The nearest binder of the name."""
        found = self.binders.get(name)
        return found[-1] if found else None

    def use(self, binder: Binder, span: Span) -> None:
        """Counts a use at the present place."""
        if self._last_erased >= binder.factors:
            count = Quantity.ERASED
        elif self._last_unrestricted >= binder.factors:
            count = Quantity.UNRESTRICTED
        else:
            count = Quantity.LINEAR
        binder.uses.append((span, count))

    def enter(self, quantity: Quantity) -> tuple[int, int]:
        """Goes into the argument of a binder with this quantity; give the result to `leave`."""
        before = (self._last_erased, self._last_unrestricted)
        if quantity is Quantity.ERASED:
            self._last_erased = self._factors
        elif quantity is Quantity.UNRESTRICTED:
            self._last_unrestricted = self._factors
        self._factors += 1
        return before

    def leave(self, before: tuple[int, int]) -> None:
        """Comes back out of an argument."""
        self._last_erased, self._last_unrestricted = before
        self._factors -= 1
