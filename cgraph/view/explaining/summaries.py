"""Many commands at once: those of a phase, of a definition, of a call or a loop, or all launches of an image.

Receives commands; guarantees one row for each place that they come from, in program order, with sums over its runs.
"""

from collections.abc import Iterable, Iterator, Sequence

from cgraph.view.captions import place_text, size_text
from cgraph.view.explaining.model import Table, count_text, table
from cgraph.view.explaining.occurrences import Group, groups_by_place, step_told
from cgraph.view.model import View
from cgraph.view.totals import Totals, totals_of
from cgraph.view.tree_cells import operations_text, time_text


def amount_text(view: View, nodes: Sequence[int]) -> str:
    """`9 commands, reads 3 KiB, writes 2 KiB, 11.7 µs by estimate, 81.8 % of the time of all commands`."""
    totals = totals_of(view, nodes)
    parts = [count_text(totals.commands, "command"), *cost_parts(view, totals)]
    share = totals.share_of(totals_of(view, view.sequence), timed=view.timed)
    if share is not None:
        parts.append(f"{100 * share:.1f} % of the time of all commands")
    return ", ".join(parts)


def cost_parts(view: View, totals: Totals) -> Iterator[str]:
    """What commands move and compute, and how long they take, as far as it is known."""
    if totals.read_bytes is not None:
        yield f"reads {size_text(totals.read_bytes)}"
    if totals.written_bytes is not None:
        yield f"writes {size_text(totals.written_bytes)}"
    if totals.operations:
        yield f"{operations_text(totals.operations)} operations of products"
    time_us = totals.time_us(timed=view.timed)
    if time_us is not None:
        yield f"{time_us:.1f} µs {'measured' if view.timed else 'by estimate'}"


def commands_table(view: View, nodes: Iterable[int], index: int | None) -> tuple[Table, ...]:
    """Commands by place.

    Args:
        view: that they are in.
        nodes: in program order.
        index: of the text whose places are shown where a command comes from it.
    """
    groups = groups_by_place(view, nodes, index)
    time_name = "measured ms" if view.timed else "estimated µs"
    columns = ("command", "at", "runs", "read", "written", "operations", time_name)
    return table("commands", columns, [_row(view, group, index) for group in groups])


def _row(view: View, group: Group, index: int | None) -> tuple[str, ...]:
    step = step_told(view, group.first, index)
    totals = totals_of(view, group.runs)
    return (
        view.nodes[group.first].label,
        "" if step is None else place_text(view, step),
        str(len(group.runs)),
        "?" if totals.read_bytes is None else size_text(totals.read_bytes),
        "?" if totals.written_bytes is None else size_text(totals.written_bytes),
        operations_text(totals.operations) if totals.operations else "",
        time_text(view, totals),
    )
