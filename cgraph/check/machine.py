"""Evaluates checked terms, with symbols for sizes (checking) or with ints (building).

Arguments are evaluated before a function is entered. Everything that waits lies on an explicit stack, so nesting costs
no Python recursion. Terms must have passed the type rules: a value of the wrong kind gives an unknown value, never an
exception. Raises OutOfSteps when the world's limit is reached.
"""

from typing import NamedTuple

from attrs import define, evolve

from cgraph.check.environments import bind, look_up
from cgraph.check.primitives import NO_SLOTS, NOTHING, choose_plane, compute, to_natural, type_of_value
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
from cgraph.check.values import (
    Closure,
    Command,
    Environment,
    Partial,
    PlaneFamily,
    Then,
    Unknown,
    Value,
)
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.naturals import Natural, Polynomial, Symbol
from cgraph.core.origins import Origin
from cgraph.core.types import BaseType, PiType, PlaneType, Type, substitute_type
from cgraph.source import Span

# A call takes about as long as so many primitives.
STEPS_OF_CALL = 4

# ── what waits on the stack ────────────────────────────────────────────────────────────────────────


@define(eq=False)
class _Applying:
    """An application whose parts are being evaluated; `values` holds those that are ready.

    The parts are the arguments of `term.primitive`, or else the function and its arguments.
    """

    term: Application
    parts: tuple[CheckedTerm, ...]
    environment: Environment
    origin: Origin | None
    values: list[Value]


@define(eq=False)
class _Supplying:
    """Arguments that wait for the function that they go to."""

    arguments: tuple[Value, ...]
    span: Span
    origin: Origin | None


@define(eq=False)
class _Binding:
    """A let whose value is being evaluated."""

    term: Binding
    environment: Environment
    origin: Origin | None


@define(eq=False)
class _Remembering:
    """A definition whose value is being evaluated for the first time."""

    name: str


@define(eq=False)
class _Folding:
    """A fold in the middle of its steps."""

    index: int
    count: int
    step: Value
    span: Span
    origin: Origin | None


@define(eq=False)
class _FoldingOnce:
    """A fold whose count is a symbol: its step is looked at once, for what it reports and which commands it has."""

    initial: Value


_Frame = _Applying | _Supplying | _Binding | _Remembering | _Folding | _FoldingOnce


class _Ready(NamedTuple):
    """A value that the top of the stack waits for."""

    value: Value


class _Pending(NamedTuple):
    """A term to evaluate."""

    term: CheckedTerm
    environment: Environment
    origin: Origin | None


_Next = _Ready | _Pending

# ── the machine ────────────────────────────────────────────────────────────────────────────────────


def evaluate(world: World, term: CheckedTerm, environment: Environment = None, origin: Origin | None = None) -> Value:
    """The value of a term."""
    return _run(world, [], _Pending(term, environment, origin))


def apply(world: World, function: Value, arguments: tuple[Value, ...], span: Span, origin: Origin | None) -> Value:
    """The value of a function applied to values."""
    stack: list[_Frame] = []
    return _run(world, stack, _enter(world, stack, function, arguments, span, origin))


def _run(world: World, stack: list[_Frame], state: _Next) -> Value:
    while True:
        if isinstance(state, _Ready):
            if not stack:
                return state.value
            state = _resume(world, stack, state.value)
            continue
        term, environment, origin = state
        if isinstance(term, Application):
            parts = term.arguments if term.primitive is not None else (term.function, *term.arguments)
            frame = _Applying(term, parts, environment, origin, [])
            stack.append(frame)
            state = _advance(world, stack, frame)
        elif isinstance(term, Binding):
            if world.steps_left <= 0:
                raise OutOfSteps(term.span)
            world.steps_left -= 1
            stack.append(_Binding(term, environment, origin))
            state = _Pending(term.value, environment, origin)
        elif isinstance(term, Global) and term.name not in world.values:
            stack.append(_Remembering(term.name))
            definition = world.definitions[term.name]
            state = _Pending(definition, None, Origin(definition.span, term.name))
        else:
            value = _leaf(world, term, environment)
            state = _Ready(UNKNOWN if value is None else value)


