"""Names, literals and expectations: what the type rules share whatever the form of a term.

Receives the session of one check; gives leaves their types, holds types against expected ones, and counts the uses of
bound names.
"""

from typing import TypeAlias

from attrs import define, field

from cgraph.check.fitting import ArgumentPlace, fit
from cgraph.check.limits import MOST_NATURAL, excess
from cgraph.check.machine import evaluate
from cgraph.check.primitive_types import PRIMITIVE_TYPES
from cgraph.check.primitives import type_of_value
from cgraph.check.problems_names import UnknownName
from cgraph.check.problems_types import FoldIncomplete, NumberIsNoPlane
from cgraph.check.problems_values import NumberTooLarge
from cgraph.check.scope import Binder, Scope
from cgraph.check.terms import CheckedTerm, Constant, Global, Hole, Local, Primitive
from cgraph.check.usages import check_usage
from cgraph.check.values import Unknown, Value
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.naturals import Natural, Polynomial, Symbol, SymbolKind, render, symbol, symbols
from cgraph.core.origins import Origin
from cgraph.core.quantities import Quantity
from cgraph.core.types import POISON, BaseType, PlaneType, Type
from cgraph.diagnostics.suggest import closest_name
from cgraph.source import Span
from cgraph.syntax import tree

# Each suggestion compares a name with all others.
MOST_SUGGESTIONS = 50
PRIMITIVES = {primitive.text: primitive for primitive in Primitive}
Typed: TypeAlias = tuple[CheckedTerm, Type]
Leaf: TypeAlias = tree.Name | tree.NaturalLiteral | tree.FloatLiteral


@define(eq=False)
class Names:
    """The session, the types of declared names, and what is around the present term: a declaration and bound names."""

    world: World
    types: dict[str, Type]
    scope: Scope = field(factory=Scope)
    origin: Origin | None = None
    suggestions_left: int = MOST_SUGGESTIONS

    def leaf(self, term: Leaf) -> Typed:
        """A term without parts."""
        if isinstance(term, tree.NaturalLiteral):
            if term.value >= MOST_NATURAL:
                self.world.report(
                    NumberTooLarge(term.span, Origin(term.span, "literal", self.origin), "this", excess(term.value))
                )
                return Hole(term.span), POISON
            return Constant(term.value, term.span), BaseType.NAT
        if isinstance(term, tree.FloatLiteral):
            return Constant(term.value, term.span), BaseType.FLOAT
        binder = self.scope.find(term.text)
        if binder is not None:
            self.scope.use(binder, term.span)
            level = self.scope.level
            return Local(level - 1 - binder.level, level, term.text, term.span), binder.type
        primitive = PRIMITIVES.get(term.text)
        if primitive is Primitive.FOLD:
            self.world.report(FoldIncomplete(term.span, "none is"))
            return Hole(term.span), POISON
        if primitive is not None:
            return Constant(primitive, term.span), PRIMITIVE_TYPES[primitive.text]
        type_ = self.types.get(term.text)
        if type_ is not None:
            return Global(term.text, term.span), type_
        self.report_unknown(term)
        return Hole(term.span), POISON

    def expect(
        self, checked: CheckedTerm, actual: Type, expected: Type, span: Span, place: ArgumentPlace | None
    ) -> None:
        """Reports where the actual type does not fit; looks at the value where a plane's type does not say enough."""
        if actual is expected:
            return
        if isinstance(expected, PlaneType):
            unsaid = actual is BaseType.NAT or (
                isinstance(actual, PlaneType) and None in (actual.element, actual.extent)
            )
            if unsaid:
                value = self.value_of(checked)
                if isinstance(value, int | Polynomial) and not may_be_address(value):
                    self.world.report(NumberIsNoPlane(span, render(value), place.words() if place else ""))
                    return
                precise = type_of_value(value)
                actual = precise if isinstance(precise, PlaneType) else actual
        for problem in fit(actual, expected, span, place):
            self.world.report(problem)

    def value_of(self, checked: CheckedTerm) -> Value:
        """The value of a term in the present scope; unknown where it would take too long."""
        if self.world.steps_left <= 0:
            return UNKNOWN
        try:
            return evaluate(self.world, checked, self.scope.environment, self.origin)
        except OutOfSteps:
            return UNKNOWN

    def report_unknown(self, name: tree.Name) -> None:
        """Reports a name that nothing declares, the first ones with a name that is spelt alike."""
        suggestion = None
        if self.suggestions_left > 0:
            self.suggestions_left -= 1
            candidates = [*self.types, *PRIMITIVES, *(text for text, found in self.scope.binders.items() if found)]
            suggestion = closest_name(name.text, candidates)
        self.world.report(UnknownName(name.span, name.text, suggestion))

    def is_formula(self, size: Natural) -> bool:
        """Whether a size has no variables but the bound names around it."""
        variables = {found for found in symbols(size) if found.kind is SymbolKind.VARIABLE}
        environment = self.scope.environment
        while variables and environment is not None:
            value, environment = environment[:2]
            if isinstance(value, Polynomial):
                variables -= symbols(value)
        return not variables

    def bind(self, name: tree.Name, quantity: Quantity, type_: Type, value: Value, around: Span) -> Binder:
        """Adds a bound name that the text at `around` binds; `unbind` must follow."""
        start = around.source.text.rfind(quantity.value, around.start, name.span.start)
        place = Span(around.source, start, start + len(quantity.value))
        return self.scope.bind(name.text, quantity, type_, value, name.span, place)

    def unbind(self, binder: Binder) -> None:
        """Takes back the latest bound name, and reports it where it was not used as often as it must be."""
        self.scope.unbind(binder)
        for problem in check_usage(binder):
            self.world.report(problem)

    @staticmethod
    def value_of_symbol(variable: Symbol, type_: Type) -> Value:
        """What a bound name of some type stands for while nothing is known of its value."""
        if type_ is BaseType.NAT:
            return symbol(variable.kind, variable.name, variable.identity, variable.bound)
        return Unknown(type_)


def may_be_address(value: int | Polynomial) -> bool:
    """Whether a natural may turn out to be a plane: a bound name that the caller gives, and nothing computed."""
    if isinstance(value, int):
        return False
    found = symbols(value)
    if len(found) != 1:
        return False
    (only,) = found
    return only.kind is SymbolKind.VARIABLE and value == symbol(only.kind, only.name, only.identity)
