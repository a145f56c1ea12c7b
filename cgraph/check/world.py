"""What an evaluation knows beside its term: declared values, where problems go, and how far it may run."""

from collections.abc import Callable
from itertools import count

from attrs import define, field

from cgraph.check.terms import CheckedTerm
from cgraph.check.values import Unknown, Value
from cgraph.core.naturals import Polynomial, Symbol, SymbolKind, symbol
from cgraph.core.types import POISON, BaseType, Type
from cgraph.diagnostics import Problem
from cgraph.source import Span


class OutOfSteps(Exception):  # noqa: N818  (a limit, not an error of the program)
    """The evaluation took more steps than it may; `span` is where it was then."""

    def __init__(self, span: Span) -> None:
        super().__init__(span.place)
        self.span = span


@define
class World:
    """One evaluation session.

    Args:
        definitions: the terms of definitions, evaluated at first use.
        values: of everything declared; definitions join when they are evaluated.
        report: receives every problem found.
        steps_left: applications and lets that may still be evaluated; OutOfSteps is raised when there are none left.
    """

    definitions: dict[str, CheckedTerm]
    values: dict[str, Value]
    report: Callable[[Problem], None]
    steps_left: int
    _fresh: "count[int]" = field(factory=lambda: count(1), init=False)

    def fresh_symbol(self, name: str, bound: "int | Polynomial | None" = None) -> Symbol:
        """A variable different from all others of this session."""
        return Symbol(SymbolKind.VARIABLE, name, next(self._fresh), bound)

    def fresh_natural(self, name: str, bound: "int | Polynomial | None" = None) -> Polynomial:
        """A natural about which only its bound is known."""
        variable = self.fresh_symbol(name, bound)
        return symbol(variable.kind, variable.name, variable.identity, bound)

    def fresh_value(self, type_: Type, name: str, bound: "int | Polynomial | None" = None) -> Value:
        """A value about which only the type is known."""
        return self.fresh_natural(name, bound) if type_ is BaseType.NAT else Unknown(type_)


UNKNOWN = Unknown(POISON)