def _leaf(world: World, term: CheckedTerm, environment: Environment) -> Value | None:
    """The value of a term that needs no stack, or None."""
    kind = type(term)
    if kind is Local:
        return look_up(term, environment)  # type: ignore[arg-type]  # `kind` says which it is; isinstance is slower
    if kind is Global:
        return world.values.get(term.name)  # type: ignore[union-attr]  # as above
    if kind is Constant:
        constant = term.value  # type: ignore[union-attr]  # as above
        return _PRIMITIVES[constant.text] if isinstance(constant, Primitive) else constant  # type: ignore[return-value]  # as above
    if kind is Function:
        return Closure(term, environment)  # type: ignore[arg-type]  # as above
    return UNKNOWN if kind is Hole else None


def _advance(world: World, stack: list[_Frame], frame: _Applying) -> _Next:
    """Evaluates the next parts of an application and then applies it; goes on with outer ones as long as it can.

    This is the inner loop of checking and building, which is why a primitive with all its arguments, the most common
    application by far, is computed here and not on the way through `_enter`.
    """
    while True:
        values = frame.values
        parts = frame.parts
        environment = frame.environment
        for position in range(len(values), len(parts)):
            part = parts[position]
            value = _leaf(world, part, environment)
            if value is None:
                if type(part) is not Application or part.primitive is None:
                    return _Pending(part, environment, frame.origin)
                frame = _Applying(part, part.arguments, environment, frame.origin, [])
                stack.append(frame)
                break
            values.append(value)
        else:
            stack.pop()
            term = frame.term
            primitive = term.primitive
            if primitive is None or primitive is Primitive.FOLD:
                function = values.pop(0) if primitive is None else _PRIMITIVES[primitive.text]
                return _enter(world, stack, function, tuple(values), term.span, frame.origin)
            if world.steps_left <= 0:
                raise OutOfSteps(term.span)
            world.steps_left -= 1
            value = compute(world, primitive, values, term.span, frame.origin)
            if not stack or type(stack[-1]) is not _Applying:
                return _Ready(value)
            frame = stack[-1]
            frame.values.append(value)


def _resume(world: World, stack: list[_Frame], value: Value) -> _Next:
    """Goes on with what waited for the value."""
    frame = stack[-1]
    if isinstance(frame, _Applying):
        frame.values.append(value)
        return _advance(world, stack, frame)
    stack.pop()
    if isinstance(frame, _Binding):
        return _Pending(frame.term.body, bind(value, frame.environment, frame.term.level), frame.origin)
    if isinstance(frame, _Supplying):
        return _enter(world, stack, value, frame.arguments, frame.span, frame.origin)
    if isinstance(frame, _Remembering):
        if isinstance(value, Closure) and value.name is None:
            value = evolve(value, name=frame.name)
        world.values[frame.name] = value
        return _Ready(value)
    if isinstance(frame, _Folding):
        return _fold(world, stack, frame, value)
    if isinstance(frame.initial, Command):
        return _Ready(Then(frame.initial, value))
    return _Ready(world.fresh_value(_common_type(type_of_value(frame.initial), type_of_value(value)), "folded"))


def _enter(
    world: World,
    stack: list[_Frame],
    function: Value,
    arguments: tuple[Value, ...],
    span: Span,
    origin: Origin | None,
) -> _Next:
    """Applies a function to at least one argument."""
    if world.steps_left <= 0:
        raise OutOfSteps(span)
    world.steps_left -= STEPS_OF_CALL
    if isinstance(function, Closure):
        return _enter_closure(stack, function, arguments, span, origin)
    if isinstance(function, Partial):
        return _enter_partial(world, stack, function, arguments, span, origin)
    if isinstance(function, Unknown):
        return _Ready(_unknown_result(world, function.type, arguments))
    return _Ready(UNKNOWN)


