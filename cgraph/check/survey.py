"""Looks at the commands of a definition, for all sizes at once: every launch is held against its signature.

Receives definitions whose types are right; their parameters, and all sizes, are unknown here. Loops are looked at once,
with an index below their count. What depends on what a caller gives is left to the caller's own survey and to the
build.
"""

from attrs import evolve

from cgraph.check.launches import check_launch
from cgraph.check.machine import apply, evaluate
from cgraph.check.terms import CheckedTerm
from cgraph.check.values import (
    Closure,
    EachCommand,
    InPhase,
    LaunchCommand,
    Then,
    Value,
)
from cgraph.check.world import OutOfSteps, World
from cgraph.core.naturals import Natural, Polynomial, Symbol, render
from cgraph.core.origins import Origin
from cgraph.core.types import BaseType, PiType, Type, substitute_type
from cgraph.source import Span


def survey(world: World, name: str, term: CheckedTerm, type_: Type, span: Span) -> bool:
    """Reports what is wrong with the launches of one definition; False where that takes too many steps.

    Nothing but what was found so far is reported then: the built graph is verified in any case.
    """
    try:
        origin = Origin(span, name)
        value = evaluate(world, term, None, origin)
        arguments: list[Value] = []
        values: dict[Symbol, Natural] = {}
        while isinstance(type_, PiType):
            argument = world.fresh_value(substitute_type(type_.domain, values), type_.symbol.name)
            if isinstance(argument, int | Polynomial):
                values[type_.symbol] = argument
            arguments.append(argument)
            type_ = type_.codomain
        if arguments:
            # Without its name it is no call, so the definition itself does not stand in the origins.
            function = evolve(value, name=None) if isinstance(value, Closure) else value
            value = apply(world, function, tuple(arguments), span, origin)
        if type_ is BaseType.COMMAND:
            _walk(world, value)
    except OutOfSteps:
        return False
    return True


def _walk(world: World, command: Value) -> None:
    """Each command once, however often it runs."""
    seen: set[int] = set()
    kept: list[Value] = []  # an id is only a command's own as long as the command is there
    stack = [command]
    while stack:
        command = stack.pop()
        if id(command) in seen:
            continue
        seen.add(id(command))
        kept.append(command)
        if isinstance(command, Then):
            stack.extend((command.second, command.first))
        elif isinstance(command, InPhase):
            stack.append(command.command)
        elif isinstance(command, LaunchCommand):
            _, problems = check_launch(command)
            for problem in problems:
                world.report(problem)
        elif isinstance(command, EachCommand) and isinstance(command.count, int | Polynomial):
            name = command.body.function.name if isinstance(command.body, Closure) else "index"
            index = world.fresh_natural(name, command.count)
            origin = Origin(command.origin.span, f"{name} < {render(command.count)}", command.origin.parent)
            stack.append(apply(world, command.body, (index,), command.origin.span, origin))
