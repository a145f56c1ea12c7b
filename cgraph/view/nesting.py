"""Walks through the boxes of a view as text formats nest them.

Guarantees each node once, between the opening and the closing of its box, boxes nested as in the view, without
recursion: they may be nested deep.
"""

from collections import defaultdict
from collections.abc import Iterator

from attrs import frozen

from cgraph.view.model import View


@frozen
class Open:
    """A box begins; `depth` counts those around it. `is_empty`: neither nodes nor boxes are in it."""

    phase: int
    depth: int
    is_empty: bool


@frozen
class Close:
    """A box ends."""

    phase: int
    depth: int


@frozen
class Leaf:
    """A node; `depth` counts the boxes around it."""

    node: int
    depth: int


def nesting(view: View) -> Iterator[Open | Close | Leaf]:
    """Nodes outside all boxes first; inside each box its nodes in the sequence's order, then the boxes in it."""
    nodes: defaultdict[int | None, list[int]] = defaultdict(list)
    inner: defaultdict[int | None, list[int]] = defaultdict(list)
    for node in view.sequence:
        nodes[view.nodes[node].phase].append(node)
    for number, phase in enumerate(view.phases):
        inner[phase.parent].append(number)
    for node in nodes[None]:
        yield Leaf(node, 0)
    pending: list[Open | Close] = [_opened(phase, 0, nodes, inner) for phase in reversed(inner[None])]
    while pending:
        step = pending.pop()
        yield step
        if isinstance(step, Close):
            continue
        for node in nodes[step.phase]:
            yield Leaf(node, step.depth + 1)
        pending.append(Close(step.phase, step.depth))
        pending.extend(_opened(phase, step.depth + 1, nodes, inner) for phase in reversed(inner[step.phase]))


def _opened(
    phase: int, depth: int, nodes: defaultdict[int | None, list[int]], inner: defaultdict[int | None, list[int]]
) -> Open:
    return Open(phase, depth, not nodes[phase] and not inner[phase])
