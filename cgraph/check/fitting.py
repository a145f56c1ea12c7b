"""The rule of types: whether a value of one type may stand where another is expected.

`Plane f32 [n]` may stand for `Plane f32`, `Plane` and `Nat` (it forgets), and `Nat` for a plane (a gradual address).
Where the types do not say enough, the answer is yes and the built graph is checked. A plane may be larger than what is
expected, never smaller for any size.
"""

from collections.abc import Iterator
from typing import NamedTuple

from cgraph.check.explain import explain_sizes
from cgraph.check.problems_types import WrongElement, WrongExtent, WrongType
from cgraph.check.problems_usage import QuantityMismatch
from cgraph.core.comparison import Fails, compare_at_least
from cgraph.core.naturals import Natural, Symbol, render, symbol
from cgraph.core.quantities import Quantity
from cgraph.core.types import BaseType, PiType, PlaneType, PoisonType, Type, render_type, substitute_type
from cgraph.diagnostics import Problem
from cgraph.source import Span


class ArgumentPlace(NamedTuple):
    """Which argument of what a term is, or is the result of; turned into words only when there is a problem."""

    function: str
    position: int
    parameter: PiType | None = None
    result: bool = False

    def words(self) -> str:
        """For notes."""
        text = f"argument {self.position + 1} of {self.function}"
        if self.result:
            return f"the function given as {text} must give this"
        if self.parameter is None or isinstance(self.parameter.domain, PiType):
            return text
        return f"{text}: `{self.parameter.symbol.name}` is `{render_type(self.parameter.domain)}`"


def fit(actual: Type, expected: Type, span: Span, place: ArgumentPlace | None = None) -> Iterator[Problem]:
    """Reports why a value of the actual type may not stand where the expected one is."""
    if actual is expected or isinstance(actual, PoisonType) or isinstance(expected, PoisonType):
        return
    if isinstance(actual, PlaneType) and isinstance(expected, PlaneType):
        yield from _fit_planes(actual, expected, span, place)
    elif isinstance(actual, PiType) and isinstance(expected, PiType):
        yield from _fit_functions(actual, expected, span, place)
    elif not _forgets(actual, expected) and not _forgets(expected, actual):
        yield WrongType(span, render_type(expected), render_type(actual), _words(place))


def _words(place: ArgumentPlace | None) -> str:
    return "" if place is None else place.words()


def _forgets(actual: Type, expected: Type) -> bool:
    return isinstance(actual, PlaneType) and expected is BaseType.NAT


def _fit_planes(actual: PlaneType, expected: PlaneType, span: Span, place: ArgumentPlace | None) -> Iterator[Problem]:
    if None not in (actual.element, expected.element) and actual.element is not expected.element:
        yield WrongElement(span, expected.element.value, actual.element.value, _words(place))  # type: ignore[union-attr]
        return
    found, needed = actual.elements, expected.elements
    if found is None or needed is None:
        return
    verdict = compare_at_least(found, needed)
    if isinstance(verdict, Fails):
        yield WrongExtent(span, render(found), render(needed), explain_sizes(verdict), _words(place))


def _fit_functions(actual: PiType, expected: PiType, span: Span, place: ArgumentPlace | None) -> Iterator[Problem]:
    """Domains the other way round, codomains the same way; the argument's symbol is the expected type's."""
    difference = ""
    renamed: dict[Symbol, Natural] = {}
    left: Type = actual
    right: Type = expected
    while isinstance(left, PiType) and isinstance(right, PiType):
        if left.quantity is not right.quantity and right.quantity is not Quantity.UNRESTRICTED:
            yield QuantityMismatch(span, left.symbol.name, left.quantity.value, right.quantity.value)
            return
        domain = substitute_type(left.domain, renamed)
        if any(fit(right.domain, domain, span)):
            name = left.symbol.name
            difference = f"its `{name}` is `{render_type(domain)}` and will be given `{render_type(right.domain)}`"
            break
        wanted = right.symbol
        renamed[left.symbol] = symbol(wanted.kind, wanted.name, wanted.identity, wanted.bound)
        left, right = left.codomain, right.codomain
    else:
        result = substitute_type(left, renamed)
        if any(fit(result, right, span)):
            difference = f"it gives `{render_type(result)}` where `{render_type(right)}` is expected"
    if difference:
        yield WrongType(span, render_type(expected), render_type(actual), _words(place), difference)
