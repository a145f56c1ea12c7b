"""Prints explanations: facts, tables, and the lines of the program on the way to a command.

Receives topics, whose texts are clean; guarantees the same text for the same topics and width.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from cgraph.diagnostics.display import safe_text
from cgraph.diagnostics.excerpt import Mark, draw_excerpt, last_line
from cgraph.diagnostics.paint import Paint
from cgraph.source import Source
from cgraph.view.explaining import Table, Topic
from cgraph.view.explaining.sites import offset_of
from cgraph.view.model import View
from cgraph.view.ways import is_loop

MOST_STEPS = 8


def print_topics(console: Console, view: View, topics: Sequence[Topic], *, width: int) -> None:
    """Prints topics, a blank line between two.

    Args:
        console: where they go.
        view: that their ways lead through.
        topics: what to print.
        width: of excerpts, in columns.
    """
    sources = [Source(source.name, source.text) for source in view.sources]
    for number, topic in enumerate(topics):
        if number:
            console.print()
        console.print(Text(topic.title, style="bold"), soft_wrap=True)
        for fact in topic.facts:
            console.print(Text(f"  {fact}"), soft_wrap=True)
        for table in topic.tables:
            console.print()
            _print_table(console, table)
        if topic.way:
            console.print()
            console.print(Text("the way to it", style="bold cyan"))
            for line in _way(view, sources, topic.way, width, colour=console.is_terminal and not console.no_color):
                console.out(f"  {line}", highlight=False)


def _print_table(console: Console, table: Table) -> None:
    console.print(Text(table.heading, style="bold cyan"))
    shown = [place for place in range(len(table.columns)) if any(row[place] for row in table.rows)]
    grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for place in shown:
        grid.add_column(table.columns[place], no_wrap=True, overflow="ellipsis")
    for row in table.rows:
        grid.add_row(*(Text(row[place]) for place in shown))
    console.print(Padding(grid, (0, 0, 0, 2), expand=False))
    if table.more:
        console.print(Text(f"  … and {table.more} more"))


def _way(view: View, sources: Sequence[Source], way: Sequence[int], width: int, *, colour: bool) -> list[str]:
    """Excerpts of each text that the way leads through, the command's own first."""
    paint = Paint(colour, error=False)
    marks: dict[int, list[Mark]] = {}
    steps = way if len(way) <= MOST_STEPS else (*way[: MOST_STEPS // 2], *way[-MOST_STEPS // 2 :])
    for step in steps:
        origin = view.origins[step]
        source = sources[origin.source]
        start = offset_of(source, origin.start_line, origin.start_column)
        stop = max(offset_of(source, origin.stop_line, origin.stop_column), start + 1)
        marks.setdefault(origin.source, []).append(
            Mark(start, stop, _step_text(view, step, is_command=step == way[0]), main=step == way[0])
        )
    gutter = len(str(max(last_line(sources[index], found) for index, found in marks.items())))
    lines: list[str] = []
    for index, found in marks.items():
        lines.append(f"{paint.frame(' ' * gutter + '-->')} {safe_text(view.sources[index].name)}")
        lines += draw_excerpt(sources[index], found, width, gutter, paint)
    if len(way) > MOST_STEPS:
        lines.append(f"{' ' * gutter} … {len(way) - MOST_STEPS} steps between are not shown")
    return lines


def _step_text(view: View, step: int, *, is_command: bool) -> str:
    origin = view.origins[step]
    if is_command:
        return "this command"
    if is_loop(origin):
        return f"where {origin.text}"
    return f"in `{origin.text}`, the entry" if origin.parent is None else f"by `{origin.text}`, called here"
