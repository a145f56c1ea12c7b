"""What the rules know about single primitives, beyond their types."""

from cgraph.check.explain import describe_counterexample
from cgraph.check.machine import evaluate
from cgraph.check.primitives import type_of_value
from cgraph.check.problems_types import WrongElement, WrongExtent
from cgraph.check.terms import Application, Primitive
from cgraph.check.values import Environment
from cgraph.check.world import World
from cgraph.core.comparison import Fails, compare_equal
from cgraph.core.naturals import render
from cgraph.core.types import PlaneType, Type


def check_special(world: World, primitive: Primitive, term: Application, environment: Environment) -> None:
    """Reports what a primitive asks of several arguments together: `cgCopy` wants two planes alike."""
    if primitive is not Primitive.COPY or len(term.arguments) != 2:
        return
    destination, source = (type_of_value(evaluate(world, part, environment)) for part in term.arguments)
    if not isinstance(destination, PlaneType) or not isinstance(source, PlaneType):
        return
    span = term.arguments[1].span
    context = "`cgCopy` copies between planes of one element type and size"
    if None not in (destination.element, source.element) and destination.element is not source.element:
        world.report(WrongElement(span, destination.element.value, source.element.value, context))  # type: ignore[union-attr]
    elif destination.elements is not None and source.elements is not None:
        verdict = compare_equal(source.elements, destination.elements)
        if isinstance(verdict, Fails):
            where = describe_counterexample(verdict)
            world.report(WrongExtent(span, render(source.elements), render(destination.elements), where, context))


def special_result(
    world: World, primitive: Primitive, term: Application, declared: Type, environment: Environment
) -> Type:
    """The type of a primitive's result: a part of a plane keeps its element type and what is left of its extent."""
    if primitive is Primitive.AT and len(term.arguments) == 2:
        precise = type_of_value(evaluate(world, term, environment))
        if isinstance(precise, PlaneType):
            return precise
    return declared
