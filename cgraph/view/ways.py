"""Ways from an entry point to commands, read from a view: their steps, the loop indices on them, what tells them apart.

Receives a view that has been checked, so that a step's parent stands before it; guarantees nothing about texts, which
may hold anything.
"""

from collections.abc import Iterator, Sequence

from cgraph.view.model import View, ViewOrigin

MOST_STEPS = 1000  # ways that are longer are not compared: nobody reads them


def steps_of(view: View, node: int) -> Iterator[int]:
    """The steps of the way to a node, as indices into `View.origins`, the innermost first."""
    step = view.nodes[node].origin
    while step is not None:
        yield step
        step = view.origins[step].parent


def is_loop(origin: ViewOrigin) -> bool:
    """Whether a step is one run of a loop's body, as `l = 3`, and not a call or the command itself."""
    name, equals, value = origin.text.partition(" = ")
    return bool(name and equals) and value.isdecimal()


def loop_indices(view: View, node: int) -> str:
    """The loop indices on the way to a node, the outermost first: `l = 3, h = 0`; "" without any."""
    found = [view.origins[step].text for step in steps_of(view, node) if is_loop(view.origins[step])]
    return ", ".join(reversed(found))


def changing_index(view: View, nodes: Sequence[int | None]) -> str | None:
    """The outermost loop index that tells nodes apart, e.g. `l = 11 … 0`; None where something else does."""
    if len(nodes) < 2:
        return None
    ways = []
    for node in nodes:
        way = [] if node is None else [view.origins[step].text for step in _few(steps_of(view, node))]
        ways.append(tuple(reversed(way)))
    for texts in zip(*ways, strict=False):
        if len(set(texts)) > 1:
            names = {text.partition(" = ")[0] for text in texts}
            values = [text.partition(" = ")[2] for text in texts]
            if len(names) == 1 and all(value.isdecimal() for value in values):
                return f"{names.pop()} = {values[0]} … {values[-1]}"
            return None
    return None


def _few(steps: Iterator[int]) -> list[int]:
    found = []
    for step in steps:
        found.append(step)
        if len(found) > MOST_STEPS:
            return []
    return found
