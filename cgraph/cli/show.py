"""`cgraph show`: the value of a stage as text."""

import click

from cgraph.check.text import program_text
from cgraph.cli.options import exit_with, parse_settings, program_options, read_source
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.text import graph_text
from cgraph.memory.text import memory_text
from cgraph.pipeline import check as check_program
from cgraph.pipeline import compile_program, parse
from cgraph.schedule.model import Order
from cgraph.schedule.text import schedule_text
from cgraph.syntax.printer import print_module
from cgraph.view.dot import dot_text
from cgraph.view.graphs import view_of_graph

STAGES = ("syntax", "checked", "graph", "schedule", "plan", "dot")


@click.command()
@program_options
@click.option("--stage", type=click.Choice(STAGES), default="graph", show_default=True, help="Where to stop and look.")
def show(file: str, stage: str, entry: str | None, settings: tuple[str, ...], half: str, order: str) -> None:
    """Print what FILE is at a stage, as text that stays the same for the same program."""
    try:
        click.echo(_text(file, stage, entry, settings, half, order), nl=False)
    except ProblemsFound as stopped:
        exit_with(stopped)


def _text(file: str, stage: str, entry: str | None, settings: tuple[str, ...], half: str, order: str) -> str:
    source = read_source(file)
    with paused_collection():
        if stage == "syntax":
            return print_module(parse(source))
        if stage == "checked":
            return program_text(check_program(parse(source))[0])
    compiled = compile_program(source, parse_settings(settings), entry=entry, half=Element(half), order=Order(order))
    if stage == "graph":
        return graph_text(compiled.graph, compiled.schedule.hazards)
    if stage == "schedule":
        return schedule_text(compiled.graph, compiled.schedule)
    if stage == "plan":
        return memory_text(compiled.graph, compiled.plan)
    return dot_text(view_of_graph(compiled.graph, compiled.schedule))
