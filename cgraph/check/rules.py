"""The type rules: one function for each form of term and of type expression.

Receives syntax trees; gives checked terms and their types, and reports every problem on the way. A term with a problem
gets the poison type, so that one error does not cause others. Rules are generators (`core.trampoline`), because
programs nest deep. Names that the term does not bind must have their types in `Rules.types` already.
"""

from attrs import define, field

from cgraph.check.applications import check_special, special_result
from cgraph.check.fitting import ArgumentPlace, fit
from cgraph.check.limits import MOST_NATURAL, excess
from cgraph.check.machine import evaluate
from cgraph.check.primitive_types import PRIMITIVE_TYPES
from cgraph.check.primitives import to_natural, type_of_value
from cgraph.check.problems_names import UnknownName
from cgraph.check.problems_types import (
    FoldIncomplete,
    NotAFunction,
    NumberIsNoPlane,
    TooManyArguments,
    TypeTooDeep,
    WrongDomain,
)
from cgraph.check.problems_usage import QuantityMismatch
from cgraph.check.problems_values import DivisionByZeroProblem, NumberTooLarge, SizeIsNoFormula
from cgraph.check.scope import Binder, Scope
from cgraph.check.terms import (
    Application,
    Binding,
    CheckedTerm,
    Constant,
    Function,
    Global,
    Hole,
    Local,
    Primitive,
)
from cgraph.check.usages import check_usage
from cgraph.check.values import Unknown, Value
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.naturals import (
    DivisionByZero,
    Natural,
    Polynomial,
    Symbol,
    SymbolKind,
    render,
    substitute,
    symbol,
    symbols,
)
from cgraph.core.origins import Origin
from cgraph.core.quantities import Quantity
from cgraph.core.trampoline import Rule
from cgraph.core.types import (
    POISON,
    BaseType,
    PiType,
    PlaneType,
    PoisonType,
    Type,
    is_sized,
    render_type,
    substitute_type,
)
from cgraph.diagnostics.suggest import closest_name
from cgraph.source import Span
from cgraph.syntax import tree

PRIMITIVES = {primitive.text: primitive for primitive in Primitive}
MOST_NESTED_DOMAINS = 100

_Typed = tuple[CheckedTerm, Type]


