"""The tree of phases as HTML that opens and closes without a script, for notebooks.

Receives a view whose names may hold anything; guarantees balanced elements, escaped names, no address of anything
outside, and colours that follow the page around it, light or dark.
"""

from collections.abc import Iterator
from html import escape

from cgraph.view.model import View
from cgraph.view.phase_tree import PhaseTree, phase_tree
from cgraph.view.tree_cells import TreeCells, TreeTable, tree_remarks, tree_table

MOST_ROWS = 1000
"""Rows that are drawn; the numbers of all others are in the rows around them."""
ROWS_OPEN = 24
"""A tree with no more rows than these is open from the start."""

STYLE = """
.cgraph-tree{font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;max-width:72em;margin:.4em 0}
.cgraph-tree summary,.cgraph-tree .leaf{padding:1px 0}
.cgraph-tree .leaf{padding-left:1.1em}
.cgraph-tree details>details,.cgraph-tree details>.leaf{margin-left:1.1em}
.cgraph-tree .row{display:inline-flex;width:calc(100% - 1.4em);gap:.8em}
.cgraph-tree .leaf .row{width:calc(100% - .3em)}
.cgraph-tree .name{flex:1 1 auto;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;unicode-bidi:isolate}
.cgraph-tree .number{flex:0 0 auto;width:6.2em;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.cgraph-tree .share{background:linear-gradient(to left,rgba(0,114,178,.35) var(--share),transparent var(--share))}
.cgraph-tree .remark,.cgraph-tree .head{opacity:.7}
.cgraph-tree .all{border-top:1px solid;font-weight:600}
"""


def tree_html(view: View, *, commands: bool) -> str:
    """A view's tree in one element.

    Args:
        view: that has been checked.
        commands: whether commands have rows of their own.
    """
    tree = phase_tree(view, commands=commands)
    table = tree_table(view, tree)
    return "".join(_lines(view, tree, table))


def _lines(view: View, tree: PhaseTree, table: TreeTable) -> Iterator[str]:
    yield f'<div class="cgraph-tree"><style>{STYLE}</style>'
    heading = f'<span class="row"><span class="name">phase</span>{_numbers(table.columns)}</span>'
    yield f'<div class="leaf head">{heading}</div>'
    yield from _rows(table)
    yield f'<div class="leaf all">{_row(table, table.rows[-1])}</div>'
    left_out = len(table.rows) - 1 - MOST_ROWS
    remarks = [*tree_remarks(view, tree), *([f"{left_out:,} further rows are not drawn"] if left_out > 0 else [])]
    yield "".join(f'<div class="remark">{escape(remark)}</div>' for remark in remarks)
    yield "</div>"


def _rows(table: TreeTable) -> Iterator[str]:
    """All rows but the sums; what is inside a row stands in its `details` element."""
    rows = table.rows[:-1][:MOST_ROWS]
    opened = " open" if len(rows) <= ROWS_OPEN else ""
    depth = 0
    for place, cells in enumerate(rows):
        level = _depth(cells)
        yield "</details>" * (depth - level)
        depth = level
        following = _depth(rows[place + 1]) if place + 1 < len(rows) else 0
        if following > level:
            yield f"<details{opened}><summary>{_row(table, cells)}</summary>"
            depth = level + 1
        else:
            yield f'<div class="leaf">{_row(table, cells)}</div>'
    yield "</details>" * depth


def _depth(cells: TreeCells) -> int:
    return 0 if cells.row is None else cells.row.depth


def _row(table: TreeTable, cells: TreeCells) -> str:
    remark = f' <span class="remark">{escape(cells.remark)}</span>' if cells.remark else ""
    name = f'<span class="name">{escape(cells.title)}{remark}</span>'
    numbers = _numbers(cells.numbers[:-1] if _has_share(table) else cells.numbers)
    share = _share(cells.numbers[-1]) if _has_share(table) else ""
    return f'<span class="row">{name}{numbers}{share}</span>'


def _has_share(table: TreeTable) -> bool:
    return bool(table.columns) and table.columns[-1] == "%"


def _numbers(texts: tuple[str, ...]) -> str:
    return "".join(f' <span class="number">{escape(text)}</span>' for text in texts)


def _share(text: str) -> str:
    """The last column, with a bar behind it."""
    part = text if text.replace(".", "", 1).isdecimal() else "0"
    return f' <span class="number share" style="--share:{part}%">{escape(text)}</span>'
