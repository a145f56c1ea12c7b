"""What is in each box of a view, in the order in which it comes first: commands, and boxes of their own.

Receives a view; guarantees each command and each box in exactly one list, nothing of those nodes that only stand for
edges, and keys that are equal exactly where two boxes hold the same, whatever planes and loop indices they are for.
Nothing here recurses: boxes may be nested deep.
"""

from typing import TypeAlias

from attrs import frozen

from cgraph.view.model import View, ViewNode
from cgraph.view.totals import Totals, is_barrier, totals_of_node


@frozen
class BoxItem:
    """A box in another box, by its index in `View.phases`."""

    phase: int


@frozen
class NodeItem:
    """A command, by its index in `View.nodes`."""

    node: int


Item: TypeAlias = BoxItem | NodeItem


@frozen(eq=False)
class Contents:
    """The boxes of a view with what is in them.

    Args:
        outermost: what is in no box. inside: for each box, what is in it.
        box_keys, node_keys: equal for boxes, and for commands, that are alike.
        box_totals: for each box the sums over all that is in it, at any depth.
        first_nodes: for each box the first command in it, at any depth; None for an empty one.
    """

    outermost: tuple[Item, ...]
    inside: tuple[tuple[Item, ...], ...]
    box_keys: tuple[int, ...]
    node_keys: tuple[int, ...]
    box_totals: tuple[Totals, ...]
    first_nodes: tuple[int | None, ...]

    def key(self, item: Item) -> int:
        """Equal for two items that are alike."""
        return self.box_keys[item.phase] if isinstance(item, BoxItem) else self.node_keys[item.node]

    def first_node(self, item: Item) -> int | None:
        """The first command of an item."""
        return self.first_nodes[item.phase] if isinstance(item, BoxItem) else item.node


def contents_of(view: View) -> Contents:
    """The contents of all boxes. Cost linear in commands and boxes."""
    outermost, inside = _items(view)
    totals = [Totals() for _ in view.phases]
    first_positions = [len(view.sequence)] * len(view.phases)
    for position, number in enumerate(view.sequence):
        node = view.nodes[number]
        if node.phase is not None and not is_barrier(node):
            totals[node.phase] += totals_of_node(node)
            first_positions[node.phase] = min(first_positions[node.phase], position)
    keys: dict[object, int] = {}
    node_keys = tuple(keys.setdefault(_likeness(view, node), len(keys)) for node in view.nodes)
    box_keys = [0] * len(view.phases)
    for box in range(len(view.phases) - 1, -1, -1):
        phase = view.phases[box]
        inner = tuple(
            box_keys[item.phase] if isinstance(item, BoxItem) else node_keys[item.node] for item in inside[box]
        )
        box_keys[box] = keys.setdefault((phase.name, phase.title, phase.kind, phase.note, inner), len(keys))
        if phase.parent is not None:
            totals[phase.parent] += totals[box]
            first_positions[phase.parent] = min(first_positions[phase.parent], first_positions[box])
    first_nodes = tuple(view.sequence[first] if first < len(view.sequence) else None for first in first_positions)
    return Contents(tuple(outermost), tuple(map(tuple, inside)), tuple(box_keys), node_keys, tuple(totals), first_nodes)


def _items(view: View) -> tuple[list[Item], list[list[Item]]]:
    """What is in no box, and what is in each box, where it comes first; empty boxes after all else."""
    outermost: list[Item] = []
    inside: list[list[Item]] = [[] for _ in view.phases]
    placed = [False] * len(view.phases)

    def place(phase: int | None) -> None:
        """Puts a box, and those around it that are in no list yet, where it is met first."""
        new = []
        while phase is not None and not placed[phase]:
            placed[phase] = True
            new.append(phase)
            phase = view.phases[phase].parent
        for box in reversed(new):
            parent = view.phases[box].parent
            (outermost if parent is None else inside[parent]).append(BoxItem(box))

    for number in view.sequence:
        node = view.nodes[number]
        if not is_barrier(node):
            place(node.phase)
            (outermost if node.phase is None else inside[node.phase]).append(NodeItem(number))
    for box in range(len(view.phases)):
        place(box)
    return outermost, inside


def _likeness(view: View, node: ViewNode) -> object:
    """What two commands have in common that differ in planes and loop indices alone."""
    kernel = None if node.kernel is None else view.kernels[node.kernel].symbol
    sizes = (node.grid, node.block, node.shared_bytes)
    return (node.kind, node.label, kernel, sizes, node.read_bytes, node.written_bytes, node.operations)