@define(eq=False)
class Rules:
    """What the rules share: the session, the types of declared names, and the bound names around the present term."""

    world: World
    types: dict[str, Type]
    scope: Scope = field(factory=Scope)

    # ── terms ──────────────────────────────────────────────────────────────────────────────────────

    def infer(self, term: tree.Term) -> Rule[_Typed]:
        """The checked term and its type."""
        if isinstance(term, tree.Apply):
            typed: _Typed = yield self._application(term)
            return typed
        if isinstance(term, tree.Lambda):
            typed = yield self._function(term)
            return typed
        if isinstance(term, tree.Let):
            typed = yield self._let(term, None)
            return typed
        return self.leaf(term)

    def check(self, term: tree.Term, expected: Type, place: ArgumentPlace | None = None) -> Rule[CheckedTerm]:
        """The checked term, which fits the expected type or has been reported."""
        if isinstance(term, tree.Lambda) and isinstance(expected, PiType):
            function: CheckedTerm = yield self._expected_function(term, expected, {})
            return function
        if isinstance(term, tree.Let):
            binding, _ = yield self._let(term, expected)
            return binding  # type: ignore[no-any-return]
        checked, actual = self.leaf(term) if not isinstance(term, _NESTED) else (yield self.infer(term))
        self.expect(checked, actual, expected, term.span, place)
        return checked

    def leaf(self, term: tree.Name | tree.NaturalLiteral | tree.FloatLiteral) -> _Typed:
        """A term without parts."""
        if isinstance(term, tree.NaturalLiteral):
            if term.value >= MOST_NATURAL:
                self.world.report(NumberTooLarge(term.span, Origin(term.span, "literal"), "this", excess(term.value)))
                return Hole(term.span), POISON
            return Constant(term.value, term.span), BaseType.NAT
        if isinstance(term, tree.FloatLiteral):
            return Constant(term.value, term.span), BaseType.FLOAT
        binder = self.scope.find(term.text)
        if binder is not None:
            self.scope.use(binder, term.span)
            return Local(self.scope.level - 1 - binder.level, term.text, term.span), binder.type
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
        try:
            return evaluate(self.world, checked, self.scope.environment)
        except OutOfSteps:
            return UNKNOWN

    def report_unknown(self, name: tree.Name) -> None:
        """Reports a name that nothing declares, with one that is spelt alike."""
        candidates = [*self.types, *PRIMITIVES, *(text for text, found in self.scope.binders.items() if found)]
        self.world.report(UnknownName(name.span, name.text, closest_name(name.text, candidates)))

    def _function(self, term: tree.Lambda) -> Rule[_Typed]:
        """A lambda of which nothing is expected."""
        domain = yield self.type_of(term.type)
        variable = self.world.fresh_symbol(term.name.text)
        binder = self._bind(term.name, term.quantity, domain, self._value_of_symbol(variable, domain), term.span)
        body, codomain = yield self.infer(term.body)
        self._unbind(binder)
        return Function(term.name.text, body, term.span), PiType(term.quantity, variable, domain, codomain)

    def _expected_function(
        self, term: tree.Lambda, expected: PiType, values: dict[Symbol, Natural]
    ) -> Rule[CheckedTerm]:
        """A lambda; what is expected of it tells a loop's bound and the type that its body must have.

        `values` are still to be put into the expected type: a chain of lambdas does so once, at its end.
        """
        domain = yield self.type_of(term.type)
        given = substitute_type(expected.domain, values)
        if any(fit(given, domain, term.type.span)):
            self.world.report(WrongDomain(term.type.span, term.name.text, render_type(domain), render_type(given)))
        if term.quantity is not expected.quantity and expected.quantity is not Quantity.UNRESTRICTED:
            self.world.report(
                QuantityMismatch(term.name.span, term.name.text, term.quantity.value, expected.quantity.value)
            )
        bound = None if expected.symbol.bound is None else substitute(expected.symbol.bound, values)
        variable = self.world.fresh_symbol(term.name.text, bound)
        binder = self._bind(term.name, term.quantity, domain, self._value_of_symbol(variable, domain), term.span)
        values[expected.symbol] = symbol(variable.kind, variable.name, variable.identity, bound)
        if isinstance(term.body, tree.Lambda) and isinstance(expected.codomain, PiType):
            body = yield self._expected_function(term.body, expected.codomain, values)
        else:
            body = yield self.check(term.body, substitute_type(expected.codomain, values))
        self._unbind(binder)
        return Function(term.name.text, body, term.span)

    def _let(self, term: tree.Let, expected: Type | None) -> Rule[_Typed]:
        before = self.scope.enter(term.quantity)
        if term.type is not None:
            type_ = yield self.type_of(term.type)
            value = yield self.check(term.value, type_)
        else:
            value, type_ = yield self.infer(term.value)
        self.scope.leave(before)
        # Commands are looked at when the whole definition is evaluated; a type never depends on one.
        known = UNKNOWN if type_ is BaseType.COMMAND else self.value_of(value)
        binder = self._bind(term.name, term.quantity, type_, known, term.span)
        if expected is not None:
            body = yield self.check(term.body, expected)
            body_type = expected
        else:
            body, body_type = yield self.infer(term.body)
        self._unbind(binder)
        return Binding(term.name.text, value, body, term.span), body_type

    def _application(self, term: tree.Apply) -> Rule[_Typed]:
        head = term.function
        if isinstance(head, tree.Name) and head.text == Primitive.FOLD.text and self.scope.find(head.text) is None:
            typed: _Typed = yield self._fold(term, Constant(Primitive.FOLD, head.span))
            return typed
        function, type_ = self.leaf(head) if not isinstance(head, _NESTED) else (yield self.infer(head))
        typed = yield self._apply(term, function, type_, 0)
        return typed

    def _apply(self, term: tree.Apply, function: CheckedTerm, type_: Type, first: int) -> Rule[_Typed]:
        """A function of known type applied to the term's arguments from the first one given."""
        primitive = function.value if isinstance(function, Constant) else None
        checked: list[CheckedTerm] = []
        values: dict[Symbol, Natural] = {}
        try:
            for position, argument in enumerate(term.arguments[first:], first):
                if not isinstance(type_, PiType):
                    checked += yield self._arguments_without_place(term, type_, position)
                    type_ = POISON
                    break
                domain = substitute_type(type_.domain, values)
                before = self.scope.enter(type_.quantity)
                place = ArgumentPlace(_name_of(term.function), position, type_)
                if isinstance(argument, _NESTED):
                    part = yield self.check(argument, domain, place)
                else:
                    part, actual = self.leaf(argument)
                    if actual is not domain:
                        self.expect(part, actual, domain, argument.span, place)
                self.scope.leave(before)
                checked.append(part)
                if type_.domain is BaseType.NAT and is_sized(type_.codomain):
                    value = self.value_of(part)
                    if not isinstance(value, int | Polynomial):
                        value = self.world.fresh_natural(type_.symbol.name)
                    values[type_.symbol] = value
                type_ = type_.codomain
            result = Application(function, tuple(checked), _span_of(term, primitive))
            if isinstance(primitive, Primitive):
                check_special(self.world, primitive, result, self.scope.environment)
                return result, special_result(self.world, primitive, result, type_, self.scope.environment)
            return result, substitute_type(type_, values)
        except DivisionByZero:
            name = _name_of(term.function).strip("`")
            self.world.report(DivisionByZeroProblem(term.span, Origin(term.span, "call"), f"a size of {name}"))
            return Hole(term.span), POISON

    def _arguments_without_place(self, term: tree.Apply, type_: Type, position: int) -> Rule[list[CheckedTerm]]:
        """Reports arguments that the function does not take, and looks into them all the same."""
        if not isinstance(type_, PoisonType):
            span = term.arguments[position].span
            name = _name_of(term.function)
            problem = (
                NotAFunction(span, name, render_type(type_))
                if position == 0
                else TooManyArguments(span, name, position, len(term.arguments))
            )
            self.world.report(problem)
        checked = []
        for argument in term.arguments[position:]:
            part, _ = yield self.infer(argument)
            checked.append(part)
        return checked

    def _fold(self, term: tree.Apply, function: Constant) -> Rule[_Typed]:
        """`naturalFold count initial step`: the result's type is the initial value's, which each step must keep."""
        if len(term.arguments) < 3:  # a fold is only typed with all its arguments, for its type is not one type
            given = len(term.arguments)
            self.world.report(FoldIncomplete(function.span, f"{given} {'is' if given == 1 else 'are'}"))
            return Hole(term.span), POISON
        count_term, initial_term, step_term, *rest = term.arguments
        count = yield self.check(count_term, BaseType.NAT, ArgumentPlace("`naturalFold`", 0))
        initial, type_ = yield self.infer(initial_term)
        times = self.value_of(count)
        index = self.world.fresh_symbol("index", times if isinstance(times, int | Polynomial) else None)
        carried = self.world.fresh_symbol("value")
        step_type = PiType(
            Quantity.UNRESTRICTED, index, BaseType.NAT, PiType(Quantity.UNRESTRICTED, carried, type_, type_)
        )
        before = self.scope.enter(Quantity.UNRESTRICTED)
        step = yield self.check(step_term, step_type, ArgumentPlace("`naturalFold`", 2))
        self.scope.leave(before)
        fold = Application(function, (count, initial, step), term.span)
        if not rest:
            return fold, type_
        typed: _Typed = yield self._apply(term, fold, type_, 3)
        return typed

    # ── type expressions ───────────────────────────────────────────────────────────────────────────

    def type_of(self, expression: tree.TypeExpression, depth: int = 0) -> Rule[Type]:
        """What a type expression means. Sizes in it are used zero times: they are not needed when a graph is built."""
        if isinstance(expression, tree.SimpleTypeExpression):
            return BaseType(expression.name)
        if isinstance(expression, tree.PlaneTypeExpression):
            if expression.extent is None:
                return PlaneType(expression.element)
            extent = yield self.sizes(expression.extent)
            return PlaneType(expression.element, extent)
        if depth > MOST_NESTED_DOMAINS:
            self.world.report(TypeTooDeep(expression.domain.span, MOST_NESTED_DOMAINS))
            return POISON
        domain = yield self.type_of(expression.domain, depth + 1)
        variable = self.world.fresh_symbol(expression.name.text)
        binder = self._bind(
            expression.name, Quantity.UNRESTRICTED, domain, self._value_of_symbol(variable, domain), expression.span
        )
        codomain = yield self.type_of(expression.codomain, depth)
        self._unbind(binder)
        return PiType(expression.quantity, variable, domain, codomain)

    def sizes(self, terms: tuple[tree.Term, ...], *, declared: bool = False) -> Rule[tuple[Natural, ...]]:
        """The values of terms that are sizes, symbols where they are not known.

        The sizes of a declaration are built from its formulas alone, so they must follow from parameters and from the
        declaration's own bound names.
        """
        before = self.scope.enter(Quantity.ERASED)
        values = []
        for term in terms:
            checked = yield self.check(term, BaseType.NAT)
            # A declaration without its sizes is none, so it is given up (OutOfSteps) where they take too long.
            found = evaluate(self.world, checked, self.scope.environment) if declared else self.value_of(checked)
            value = to_natural(self.world, "size", found, term.span, None)
            if value is None:
                value = self.world.fresh_natural("size")
            elif declared and not self._is_formula(value):
                self.world.report(SizeIsNoFormula(term.span))
            values.append(value)
        self.scope.leave(before)
        return tuple(values)

    def _is_formula(self, size: Natural) -> bool:
        """Whether a size has no variables but the bound names around it."""
        variables = {found for found in symbols(size) if found.kind is SymbolKind.VARIABLE}
        environment = self.scope.environment
        while variables and environment is not None:
            value, environment = environment
            if isinstance(value, Polynomial):
                variables -= symbols(value)
        return not variables

    # ── bound names ────────────────────────────────────────────────────────────────────────────────

    def _bind(self, name: tree.Name, quantity: Quantity, type_: Type, value: Value, around: Span) -> Binder:
        start = around.source.text.rfind(quantity.value, around.start, name.span.start)
        place = Span(around.source, start, start + len(quantity.value))
        return self.scope.bind(name.text, quantity, type_, value, name.span, place)

    def _unbind(self, binder: Binder) -> None:
        self.scope.unbind(binder)
        for problem in check_usage(binder):
            self.world.report(problem)

    @staticmethod
    def _value_of_symbol(variable: Symbol, type_: Type) -> Value:
        if type_ is BaseType.NAT:
            return symbol(variable.kind, variable.name, variable.identity, variable.bound)
        return Unknown(type_)


