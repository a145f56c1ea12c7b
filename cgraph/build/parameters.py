"""Binds a program's parameters: what the user gives, and defaults for the rest.

Receives a checked program; gives a world in which every parameter, plane and image has concrete sizes, so that
evaluation computes with ints alone.
"""

from collections.abc import Callable, Mapping
from functools import cache

from attrs import evolve

from cgraph.build.problems import ParameterWithoutValue, TooManySteps, UnknownParameter, WrongParameterValue
from cgraph.check.images import map_sizes, natural_slots, substitute_signature
from cgraph.check.limits import MOST_BITS, MOST_NATURAL
from cgraph.check.machine import evaluate
from cgraph.check.primitives import whole_plane
from cgraph.check.problems_values import DivisionByZeroProblem
from cgraph.check.program import CheckedProgram, Parameter
from cgraph.check.values import ImageValue, LaunchSizes, Partial, PlaneFamily, Value
from cgraph.check.world import UNKNOWN, OutOfSteps, World
from cgraph.core.naturals import DivisionByZero, Natural, Symbol, SymbolKind, compile_natural, substitute
from cgraph.core.origins import Origin
from cgraph.core.signatures import Signature
from cgraph.core.types import BaseType
from cgraph.diagnostics import Problem
from cgraph.diagnostics.suggest import closest_name

# Steps of one build. The layer's programs take 68 for each command.
MAX_STEPS = 10_000_000
Given = Mapping[str, int | float]


def build_world(
    program: CheckedProgram, given: Given, report: Callable[[Problem], None]
) -> tuple[World, dict[str, int | float]]:
    """The world of one build, and the value of every parameter in the order of declaration.

    A parameter without a usable value is reported and taken as 1, so that the rest can still be looked at.
    """
    for name in given:
        if name not in program.parameters:
            names = tuple(program.parameters)
            report(UnknownParameter(None, name, closest_name(name, names), names))
    terms = {name: definition.term for name, definition in program.definitions.items()}
    world = World(terms, {}, report, MAX_STEPS)
    world.values.update(program.phases)
    parameters: dict[str, int | float] = {}
    for parameter in program.parameters.values():
        value = _parameter_value(world, parameter, given)
        parameters[parameter.name] = value
        world.values[parameter.name] = value
    symbols: dict[Symbol, Natural] = {
        Symbol(SymbolKind.PARAMETER, name): value for name, value in parameters.items() if isinstance(value, int)
    }
    for family in program.planes.values():
        world.values[family.name] = _concrete_plane(world, family, symbols)
    for image in program.images.values():
        world.values[image.signature.name] = _concrete_image(world, image.signature, symbols)
    return world, parameters


def _parameter_value(world: World, parameter: Parameter, given: Given) -> int | float:
    is_nat = parameter.type is BaseType.NAT
    if parameter.name in given:
        value: Value = given[parameter.name]
    elif parameter.default is not None:
        try:
            value = evaluate(world, parameter.default, None, Origin(parameter.span, parameter.name))
        except OutOfSteps as stopped:
            world.report(TooManySteps(stopped.span, parameter.name, MAX_STEPS))
            return 1 if is_nat else 1.0
    else:
        world.report(ParameterWithoutValue(parameter.span, parameter.name))
        return 1 if is_nat else 1.0
    is_int = isinstance(value, int) and not isinstance(value, bool)
    if is_nat and is_int and 0 <= value < MOST_NATURAL:  # type: ignore[operator]  # an int
        return value  # type: ignore[return-value]  # as above
    if not is_nat and (isinstance(value, float) or (is_int and abs(value) < MOST_NATURAL)):  # type: ignore[arg-type]  # as above
        return float(value)  # type: ignore[arg-type]  # as above
    text = f"a number of more than {MOST_BITS} bits" if is_int and abs(value) >= MOST_NATURAL else f"`{value}`"  # type: ignore[arg-type]  # as above
    expected = "natural: 0, 1, 2, …" if is_nat else "float"
    world.report(WrongParameterValue(parameter.span, parameter.name, text, expected))
    return 1 if is_nat else 1.0


def _concrete_plane(world: World, family: PlaneFamily, parameters: Mapping[Symbol, Natural]) -> Value:
    try:
        concrete = evolve(
            family,
            bounds=tuple(substitute(bound, parameters) for bound in family.bounds),
            extent=tuple(substitute(size, parameters) for size in family.extent),
        )
    except DivisionByZero:
        world.report(DivisionByZeroProblem(family.span, Origin(family.span, "plane"), family.name))
        return UNKNOWN
    return Partial(concrete, ()) if concrete.symbols else whole_plane(concrete, (), concrete.extent)


def _concrete_image(world: World, signature: Signature, parameters: dict[Symbol, Natural]) -> Value:
    try:
        concrete = substitute_signature(signature, parameters)
    except DivisionByZero:
        world.report(DivisionByZeroProblem(signature.span, Origin(signature.span, "image"), signature.name))
        return UNKNOWN
    return ImageValue(concrete, _compiled_sizes(concrete))


def _compiled_sizes(signature: Signature) -> Callable[..., LaunchSizes]:
    """Sizes as functions of the natural slots: a formula is compiled once, a set of naturals put in once."""
    symbols = natural_slots(signature)
    compiled: dict[Natural, Callable[..., int]] = {}

    @cache
    def sizes(*naturals: Natural) -> LaunchSizes:
        def fill(size: Natural) -> Natural:
            if isinstance(size, int):
                return size
            if size not in compiled:
                compiled[size] = compile_natural(size, symbols)
            return compiled[size](*naturals)

        return map_sizes(signature, fill)

    return sizes
