"""`cgraph show`: the value of a stage as text; without a stage, the tree of phases."""

import sys

import click
from rich.console import Console

from cgraph.check.text import program_text
from cgraph.cli.options import (
    EXIT_PROBLEMS,
    exit_with,
    parse_settings,
    program_options,
    read_source,
    refuse_options_of_programs,
)
from cgraph.cli.show_tree import print_tree
from cgraph.cli.view_files import DUMP, PROGRAM, Settings, compile_viewable, is_of_broken_dump, kind_of, read_viewable
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.text import graph_text
from cgraph.memory.text import memory_text
from cgraph.pipeline import check as check_program
from cgraph.pipeline import parse
from cgraph.schedule.model import Order
from cgraph.schedule.text import schedule_text
from cgraph.syntax.printer import print_module
from cgraph.view.dot import dot_text

STAGES = ("tree", "syntax", "checked", "graph", "schedule", "plan", "dot")
OF_VIEWS = ("tree", "dot")
PIPED_COLUMNS = 200


@click.command(
    epilog="Exit code 0: it was shown; 1: errors, or a dump is broken; 2: wrong usage, or a file cannot be read."
)
@program_options
@click.option("--stage", type=click.Choice(STAGES), default="tree", show_default=True, help="Where to stop and look.")
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="Of the tree: no more than N rows inside another."
)
@click.option("--commands", is_flag=True, help="In the tree, list commands under their phases.")
@click.option("--timed", is_flag=True, help="For the tree, run it on the host first, and show measured times.")
def show(
    file: str,
    stage: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    depth: int | None,
    commands: bool,
    timed: bool,
) -> None:
    """Print what FILE is at a stage, as text that stays the same for the same program.

    The tree has a row for each phase: its commands, the bytes that they move, operations, and time. It is shown of
    bundles (.cgb), of other tools' dumps (.dot) and of views (.json), too.
    """
    if stage != "tree" and (depth is not None or commands or timed):
        raise click.UsageError("--depth, --commands and --timed belong to the tree")
    how = Settings(parse_settings(settings), entry, Element(half), Order(order), timed=timed)
    try:
        kind = _kind(file, stage)
        if kind != PROGRAM:
            refuse_options_of_programs()
            if stage not in OF_VIEWS:
                raise click.UsageError(f"--stage {stage} belongs to programs")
        if stage == "tree":
            console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
            made = read_viewable(file, how)
            print_tree(console, made, commands=commands, depth=depth)
            if kind == DUMP and is_of_broken_dump(made):
                sys.exit(EXIT_PROBLEMS)
        else:
            click.echo(_text(file, stage, how), nl=False)
    except ProblemsFound as stopped:
        exit_with(stopped)


def _kind(file: str, stage: str) -> str:
    """What a file is. Stages that only programs have take one of no known kind to be a program."""
    try:
        return kind_of(file)
    except ProblemsFound:
        if stage in OF_VIEWS:
            raise
        return PROGRAM


def _text(file: str, stage: str, how: Settings) -> str:
    if stage == "dot":
        return dot_text(read_viewable(file, how))
    if stage in ("syntax", "checked"):
        source = read_source(file)
        with paused_collection():
            module = parse(source)
            return print_module(module) if stage == "syntax" else program_text(check_program(module)[0])
    compiled = compile_viewable(file, how)
    if stage == "graph":
        return graph_text(compiled.graph, compiled.schedule.hazards)
    if stage == "schedule":
        return schedule_text(compiled.graph, compiled.schedule)
    return memory_text(compiled.graph, compiled.plan)
