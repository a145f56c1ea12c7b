"""Looks at the commands of a definition, for all sizes at once: every launch is held against its signature.

Receives definitions whose types are right; their parameters, and all sizes, are unknown here. Loops are looked at once,
with an index below their count. What depends on what a caller gives is left to the caller's own survey and to the
build.
"""

from cgraph.check.launches import check_launch
from cgraph.check.machine import apply, evaluate
from cgraph.check.problems_launches import blame
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
from cgraph.core.naturals import Natural, Polynomial, Symbol, symbol
from cgraph.core.types import BaseType, PiType, Type, substitute_type
from cgraph.source import Source, Span

# Enough for programs of 100,000 commands; a survey that needs more is one of exponential size.
SURVEY_STEPS = 5_000_000


def survey(world: World, term: CheckedTerm, type_: Type, span: Span, root: Source) -> None:
    """Reports what is wrong with the launches of one definition.

    A survey that takes too many steps ends early without a report: the built graph is verified in any case.
    """
    world.steps_left = SURVEY_STEPS
    try:
        value = evaluate(world, term)
        arguments: list[Value] = []
        values: dict[Symbol, Natural] = {}
        while isinstance(type_, PiType):
            argument = world.fresh_value(substitute_type(type_.domain, values), type_.symbol.name)
            if isinstance(argument, int | Polynomial):
                values[type_.symbol] = argument
            arguments.append(argument)
            type_ = type_.codomain
        if arguments:
            value = apply(world, value, tuple(arguments), span, None)
        if type_ is BaseType.COMMAND:
            _walk(world, value, root)
    except OutOfSteps:
        return


def _walk(world: World, command: Value, root: Source) -> None:
    """Each command once, however often it runs. Problems are shown in the root file where the way to them leads."""
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
                world.report(blame(problem, root))
        elif isinstance(command, EachCommand):
            bound = command.count if isinstance(command.count, int | Polynomial) else None
            name = command.body.function.name if isinstance(command.body, Closure) else "index"
            variable = world.fresh_symbol(name, bound)
            index = symbol(variable.kind, variable.name, variable.identity, bound)
            stack.append(apply(world, command.body, (index,), command.origin.span, command.origin))
