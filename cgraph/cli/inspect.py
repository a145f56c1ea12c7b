"""`cgraph inspect`: says what a bundle holds. Nothing of it is run, and no compiler is needed."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture.facts import bundle_facts, command_facts
from cgraph.capture.loading import Loaded, load_bundle
from cgraph.cli.options import exit_with
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.display import safe_text
from cgraph.diagnostics.excerpt import Mark, draw_excerpt, last_line
from cgraph.diagnostics.paint import Paint
from cgraph.graph.model import CommandGraph
from cgraph.graph.origins import origin_notes
from cgraph.graph.text import node_text

PIPED_COLUMNS = 160


@click.command(epilog="Exit code 0: it was read; 1: it is no bundle or a wrong one; 2: wrong usage.")
@click.argument("file")
@click.option("--nodes", "listed", is_flag=True, help="Also list every command.")
@click.option("--node", "indices", type=int, multiple=True, metavar="N", help="A command with its source and its way.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def inspect(file: str, listed: bool, indices: tuple[int, ...], as_json: bool) -> None:
    """Say what the bundle FILE holds: commands, kernels with their code, planes, memory, contents, a recorded run.

    The whole file is checked on the way.
    """
    try:
        bundle = load_bundle(file)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    graph = None if isinstance(bundle, ImportedGraph) else bundle.graph
    for index in indices:
        if graph is None or not 0 <= index < len(graph.nodes):
            count = "there are no commands of a program" if graph is None else f"there are {len(graph.nodes)} commands"
            raise click.BadParameter(f"no command {index}: {count}", param_hint="--node")
    facts = {"file": file, "size_bytes": Path(file).stat().st_size, **bundle_facts(bundle)}
    if as_json:
        chosen = () if graph is None else command_facts(graph)
        rows = [row for row in chosen if not indices or row["index"] in indices]
        click.echo(json.dumps({**facts, "nodes": rows}, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
    if graph is not None and indices:
        for index in indices:
            click.echo("\n".join(_told_node(graph, index)))
        return
    _print(console, facts)
    if listed:
        for line in _lines(bundle):
            click.echo(line)


def _print(console: Console, facts: Mapping[str, Any]) -> None:
    program = facts["content"] == "program"
    console.print(f"{escape(facts['file'])}: {facts['content']} bundle, {facts['size_bytes']:,} bytes")
    counts = ", ".join(f"{count:,} {kind}" for kind, count in facts["commands"].items()) or "none"
    if program:
        settings = ", ".join(f"{name} = {value}" for name, value in facts["parameters"].items())
        console.print(escape(f"{facts['entry']}, half = {facts['half']}{settings and f', {settings}'}"))
        console.print(f"commands: {counts}; {facts['order']} order, {facts['edges']:,} edges, {facts['levels']} levels")
    else:
        console.print(f"commands: {counts}; {facts['edges']:,} edges, {facts['graphs']} graph(s)")
        console.print(f"read on a device of compute capability {facts['capability']}")
    console.print(_kernels(facts["kernels"], program=program))
    if program:
        for role, row in facts["planes"].items():
            console.print(f"{role}: {row['planes']} planes, {row['size_bytes']:,} bytes")
        memory = facts["memory"]
        console.print(
            f"arena of scratch planes: {memory['arena_bytes']:,} bytes, lower bound {memory['lower_bound_bytes']:,}, "
            f"without sharing {memory['unshared_bytes']:,}"
        )
    else:
        for row in facts["memory"]:
            console.print(escape(f"{safe_text(row['name'])}: {row['size_bytes']:,} bytes, {row['memory']}"))
        for remark in facts["remarks"]:
            console.print(escape(safe_text(remark)))
    recording = facts["recording"]
    console.print(
        "no recorded run"
        if recording is None
        else f"recorded run on {escape(recording['device'])}: {len(recording['outputs'])} planes, "
        f"{recording['commands']} commands"
    )
    contents = facts["contents"]
    console.print(f"contents of {len(contents)} planes, {sum(contents.values()):,} bytes")


def _kernels(rows: list[dict[str, Any]], *, program: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kernel")
    table.add_column("launches", justify="right")
    table.add_column("code")
    for row in rows:
        name = f"{row['image']}: {row['entry']} ({row['file']})" if program else row["kernel"]
        code = ", ".join(_code(code) for code in row["code"]) if program else ", ".join(row["code"])
        table.add_row(escape(safe_text(name)), f"{row['launches']:,}", escape(code) or "none")
    return table


def _code(code: Mapping[str, Any]) -> str:
    words = f"{code['kind']} {code['architecture']}"
    if code["registers"] is None:
        return words
    spilled = f", {code['spilled_bytes']} bytes spilled" if code["spilled_bytes"] else ""
    return f"{words} ({code['registers']} registers{spilled})"


def _lines(bundle: Loaded) -> Iterator[str]:
    if isinstance(bundle, ImportedGraph):
        for number, level in enumerate(bundle.levels):
            for index in range(len(level.nodes)):
                yield safe_text(bundle.describe(number, index))
        return
    for row in command_facts(bundle.graph):
        yield safe_text(f"{row['index']} {row['text']}, {row['source']}:{row['line']}:{row['column']}")


def _told_node(graph: CommandGraph, index: int) -> Iterator[str]:
    """A command, its line in the source, and the way to it."""
    node = graph.nodes[index]
    span = node.origin.span
    yield safe_text(f"command {index}: {node_text(graph, node)}")
    yield safe_text(f"  --> {span.place}")
    marks = [Mark(span.start, span.stop, "", main=True)]
    width = get_terminal_size((100, 24)).columns
    yield from draw_excerpt(span.source, marks, width, len(str(last_line(span.source, marks))), Paint(colour=False))
    for note in origin_notes(node.origin):
        yield safe_text(f"  = {note}")
