"""What commands wait for, what waits for them, and why, summed up over runs of one command.

Receives a view's edges, which are those of its schedule: what follows from others by way of a third command is left out
there. Guarantees one row for each reason, plane family and other command, with one run as an example.
"""

from collections.abc import Sequence
from typing import NamedTuple

from attrs import define, field, frozen

from cgraph.view.captions import line, place_text
from cgraph.view.explaining.model import Table, table
from cgraph.view.explaining.occurrences import step_told
from cgraph.view.model import View, ViewEdge
from cgraph.view.totals import is_barrier
from cgraph.view.ways import loop_indices


@frozen(eq=False)
class Edges:
    """The edges of a view, by the node that waits and by the node that is waited for."""

    into: dict[int, list[ViewEdge]] = field(factory=dict)
    out_of: dict[int, list[ViewEdge]] = field(factory=dict)


def edges_of(view: View) -> Edges:
    """All edges, by their ends."""
    edges = Edges()
    for edge in view.edges:
        edges.into.setdefault(edge.after, []).append(edge)
        edges.out_of.setdefault(edge.before, []).append(edge)
    return edges


class _Like(NamedTuple):
    """What waits that are told together have in common."""

    reason: str
    family: str | None
    label: str
    place: str


@define
class _Wait:
    """Waits of several runs, one of them as an example, which has `other` at its other end."""

    example: ViewEdge
    other: int
    runs: set[int] = field(factory=set)
    edges: int = 0


def waits_tables(view: View, edges: Edges, runs: Sequence[int], index: int | None) -> tuple[Table, ...]:
    """Two tables: what runs of one command wait for, and what waits for them.

    Args:
        view: that the edges are of.
        edges: of the view.
        runs: nodes.
        index: of the text whose places are shown where a command comes from it.
    """
    before = _waits(view, [(edge.before, edge, run) for run in runs for edge in edges.into.get(run, ())], index)
    after = _waits(view, [(edge.after, edge, run) for run in runs for edge in edges.out_of.get(run, ())], index)
    columns = ("reason", "plane", "bytes", "command", "at", "runs")
    return (
        *table("waits for", columns, [_row(view, like, wait, runs) for like, wait in before.items()]),
        *table("is waited for by", columns, [_row(view, like, wait, runs) for like, wait in after.items()]),
    )


def _waits(view: View, ends: Sequence[tuple[int, ViewEdge, int]], index: int | None) -> dict[_Like, _Wait]:
    found: dict[_Like, _Wait] = {}
    for other, edge, run in ends:
        step = step_told(view, other, index)
        like = _Like(
            edge.reason,
            None if edge.plane is None else view.planes[edge.plane].family,
            view.nodes[other].label,
            "" if step is None else place_text(view, step),
        )
        wait = found.setdefault(like, _Wait(edge, other))
        wait.runs.add(run)
        wait.edges += 1
    return found


def _row(view: View, like: _Like, wait: _Wait, runs: Sequence[int]) -> tuple[str, ...]:
    edge = wait.example
    node = view.nodes[wait.other]
    command = f"{wait.other} {like.label}"
    if is_barrier(node):
        command = "; ".join(text for _, text in node.details) or like.label
    loops = loop_indices(view, wait.other)
    part = "" if edge.start is None or edge.stop is None else f"{edge.start} to {edge.stop}"
    if edge.count > 1:
        part += f", one of {edge.count}"
    often = "" if len(runs) == 1 else f"{len(wait.runs)} of {len(runs)}"
    if wait.edges > len(wait.runs):
        often = f"{often}, {wait.edges} commands" if often else f"{wait.edges} commands"
    return (
        _reason_text(edge),
        "" if edge.plane is None else view.planes[edge.plane].name,
        part,
        line(command),
        like.place + (f" ({loops})" if loops else ""),
        often,
    )


def _reason_text(edge: ViewEdge) -> str:
    match edge.reason:
        case "order":
            return "the chosen order"
        case "given":
            return "given in the dump"
        case reason:
            return reason
