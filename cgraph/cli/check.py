"""`cgraph check`: all errors of a run, for people or for tools."""

import sys

import click

from cgraph.cli.options import EXIT_PROBLEMS, EXIT_USAGE, UNREADABLE_CODES, read_source, report_problems
from cgraph.core.collection import paused_collection
from cgraph.diagnostics import Problem, ProblemsFound, Severity
from cgraph.diagnostics.report import summarise, to_json
from cgraph.pipeline import check as check_program
from cgraph.pipeline import parse


@click.command(epilog="Exit code 0: no errors; 1: errors in a program; 2: wrong usage, or a file that cannot be read.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print the problems as a JSON array on standard output.")
def check(files: tuple[str, ...], as_json: bool) -> None:
    """Check programs for all sizes at once."""
    problems: list[Problem] = []
    for file in files:
        problems.extend(_check_one(file))
    if as_json:
        click.echo(to_json(problems))
    elif problems:
        report_problems(problems)
        click.echo(f"\n{summarise(problems)}", err=True)
    else:
        click.echo(f"{len(files)} program{'s' if len(files) > 1 else ''} checked, no problems")
    if any(problem.code in UNREADABLE_CODES for problem in problems):
        sys.exit(EXIT_USAGE)
    if any(problem.severity is Severity.ERROR for problem in problems):
        sys.exit(EXIT_PROBLEMS)


def _check_one(file: str) -> tuple[Problem, ...]:
    try:
        with paused_collection():
            _, warnings = check_program(parse(read_source(file)))
    except ProblemsFound as stopped:
        return stopped.problems
    return warnings
