"""What the rules know about single primitives, beyond their types."""

from collections.abc import Callable, Iterator, Sequence

from cgraph.check.explain import explain_sizes
from cgraph.check.primitives import type_of_value
from cgraph.check.problems_types import CopyOfAnotherSize, WrongElement
from cgraph.check.terms import CheckedTerm
from cgraph.check.values import Value
from cgraph.core.comparison import Fails, compare_equal
from cgraph.core.naturals import Polynomial, product, render, subtract
from cgraph.core.types import PlaneType, Type
from cgraph.diagnostics import Problem
from cgraph.source import Span

ValueOf = Callable[[CheckedTerm], Value]


def check_copy(destination: Type, source: Type, span: Span) -> Iterator[Problem]:
    """`cgCopy` wants two planes alike; the span is the source's."""
    if not isinstance(destination, PlaneType) or not isinstance(source, PlaneType):
        return
    context = "`cgCopy` moves bytes and converts nothing"
    if None not in (destination.element, source.element) and destination.element is not source.element:
        yield WrongElement(span, destination.element.value, source.element.value, context)  # type: ignore[union-attr]
    elif destination.elements is not None and source.elements is not None:
        verdict = compare_equal(source.elements, destination.elements)
        if isinstance(verdict, Fails):
            sizes = render(source.elements), render(destination.elements)
            yield CopyOfAnotherSize(span, *sizes, explain_sizes(verdict))


def part_type(plane: Type, offset: Value) -> Type:
    """The type of a plane's part: its element type and what is left of its extent."""
    if not isinstance(plane, PlaneType):
        return PlaneType()
    if plane.extent is None or not isinstance(offset, int | Polynomial):
        return PlaneType(plane.element)
    return PlaneType(plane.element, (subtract(product(plane.extent), offset),))


def precise_types(terms: Sequence[CheckedTerm], types: Sequence[Type], value_of: ValueOf) -> list[Type]:
    """The types of terms; those of planes that do not say everything are taken from the terms' values."""
    return [
        type_of_value(value_of(term))
        if not isinstance(type_, PlaneType) or None in (type_.element, type_.extent)
        else type_
        for term, type_ in zip(terms, types, strict=True)
    ]
