"""`cgraph view`: a graph as a page, a picture, text for other tools, or data."""

import sys
from pathlib import Path

import click

from cgraph.cli.options import (
    EXIT_PROBLEMS,
    exit_with,
    parse_settings,
    program_options,
    refuse_options_of_programs,
)
from cgraph.cli.view_files import DUMP, PROGRAM, Settings, is_of_broken_dump, kind_of, read_viewable
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.schedule.model import Order
from cgraph.view.comparison import compare_views
from cgraph.view.formats import FORMATS, format_of
from cgraph.view.problems import Unwritable
from cgraph.view.totals import command_count


@click.command(
    epilog="Exit code 0: it was written; 1: errors; 2: wrong usage, or a file cannot be read. What can be read of a "
    "broken dump is written all the same.",
)
@program_options
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write, - for standard output. [default: FILE's name here]"
)
@click.option(
    "--format",
    "named",
    type=click.Choice(list(FORMATS)),
    help="What to write. [default: by the end of --output's name, else html]",
)
@click.option("--open", "opened", is_flag=True, help="Show what was written, in the program that the system chooses.")
@click.option("--compare", "other", metavar="OTHER", help="Show what differs from this graph, which was before.")
@click.option("--timed", is_flag=True, help="Run it on the host first, with random planes, and show measured times.")
def view(
    file: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    output: str | None,
    named: str | None,
    opened: bool,
    other: str | None,
    timed: bool,
) -> None:
    """Show the graph of FILE: a program (.cg), a bundle (.cgb), a dump (.dot, .gv) or a view (.json).

    A dump is what cudaGraphDebugDotPrint, its like in HIP, or debug_dump of PyTorch writes, or any directed graph in
    DOT; a view was written before with --format json.

    The default is a page that needs nothing but a browser. A trace (for Perfetto) is of a run, so it implies --timed
    for a program. With --compare both programs are built with the same options.
    """
    format_name = named or (format_of(output) if output else None) or "html"
    if output is not None and output != "-" and named is None and format_of(output) is None:
        raise click.UsageError(f"the name `{output}` says no format: give --format")
    if opened and output == "-":
        raise click.UsageError("--open needs a file, not standard output")
    target = _target(file, format_name, output, other)
    values = parse_settings(settings)
    try:
        kinds = {kind_of(name) for name in (file, other) if name is not None}
        if PROGRAM not in kinds:
            refuse_options_of_programs()
        timed = timed or (format_name == "trace" and kind_of(file) == PROGRAM)
        how = Settings(values, entry, Element(half), Order(order), timed=timed)
        made = read_viewable(file, how)
        if other is not None:
            made = compare_views(read_viewable(other, Settings(values, entry, Element(half), Order(order))), made)
        text = FORMATS[format_name].write(made)
        if target is None:
            click.echo(text, nl=not text.endswith("\n"))
        else:
            _write(target, text)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    if target is not None:
        click.echo(f"{target}: {command_count(made)} commands, {len(made.planes)} planes ({format_name})")
    if opened:
        click.launch(str(target))
    if DUMP in kinds and is_of_broken_dump(made):
        sys.exit(EXIT_PROBLEMS)


def _target(file: str, format_name: str, output: str | None, other: str | None) -> Path | None:
    """Where to write, None for standard output. Never a file that is read."""
    if output == "-":
        return None
    stem = "stdin" if file == "-" else Path(file).name.split(".")[0] or "view"
    target = Path(output) if output is not None else Path(stem + FORMATS[format_name].suffixes[0])
    if any(name not in (None, "-") and Path(name).resolve() == target.resolve() for name in (file, other)):
        raise click.UsageError(f"`{target}` is read: give --output another name")
    return target


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProblemsFound([Unwritable(None, str(target), reason.lower())]) from error
