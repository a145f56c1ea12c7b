"""The type rules: one function for each form of term and of type expression.

Receives syntax trees; gives checked terms and their types, and reports every problem on the way. A term with a problem
gets the poison type, so that one error does not cause others. Rules are generators (`core.trampoline`), because
programs nest deep. Names that the term does not bind must have their types in `Rules.types` already.
"""

from cgraph.check.applications import check_copy, part_type, precise_types
from cgraph.check.fitting import ArgumentPlace, fit
from cgraph.check.machine import evaluate
from cgraph.check.names import Names, Typed
from cgraph.check.primitives import to_natural
from cgraph.check.problems_types import (
    FoldIncomplete,
    NotAFunction,
    TooManyArguments,
    TypeTooDeep,
    WrongDomain,
    WrongExtent,
)
from cgraph.check.problems_usage import QuantityMismatch
from cgraph.check.problems_values import DivisionByZeroProblem, PlaneIsNoNumber, SizeIsNoFormula
from cgraph.check.terms import Application, Binding, CheckedTerm, Constant, Function, Hole, Primitive
from cgraph.check.world import UNKNOWN
from cgraph.core.naturals import DivisionByZero, Natural, Polynomial, Symbol, substitute, symbol
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
from cgraph.source import Span
from cgraph.syntax import tree

MOST_NESTED_DOMAINS = 100