_NESTED = (tree.Apply, tree.Lambda, tree.Let)


# Of how many arguments the head of a long application consists; problems mark the head.
_HEADS = {Primitive.LAUNCH: 4, Primitive.EACH: 1, Primitive.EACH_DOWN: 1}
_SLOTS = (Primitive.POINTER, Primitive.NATURAL, Primitive.FLOAT)


def _span_of(term: tree.Apply, primitive: Primitive | float | None) -> Span:
    """What problems of an application mark: of launches and loops the head, of a slot its number and its value."""
    source, start, stop = term.span
    if primitive in _SLOTS and len(term.arguments) > 1:
        return Span(source, term.arguments[0].span.start, term.arguments[1].span.stop)
    last = _HEADS.get(primitive, 0)  # type: ignore[arg-type]  # numbers are no heads
    return Span(source, start, term.arguments[last - 1].span.stop if 0 < last < len(term.arguments) else stop)


def _name_of(function: tree.Term) -> str:
    return f"`{function.text}`" if isinstance(function, tree.Name) else "the function"


def may_be_address(value: int | Polynomial) -> bool:
    """Whether a natural may turn out to be a plane: a bound name that the caller gives, and nothing computed."""
    if isinstance(value, int):
        return False
    found = symbols(value)
    if len(found) != 1:
        return False
    (only,) = found
    return only.kind is SymbolKind.VARIABLE and value == symbol(only.kind, only.name, only.identity)
