"""Commands that are one command in several runs: in turns of a loop, or in several calls of what holds it.

Receives sites of a view; guarantees each command below them in exactly one group, groups and their runs in program
order. Two commands are runs of one if they came the same way from the site on. Cost linear in steps and commands.
"""

from collections.abc import Iterable, Sequence

from attrs import frozen

from cgraph.view.explaining.sites import Site
from cgraph.view.model import View
from cgraph.view.totals import is_barrier
from cgraph.view.ways import loop_indices, steps_of


@frozen
class Group:
    """Runs of one command: indices of nodes, in program order."""

    runs: tuple[int, ...]

    @property
    def first(self) -> int:
        """The run that is shown as an example."""
        return self.runs[0]


def groups_at(view: View, sites: Iterable[Site]) -> list[Group]:
    """All commands that come from some places."""
    marks = {step: number for number, site in enumerate(sites) for step in site.steps}
    keys: dict[object, int] = {}
    below: list[int | None] = []
    for number, origin in enumerate(view.origins):
        way = None if origin.parent is None else below[origin.parent]
        place = (origin.source, origin.start_line, origin.start_column)
        if number in marks:
            below.append(keys.setdefault(("site", marks[number]), len(keys)))
        else:
            below.append(None if way is None else keys.setdefault((way, place), len(keys)))
    groups: dict[object, list[int]] = {}
    for index in view.sequence:
        node = view.nodes[index]
        way = None if node.origin is None else below[node.origin]
        if way is not None and not is_barrier(node):
            groups.setdefault((way, node.kind, node.kernel), []).append(index)
    return [Group(tuple(runs)) for runs in groups.values()]


def groups_by_place(view: View, nodes: Iterable[int], index: int | None) -> list[Group]:
    """Some commands, given in program order; runs of one are those that are told of by one place (`step_told`)."""
    groups: dict[object, list[int]] = {}
    for number in nodes:
        step = step_told(view, number, index)
        origin = None if step is None else view.origins[step]
        place = None if origin is None else (origin.source, origin.start_line, origin.start_column)
        groups.setdefault((place, view.nodes[number].label), []).append(number)
    return [Group(tuple(runs)) for runs in groups.values()]


def step_told(view: View, node: int, index: int | None) -> int | None:
    """The step that tells a reader of one text best where a command comes from: its last step there, else its last."""
    steps = list(steps_of(view, node))
    return next((step for step in steps if view.origins[step].source == index), steps[0] if steps else None)


def runs_text(view: View, runs: Sequence[int]) -> str:
    """`in 3 runs, first: l = 0, last: l = 2`, or the loop indices of the only one; "" where there is nothing to say."""
    first = loop_indices(view, runs[0])
    if len(runs) == 1:
        return f"where {first}" if first else ""
    last = loop_indices(view, runs[-1])
    ends = f", first: {first or '(in no loop)'}" if first or last else ""
    return f"in {len(runs)} runs{ends}" + (f", last: {last or '(in no loop)'}" if last != first else "")
