"""`cgraph explain`: what stands at a line, and what became of it in the graph."""

import json
import sys
from shutil import get_terminal_size

import click
from rich.console import Console

from cgraph.cli.explain_print import print_topics
from cgraph.cli.explain_texts import Asked, find_text, viewed_texts
from cgraph.cli.options import exit_with, options_of_builds, parse_settings, refuse_options_of_programs
from cgraph.cli.view_files import PROGRAM, Settings, kind_of
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.schedule.model import Order
from cgraph.view.explaining import explain_line
from cgraph.view.explaining.data import explanation_data

PIPED_COLUMNS = 200


@click.command(epilog="Exit code 0: it was explained; 1: errors, or nothing stands there; 2: wrong usage.")
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option(
    "--program",
    metavar="FILE",
    help="The program, bundle, dump or view that the line belongs to. [default: the line's own file]",
)
@options_of_builds
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of text.")
def explain(
    place: str,
    program: str | None,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    as_json: bool,
) -> None:
    """Say what stands at a line of a program: a command, a plane, a phase, an image, a definition.

    Of a command it says what it runs, what each slot gets, what it waits for and why, what waits for it, in which runs
    it occurs, where its planes lie, and the way from the entry point to it. The line may be of a file that the program
    imports; then --program names the program.
    """
    asked = Asked.of(place)
    how = Settings(parse_settings(settings), entry, Element(half), Order(order))
    graph = program if program is not None else asked.file
    try:
        if kind_of(graph) != PROGRAM:
            refuse_options_of_programs()
        texts = viewed_texts(graph, how, alone=program is None)
        source, index = find_text(texts, graph, asked.file)
        topics = explain_line(texts.view, source, index, asked.line, asked.column)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    if as_json:
        click.echo(json.dumps(explanation_data(texts.view, topics), indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
    width = get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 120
    print_topics(console, texts.view, topics, width=width)
