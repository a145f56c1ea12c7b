"""`cgraph view`: a graph as a picture, a page or data."""

import sys
from pathlib import Path

import click

from cgraph.cli.options import exit_with, parse_settings, program_options, read_source
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import compile_program
from cgraph.schedule.model import Order
from cgraph.view.data import view_json
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View

FORMATS = ("json",)


@click.command()
@program_options
@click.option("-o", "--output", metavar="FILE", help="Where to write; - is standard output.")
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="json")
def view(
    file: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    output: str | None,
    format_name: str,
) -> None:
    """Show the graph of FILE."""
    del format_name
    try:
        made = _view_of_program(file, entry, settings, half, order)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    text = view_json(made)
    if output is None or output == "-":
        sys.stdout.write(text + "\n")
    else:
        Path(output).write_text(text, encoding="utf-8")


def _view_of_program(file: str, entry: str | None, settings: tuple[str, ...], half: str, order: str) -> View:
    compiled = compile_program(
        read_source(file), parse_settings(settings), entry=entry, half=Element(half), order=Order(order)
    )
    program = compiled.program
    spans = [phase.span for phase in program.phases.values()] + [plane.span for plane in program.planes.values()]
    return view_of_graph(
        compiled.graph,
        compiled.schedule,
        compiled.plan,
        title=Path(file).name,
        sources=dict.fromkeys(span.source for span in spans),
    )