class Rules(Names):
    """The rules, one method each."""

    # ── terms ──────────────────────────────────────────────────────────────────────────────────────

    def infer(self, term: tree.Term) -> Rule[Typed]:
        """The checked term and its type."""
        if isinstance(term, tree.Apply):
            typed: Typed = yield self._application(term)
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
            function: CheckedTerm = yield self._expected_function(term, expected, {}, place)
            return function
        if isinstance(term, tree.Let):
            binding, _ = yield self._let(term, expected)
            return binding  # type: ignore[no-any-return]
        checked, actual = self.leaf(term) if not isinstance(term, _NESTED) else (yield self.infer(term))
        self.expect(checked, actual, expected, term.span, place)
        return checked

    def _function(self, term: tree.Lambda) -> Rule[Typed]:
        """A lambda of which nothing is expected."""
        domain = yield self.type_of(term.type)
        variable = self.world.fresh_symbol(term.name.text)
        binder = self.bind(term.name, term.quantity, domain, self.value_of_symbol(variable, domain), term.span)
        body, codomain = yield self.infer(term.body)
        self.unbind(binder)
        return Function(term.name.text, body, self.scope.level, term.span), PiType(
            term.quantity, variable, domain, codomain
        )

    def _expected_function(
        self, term: tree.Lambda, expected: PiType, values: dict[Symbol, Natural], place: ArgumentPlace | None
    ) -> Rule[CheckedTerm]:
        """A lambda; what is expected of it tells a loop's bound and the type that its body must have.

        `values` are still to be put into the expected type: a chain of lambdas does so once, at its end.
        """
        domain = yield self.type_of(term.type)
        given = substitute_type(expected.domain, values)
        misfits = tuple(fit(given, domain, term.type.span))
        if misfits:
            where = next((found.where for found in misfits if isinstance(found, WrongExtent)), "")
            self.world.report(
                WrongDomain(term.type.span, term.name.text, render_type(domain), render_type(given), where)
            )
        if term.quantity is not expected.quantity and expected.quantity is not Quantity.UNRESTRICTED:
            self.world.report(
                QuantityMismatch(term.name.span, term.name.text, term.quantity.value, expected.quantity.value)
            )
        bound = None if expected.symbol.bound is None else substitute(expected.symbol.bound, values)
        variable = self.world.fresh_symbol(term.name.text, bound)
        binder = self.bind(term.name, term.quantity, domain, self.value_of_symbol(variable, domain), term.span)
        values[expected.symbol] = symbol(variable.kind, variable.name, variable.identity, bound)
        if isinstance(term.body, tree.Lambda) and isinstance(expected.codomain, PiType):
            body = yield self._expected_function(term.body, expected.codomain, values, place)
        else:
            of_body = None if place is None else place._replace(result=True)
            body = yield self.check(term.body, substitute_type(expected.codomain, values), of_body)
        self.unbind(binder)
        return Function(term.name.text, body, self.scope.level, term.span)

    def _let(self, term: tree.Let, expected: Type | None) -> Rule[Typed]:
        before = self.scope.enter(term.quantity)
        if term.type is not None:
            type_ = yield self.type_of(term.type)
            value = yield self.check(term.value, type_)
        else:
            value, type_ = yield self.infer(term.value)
        self.scope.leave(before)
        # Commands are looked at when the whole definition is evaluated; a type never depends on one.
        known = UNKNOWN if type_ is BaseType.COMMAND else self.value_of(value)
        binder = self.bind(term.name, term.quantity, type_, known, term.span)
        if expected is not None:
            body = yield self.check(term.body, expected)
            body_type = expected
        else:
            body, body_type = yield self.infer(term.body)
        self.unbind(binder)
        return Binding(term.name.text, value, body, self.scope.level, term.span), body_type

    def _application(self, term: tree.Apply) -> Rule[Typed]:
        head = term.function
        if isinstance(head, tree.Name) and head.text == Primitive.FOLD.text and self.scope.find(head.text) is None:
            typed: Typed = yield self._fold(term, Constant(Primitive.FOLD, head.span))
            return typed
        function, type_ = self.leaf(head) if not isinstance(head, _NESTED) else (yield self.infer(head))
        typed = yield self._apply(term, function, type_, 0)
        return typed

    def _apply(self, term: tree.Apply, function: CheckedTerm, type_: Type, first: int) -> Rule[Typed]:
        """A function of known type applied to the term's arguments from the first one given."""
        checked: list[CheckedTerm] = []
        types: list[Type] = []
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
                part, actual = (
                    self.leaf(argument)
                    if not isinstance(argument, _NESTED)
                    else (yield self._nested_argument(argument, domain, place))
                )
                if domain is BaseType.NAT and isinstance(actual, PlaneType) and isinstance(function, Constant):
                    part = self._refuse_plane(term, argument, actual)
                elif actual is not domain:
                    self.expect(part, actual, domain, argument.span, place)
                self.scope.leave(before)
                checked.append(part)
                types.append(actual)
                if type_.domain is BaseType.NAT and is_sized(type_.codomain):
                    values[type_.symbol] = self._natural_of(part, type_.symbol)
                type_ = type_.codomain
            type_ = substitute_type(type_, values)
        except DivisionByZero:
            name = _name_of(term.function).strip("`")
            self.world.report(DivisionByZeroProblem(term.span, Origin(term.span, "call", self.origin), name))
            return Hole(term.span), POISON
        primitive = function.value if isinstance(function, Constant) else None
        application = Application(function, tuple(checked), _span_of(term, primitive))
        if len(types) == 2 and primitive in (Primitive.AT, Primitive.COPY):
            return application, self._special(application, types, type_)
        return application, type_

    def _refuse_plane(self, term: tree.Apply, argument: tree.Term, plane: PlaneType) -> CheckedTerm:
        """A primitive computes with its naturals, so a plane cannot stand for one."""
        name = _name_of(term.function).strip("`")
        origin = Origin(argument.span, "argument", self.origin)
        self.world.report(PlaneIsNoNumber(argument.span, origin, name, f"a `{render_type(plane)}`"))
        return Hole(argument.span)

    def _nested_argument(
        self, argument: tree.Apply | tree.Lambda | tree.Let, domain: Type, place: ArgumentPlace
    ) -> Rule[Typed]:
        """An argument with parts; a result's own type may say more than the function's domain."""
        if isinstance(argument, tree.Apply):
            typed: Typed = yield self._application(argument)
            return typed
        part = yield self.check(argument, domain, place)
        return part, domain

    def _natural_of(self, checked: CheckedTerm, parameter: Symbol) -> Natural:
        """The value of a natural argument, a new symbol where it is not known."""
        value = self.value_of(checked)
        return value if isinstance(value, int | Polynomial) else self.world.fresh_natural(parameter.name)

    def _special(self, term: Application, types: list[Type], type_: Type) -> Type:
        """The result of primitives whose arguments must fit each other, or whose type depends on them."""
        if term.primitive is Primitive.AT:
            (plane,) = precise_types(term.arguments[:1], types[:1], self.value_of)
            return part_type(plane, self.value_of(term.arguments[1]))
        destination, source = precise_types(term.arguments, types, self.value_of)
        for problem in check_copy(destination, source, term.arguments[1].span):
            self.world.report(problem)
        return type_

    def _arguments_without_place(self, term: tree.Apply, type_: Type, position: int) -> Rule[list[CheckedTerm]]:
        """Reports arguments that the function does not take, and looks into them all the same."""
        if not isinstance(type_, PoisonType):
            span = term.arguments[position].span
            name = _name_of(term.function)
            problem = (
                NotAFunction(span, name, render_type(type_))
                if position == 0
                else TooManyArguments(span, name, _count(position), str(len(term.arguments)))
            )
            self.world.report(problem)
        checked = []
        for argument in term.arguments[position:]:
            part, _ = yield self.infer(argument)
            checked.append(part)
        return checked

    def _fold(self, term: tree.Apply, function: Constant) -> Rule[Typed]:
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
        typed: Typed = yield self._apply(term, fold, type_, 3)
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
        binder = self.bind(
            expression.name, Quantity.UNRESTRICTED, domain, self.value_of_symbol(variable, domain), expression.span
        )
        codomain = yield self.type_of(expression.codomain, depth)
        self.unbind(binder)
        known = not isinstance(domain, PoisonType) and not isinstance(codomain, PoisonType)
        return PiType(expression.quantity, variable, domain, codomain) if known else POISON

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
            found = (
                evaluate(self.world, checked, self.scope.environment, self.origin)
                if declared
                else self.value_of(checked)
            )
            value = to_natural(self.world, "size", found, term.span, self.origin)
            if value is None:
                value = self.world.fresh_natural("size")
            elif declared and not self.is_formula(value):
                self.world.report(SizeIsNoFormula(term.span))
            values.append(value)
        self.scope.leave(before)
        return tuple(values)


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


def _count(arguments: int) -> str:
    return "1 argument" if arguments == 1 else f"{arguments} arguments"


def _name_of(function: tree.Term) -> str:
    return f"`{function.text}`" if isinstance(function, tree.Name) else "the function"
