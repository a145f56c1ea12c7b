"""The tree of phases as rows: what each holds, moves, computes and costs; repeats folded.

Receives a view; guarantees rows in program order, each followed by those inside it, whose numbers add up: a row's
numbers are of all that is in it, and of all its repeats together. How rows are drawn is left to others.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from attrs import frozen

from cgraph.view.contents import BoxItem, Contents, Item, NodeItem, contents_of
from cgraph.view.model import View
from cgraph.view.repeats import find_repeats
from cgraph.view.totals import Totals, totals_of, totals_of_node
from cgraph.view.ways import changing_index

MOST_DEPTH = 32  # deeper rows would not fit a line; their numbers are in the rows around them
UNPHASED = "(no phase)"

RowKind: TypeAlias = Literal["phase", "command", "repeat"]


@frozen
class TreeRow:
    """One row.

    Args:
        depth: how many rows it is inside of.
        kind: a box, a command, or several of them that are repeated together.
        index: of the first box or command that it stands for; None for commands outside all boxes, and for a repeat.
        times: how often it stands in a row, at this place. loop: the index that tells the times apart, if one does.
        is_last: no further row is inside the same one.
    """

    depth: int
    kind: RowKind
    title: str
    index: int | None
    times: int
    loop: str | None
    totals: Totals
    is_last: bool


@frozen(eq=False)
class PhaseTree:
    """Rows, and the sums over the whole graph."""

    rows: tuple[TreeRow, ...]
    whole: Totals


class _Level(NamedTuple):
    """What stands beside each other: columns of items that are alike, one for each time that they are repeated."""

    depth: int
    columns: list[list[Item]]


def phase_tree(view: View, *, commands: bool = False, depth: int | None = None) -> PhaseTree:
    """The rows of a view.

    Args:
        view: that has been checked.
        commands: whether commands have rows of their own. A view without boxes has nothing else to show.
        depth: rows inside so many others are left out; at most `MOST_DEPTH`.
    """
    contents = contents_of(view)
    most = MOST_DEPTH if depth is None else min(depth, MOST_DEPTH)
    rows = tuple(_Rows(view, contents, most, commands=commands or not view.phases).rows())
    return PhaseTree(rows, totals_of(view, view.sequence))


class _Rows:
    """Rows while they are made."""

    def __init__(self, view: View, contents: Contents, most_depth: int, *, commands: bool) -> None:
        self.view = view
        self.contents = contents
        self.most_depth = most_depth
        self.commands = commands

    def rows(self) -> Iterator[TreeRow]:
        """All rows. Levels wait on a stack, each behind the row that it is inside of."""
        waiting: list[TreeRow | _Level] = [_Level(0, self._outermost())]
        while waiting:
            step = waiting.pop()
            if isinstance(step, TreeRow):
                yield step
            elif step.depth < self.most_depth:
                waiting.extend(reversed(self._expanded(step)))

    def _outermost(self) -> list[list[Item]]:
        """What is in no box; commands that have no rows of their own are together where the first one stands."""
        items = self.contents.outermost
        if self.commands:
            return [[item] for item in items]
        loose = [item for item in items if isinstance(item, NodeItem)]
        return [
            [item] if isinstance(item, BoxItem) else list(loose)
            for item in items
            if isinstance(item, BoxItem) or item is loose[0]
        ]

    def _shown(self, columns: list[list[Item]]) -> list[list[Item]]:
        """The columns that get rows."""
        return columns if self.commands else [column for column in columns if isinstance(column[0], BoxItem)]

    def _expanded(self, level: _Level) -> list[TreeRow | _Level]:
        """The rows of a level, each with the level inside it."""
        columns = level.columns
        keys = [self.contents.key(column[0]) for column in columns]
        found: list[TreeRow | _Level] = []
        for run in find_repeats(keys):
            stop = run.start + run.length * run.times
            block = [
                [item for column in columns[first : stop : run.length] for item in column]
                for first in range(run.start, run.start + run.length)
            ]
            starts = [columns[run.start + time * run.length][0] for time in range(run.times)]
            loop = changing_index(self.view, [self.contents.first_node(item) for item in starts])
            is_last = stop == len(columns)
            if run.length > 1:
                totals = self._totals([item for column in block for item in column])
                title = f"{run.length} {'rows' if self.commands else 'phases'}, repeated"
                found.append(TreeRow(level.depth, "repeat", title, None, run.times, loop, totals, is_last))
                found.append(_Level(level.depth + 1, block))
                continue
            found.append(self._row(level.depth, block[0], run.times, loop, is_last=is_last))
            if isinstance(block[0][0], BoxItem):
                found.append(_Level(level.depth + 1, self._inside(block[0])))
        return found

    def _row(self, depth: int, items: Sequence[Item], times: int, loop: str | None, *, is_last: bool) -> TreeRow:
        first = items[0]
        totals = self._totals(items)
        if isinstance(first, NodeItem) and not self.commands:
            return TreeRow(depth, "command", UNPHASED, None, 1, None, totals, is_last)
        if isinstance(first, NodeItem):
            label = self.view.nodes[first.node].label
            return TreeRow(depth, "command", label, first.node, times, loop, totals, is_last)
        phase = self.view.phases[first.phase]
        return TreeRow(depth, "phase", phase.title or phase.name, first.phase, times, loop, totals, is_last)

    def _inside(self, items: Sequence[Item]) -> list[list[Item]]:
        """What is inside boxes that are alike, place by place."""
        inside = [self.contents.inside[item.phase] for item in items if isinstance(item, BoxItem)]
        return self._shown([list(column) for column in zip(*inside, strict=True)])

    def _totals(self, items: Sequence[Item]) -> Totals:
        return sum(
            (
                self.contents.box_totals[item.phase]
                if isinstance(item, BoxItem)
                else totals_of_node(self.view.nodes[item.node])
                for item in items
            ),
            Totals(),
        )
