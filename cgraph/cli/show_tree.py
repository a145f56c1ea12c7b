"""`cgraph show --stage tree`: the tree of phases on a terminal, or as plain aligned text.

Receives a view; guarantees the same text for the same view and width, colours only where the console has them.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cgraph.view.model import View
from cgraph.view.phase_tree import PhaseTree, phase_tree
from cgraph.view.tree_cells import TreeCells, tree_heading, tree_remarks, tree_table

_STYLES = {"phase": "bold", "repeat": "italic", "command": ""}


def print_tree(console: Console, view: View, *, commands: bool, depth: int | None) -> None:
    """Prints a view's phases, each with those inside it, and its commands if they are asked for."""
    tree = phase_tree(view, commands=commands, depth=depth)
    for line in tree_heading(view):
        console.print(Text(line), soft_wrap=True)
    console.print()
    console.print(_table(view, tree))
    console.print()
    for remark in tree_remarks(view, tree):
        console.print(Text(remark, style="dim"), soft_wrap=True)


def _table(view: View, tree: PhaseTree) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("phase", no_wrap=True, overflow="ellipsis")
    texts = tree_table(view, tree)
    for name in texts.columns:
        table.add_column(name, justify="right", no_wrap=True)
    for cells, guide in _guided(texts.rows):
        title = Text()
        title.append(guide, style="dim")
        title.append(cells.title, style="bold" if cells.row is None else _STYLES[cells.row.kind])
        if cells.remark:
            title.append(f"  {cells.remark}", style="cyan")
        table.add_row(title, *map(Text, cells.numbers))
    return table


def _guided(rows: Sequence[TreeCells]) -> Iterator[tuple[TreeCells, str]]:
    """Each row with the lines that lead to it from the row it is inside of."""
    bars: list[str] = []
    for cells in rows:
        if cells.row is None or cells.row.depth == 0:
            bars.clear()
            yield cells, ""
            continue
        del bars[cells.row.depth - 1 :]
        yield cells, "".join(bars) + ("└─ " if cells.row.is_last else "├─ ")
        bars.append("   " if cells.row.is_last else "│  ")
