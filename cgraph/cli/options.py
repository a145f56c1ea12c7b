"""Options and reports that several commands share."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TypeVar

import click

from cgraph.core.elements import HALF_CHOICES, Element
from cgraph.diagnostics import Problem, ProblemsFound, Severity
from cgraph.diagnostics.renderer import render
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.syntax.loading import decode_source, load_source

EXIT_PROBLEMS = 1
EXIT_USAGE = 2
UNREADABLE_CODES = ("CG011", "CG012", "CG013", "CG800")
MOST_SHOWN = 50
OF_PROGRAMS = {"entry": "--entry", "settings": "--set", "half": "--half", "order": "--order"}

Function = TypeVar("Function", bound=Callable[..., Any])


def options_of_programs(
    halves: Sequence[Element], default: Element, explanation: str, *, argument: bool = True
) -> Callable[[Function], Function]:
    """FILE, --entry, --set, --half and --order: everything that a build needs.

    Args:
        halves: what `half` may stand for.
        default: one of them.
        explanation: of the choice, a sentence.
        argument: whether FILE is among them.
    """

    def decorated(function: Function) -> Function:
        for decorate in reversed(
            (
                *((click.argument("file"),) if argument else ()),
                click.option("--entry", metavar="NAME", help="The definition to build; main where it is not given."),
                click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter's value."),
                click.option(
                    "--half",
                    type=click.Choice([element.value for element in halves]),
                    default=default.value,
                    show_default=True,
                    help=explanation,
                ),
                click.option(
                    "--order",
                    type=click.Choice([order.value for order in Order]),
                    default=Order.DATAFLOW.value,
                    show_default=True,
                    help="How much freedom the schedule leaves.",
                ),
            )
        ):
            function = decorate(function)
        return function

    return decorated


_HALF_EXPLANATION = "What `half` stands for; with f64 everything is computed in f64."
program_options = options_of_programs(HALF_CHOICES, Element.F32, _HALF_EXPLANATION)
options_of_builds = options_of_programs(HALF_CHOICES, Element.F32, _HALF_EXPLANATION, argument=False)


def refuse_options_of_programs() -> None:
    """For a command whose file is no program. Raises click.UsageError where an option of `program_options` is given."""
    context = click.get_current_context()
    for name, option in OF_PROGRAMS.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} belongs to programs; this file holds a graph that is built already")


def parse_settings(settings: Sequence[str]) -> dict[str, int | float]:
    """`NAME=VALUE` pairs to parameter values. Raises click.BadParameter for anything else."""
    values: dict[str, int | float] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"`{setting}` is not NAME=VALUE", param_hint="--set")
        if name.strip() in values:
            raise click.BadParameter(f"`{name.strip()}` is set twice", param_hint="--set")
        values[name.strip()] = _number(setting, text.strip())
    return values


def _number(setting: str, text: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise click.BadParameter(f"`{setting}`: `{text}` is no number", param_hint="--set")


def read_source(file: str) -> Source:
    """The program in a file, or on standard input for `-`. Raises ProblemsFound as `load_source` does."""
    if file == "-":
        return decode_source("<stdin>", sys.stdin.buffer.read())
    return load_source(Path(file))


def report_problems(problems: Sequence[Problem]) -> None:
    """Prints problems for people on standard error: errors before warnings, and not more than anyone will read."""
    ordered = sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)
    text = render(ordered[:MOST_SHOWN], colour=sys.stderr.isatty(), width=get_terminal_size((100, 24)).columns)
    click.echo(text, err=True)
    if len(ordered) > MOST_SHOWN:
        click.echo(f"\n… and {len(ordered) - MOST_SHOWN} more", err=True)


def exit_with(stopped: ProblemsFound) -> None:
    """Ends the command: its problems on standard error, 2 for a file that cannot be read and 1 for all else."""
    report_problems(stopped.problems)
    unreadable = all(problem.code in UNREADABLE_CODES for problem in stopped.problems)
    sys.exit(EXIT_USAGE if unreadable else EXIT_PROBLEMS)
