"""The tree of phases as texts: a heading, columns, and the cells of each row, for terminals and for HTML alike.

Receives rows of a view whose names may hold anything; guarantees single lines without control characters, and leaves
out columns of which nothing is known. Escaping and alignment are left to whoever prints.
"""

from collections.abc import Iterator, Sequence

from attrs import frozen

from cgraph.view.captions import facts, few_names, headline, line, size_text
from cgraph.view.model import View
from cgraph.view.phase_tree import PhaseTree, TreeRow
from cgraph.view.totals import Totals

TITLE_LENGTH = 72
MOST_PLANES = 2
UNKNOWN = "?"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@frozen
class TreeCells:
    """One row as texts: its title, what the title says beside the name, and one text a column."""

    row: TreeRow | None
    title: str
    remark: str
    numbers: tuple[str, ...]


@frozen
class TreeTable:
    """The headings of all columns but the title's, and the rows; the sums are last."""

    columns: tuple[str, ...]
    rows: tuple[TreeCells, ...]


def tree_table(view: View, tree: PhaseTree) -> TreeTable:
    """A tree as texts. The headings say whether times are measured or estimated."""
    titles = ("commands", "read", "written", "operations", "measured ms" if view.timed else "estimated µs", "%")
    whole = _numbers(view, tree.whole, tree.whole)
    known = [place for place, text in enumerate(whole) if text not in (UNKNOWN, "")]

    def chosen(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(texts[place] for place in known)

    rows = [
        TreeCells(
            row, line(row.title, TITLE_LENGTH), _remark(view, row), chosen(_numbers(view, row.totals, tree.whole))
        )
        for row in tree.rows
    ]
    return TreeTable(chosen(titles), (*rows, TreeCells(None, "all commands", "", chosen(whole))))


def tree_heading(view: View) -> Iterator[str]:
    """What the graph is, and what is known of it as a whole."""
    yield headline(view)
    for fact in facts(view):
        yield f"  {fact}"


def tree_remarks(view: View, tree: PhaseTree) -> Iterator[str]:
    """How to read the numbers."""
    if any(row.times > 1 for row in tree.rows):
        yield "× n: n times in a row, alike in all but planes; numbers are of all of them together"
    if tree.whole.operations:
        yield "operations: those of matrix products, where they are known"
    if not view.timed and view.roofline is not None and tree.whole.cost_us is not None:
        device = line(view.roofline.device)
        yield f"estimated for {device}: each command alone, one after the other"


def operations_text(count: int) -> str:
    """A number of operations for people: `44.7 M`."""
    for unit, prefix in _PREFIXES:
        if count >= unit:
            return f"{count / unit:.3g} {prefix}" if count < 999.5 * unit else f"{count / unit:.0f} {prefix}"
    return str(count)


def time_text(view: View, totals: Totals) -> str:
    """The measured time in milliseconds, or the estimate in microseconds."""
    if view.timed:
        return UNKNOWN if totals.elapsed_ms is None else f"{totals.elapsed_ms:.3f}"
    return UNKNOWN if totals.cost_us is None else f"{totals.cost_us:.1f}"


def _numbers(view: View, totals: Totals, whole: Totals) -> tuple[str, ...]:
    if not totals.commands:
        return ("0", "", "", "", "", "")
    share = totals.share_of(whole, timed=view.timed)
    return (
        str(totals.commands),
        UNKNOWN if totals.read_bytes is None else size_text(totals.read_bytes),
        UNKNOWN if totals.written_bytes is None else size_text(totals.written_bytes),
        operations_text(totals.operations) if totals.operations else "",
        time_text(view, totals),
        UNKNOWN if share is None else f"{100 * share:.1f}",
    )


def _remark(view: View, row: TreeRow) -> str:
    """`× 12, l = 11 … 0`; of a single command the families of planes that it writes."""
    if row.times > 1:
        return f"× {row.times}" + ("" if row.loop is None else f", {line(row.loop)}")
    if row.kind != "command" or row.index is None:
        return ""
    accesses = view.nodes[row.index].accesses
    written = list(dict.fromkeys(view.planes[access.plane].family for access in accesses if access.mode != "read"))
    return f"→ {few_names(written, MOST_PLANES)}" if written else ""