def _enter_closure(
    stack: list[_Frame], closure: Closure, arguments: tuple[Value, ...], span: Span, origin: Origin | None
) -> _Next:
    function = closure.function
    environment = bind(arguments[0], closure.environment, function.level)
    given = 1
    while given < len(arguments) and isinstance(function.body, Function):
        function = function.body
        environment = bind(arguments[given], environment, function.level)
        given += 1
    if given < len(arguments):
        stack.append(_Supplying(arguments[given:], span, origin))
    elif isinstance(function.body, Function):
        return _Ready(Closure(function.body, environment, closure.name))
    if closure.name is not None:
        origin = Origin(span, closure.name, origin)
    return _Pending(function.body, environment, origin)


def _enter_partial(
    world: World,
    stack: list[_Frame],
    function: Partial,
    arguments: tuple[Value, ...],
    span: Span,
    origin: Origin | None,
) -> _Next:
    target = function.target
    arguments = function.arguments + arguments
    arity = len(target.symbols) if isinstance(target, PlaneFamily) else target.arity
    if len(arguments) < arity:
        return _Ready(Partial(target, arguments))
    if len(arguments) > arity:
        stack.append(_Supplying(arguments[arity:], span, origin))
        arguments = arguments[:arity]
    if isinstance(target, PlaneFamily):
        return _Ready(choose_plane(world, target, arguments, span, origin))
    if target is Primitive.FOLD:
        return _start_fold(world, stack, arguments, span, origin)
    return _Ready(compute(world, target, arguments, span, origin))


def _start_fold(
    world: World, stack: list[_Frame], arguments: tuple[Value, ...], span: Span, origin: Origin | None
) -> _Next:
    count_value, initial, step = arguments
    count = to_natural(world, Primitive.FOLD.text, count_value, span, origin)
    if isinstance(count, int):
        if count * STEPS_OF_CALL > world.steps_left:
            raise OutOfSteps(span)
        return _fold(world, stack, _Folding(0, count, step, span, origin), initial)
    index = world.fresh_value(BaseType.NAT, "i", count)
    stack.append(_FoldingOnce(initial))
    carried = NOTHING if isinstance(initial, Command) else world.fresh_value(type_of_value(initial), "carried")
    return _enter(world, stack, step, (index, carried), span, origin)


def _fold(world: World, stack: list[_Frame], frame: _Folding, value: Value) -> _Next:
    """The next step of a fold, or its result."""
    if frame.index == frame.count:
        return _Ready(value)
    index = frame.index
    frame.index += 1
    stack.append(frame)
    return _enter(world, stack, frame.step, (index, value), frame.span, frame.origin)


def _common_type(first: Type, second: Type) -> Type:
    """What holds for values of either type."""
    if not isinstance(first, PlaneType) or not isinstance(second, PlaneType):
        return first
    element = first.element if first.element is second.element else None
    return PlaneType(element, first.extent if first.extent == second.extent else None)


def _unknown_result(world: World, type_: Type, arguments: tuple[Value, ...]) -> Value:
    """What an unknown function gives: a value of its codomain, about which nothing else is known."""
    values: dict[Symbol, Natural] = {}
    for argument in arguments:
        if not isinstance(type_, PiType):
            return UNKNOWN
        if isinstance(argument, int | Polynomial):
            values[type_.symbol] = argument
        type_ = type_.codomain
    return world.fresh_value(substitute_type(type_, values), "result")


_PRIMITIVES: dict[str, Value] = {
    Primitive.NO_SLOTS.text: NO_SLOTS,
    Primitive.NOTHING.text: NOTHING,
    **{primitive.text: Partial(primitive, ()) for primitive in Primitive if primitive.arity > 0},
}
