"""Two views beside each other: which commands and planes are new, gone or changed.

Receives any two views; guarantees that each node and each plane of both is in exactly one pairing, nodes in the order
of the sequences. Nodes are paired by where they come from and what they run, so that a command more is one addition;
planes by name. What a view estimates, measures or plans is not compared: times and offsets follow from the rest.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from hashlib import blake2b

import attrs

from cgraph.core.alignment import align
from cgraph.view.captions import argument_text, written_planes
from cgraph.view.model import Comparison, Pairing, View, ViewNode, ViewPlane

MOST_CHANGES = 20
OF_A_PROCESS = re.compile(
    r"\b(?:handle|event|ptr|dptr|srcPtr|dstPtr|src|dst|base_ptr|fn|userdata)$|^(?:ID|topoId|runs|port)$"
)
"""Names of details that differ between any two runs: addresses, handles, and numbers of commands and graphs."""


def compare_views(before: View, after: View) -> View:
    """The second view with its comparison to the first.

    A comparison that either of them holds already is dropped.
    """
    other = attrs.evolve(before, comparison=None)
    nodes = tuple(_paired_nodes(other, after))
    return attrs.evolve(
        after, comparison=Comparison(other.title, nodes, tuple(_paired_planes(other.planes, after.planes)), other)
    )


def _paired_nodes(before: View, after: View) -> Iterator[Pairing]:
    left, right = 0, 0
    ends = (len(before.sequence), len(after.sequence))
    for left_stop, right_stop in [*align(_keys(before), _keys(after)), ends]:
        for position in range(left, left_stop):
            yield Pairing("removed", before.sequence[position], None)
        for position in range(right, right_stop):
            yield Pairing("added", None, after.sequence[position])
        if (left_stop, right_stop) != ends:
            first, second = before.sequence[left_stop], after.sequence[right_stop]
            changes = _told(_node_changes(before, before.nodes[first], after, after.nodes[second]))
            yield Pairing("changed" if changes else "same", first, second, changes)
        left, right = left_stop + 1, right_stop + 1


def _keys(view: View) -> list[list[Hashable]]:
    """Four kinds of keys, in the order of the sequence: all that tells; without values; without planes; what is run."""
    ways = _chains([(origin.parent, origin.text) for origin in view.origins])
    phases = _chains([(phase.parent, phase.name) for phase in view.phases])
    kinds: list[list[Hashable]] = [[], [], [], []]
    for number in view.sequence:
        node = view.nodes[number]
        kernel = None if node.kernel is None else view.kernels[node.kernel].name
        runs = (node.kind, kernel, None if node.phase is None else phases[node.phase])
        way = None if node.origin is None else ways[node.origin]
        planes = tuple(written_planes(view, node))
        # The label of a fill has its value, that of a launch nothing more than the kernel.
        kinds[0].append((runs, way, planes, node.label))
        kinds[1].append((runs, way, planes))
        kinds[2].append((runs, way))
        kinds[3].append(runs)
    return kinds


def _chains(steps: Sequence[tuple[int | None, str]]) -> list[bytes]:
    """For each step a digest of its text and of all before it, so that long ways cost no more than short ones."""
    found: list[bytes] = []
    for parent, text in steps:
        digest = blake2b(b"" if parent is None else found[parent], digest_size=16)
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
        found.append(digest.digest())
    return found


def _node_changes(before: View, left: ViewNode, after: View, right: ViewNode) -> Iterator[str]:
    """What differs between two nodes, in words."""
    if left.kernel is not None and right.kernel is not None:
        old, new = before.kernels[left.kernel], after.kernels[right.kernel]
        yield from _differences(
            ("kernel", f"{old.name} ({old.file}, {old.symbol})", f"{new.name} ({new.file}, {new.symbol})"),
            ("constants", _settings(old.constants), _settings(new.constants)),
        )
    else:
        yield from _differences(("command", left.label, right.label))
    yield from _differences(
        ("phase", _phase(before, left), _phase(after, right)),
        ("grid", _sizes(left.grid), _sizes(right.grid)),
        ("block", _sizes(left.block), _sizes(right.block)),
        ("shared bytes", str(left.shared_bytes), str(right.shared_bytes)),
    )
    old_arguments = {argument.slot: argument_text(before, argument) for argument in left.arguments}
    new_arguments = {argument.slot: argument_text(after, argument) for argument in right.arguments}
    for slot in dict.fromkeys((*old_arguments, *new_arguments)):
        yield from _differences(("slot", old_arguments.get(slot, "none"), new_arguments.get(slot, "none")))
    if not left.arguments and not right.arguments:
        yield from _differences(("details", _details(left), _details(right)))


def _paired_planes(before: Sequence[ViewPlane], after: Sequence[ViewPlane]) -> Iterator[Pairing]:
    """Planes of the second graph in their order, then those that are gone. Of planes with one name, in order."""
    old: dict[str, list[int]] = {}
    for index, plane in enumerate(before):
        old.setdefault(plane.name, []).append(index)
    for places in old.values():
        places.reverse()
    for index, plane in enumerate(after):
        partners = old.get(plane.name)
        if not partners:
            yield Pairing("added", None, index)
            continue
        partner = partners.pop()
        changes = _told(_plane_changes(before[partner], plane))
        yield Pairing("changed" if changes else "same", partner, index, changes)
    for place in sorted(place for places in old.values() for place in places):
        yield Pairing("removed", place, None)


def _plane_changes(left: ViewPlane, right: ViewPlane) -> Iterator[str]:
    yield from _differences(
        ("element", str(left.element), str(right.element)),
        ("extent", _sizes(left.extent), _sizes(right.extent)),
        ("role", left.role, right.role),
        ("bytes", str(left.size_bytes), str(right.size_bytes)),
    )


def _differences(*facts: tuple[str, str, str]) -> Iterator[str]:
    for name, old, new in facts:
        if old != new:
            yield f"{name}: {old} → {new}"


def _told(changes: Iterator[str]) -> tuple[str, ...]:
    """Not more changes than anyone will read."""
    found = tuple(changes)
    more = len(found) - MOST_CHANGES
    return found if more <= 0 else (*found[:MOST_CHANGES], f"… and {more} more")


def _phase(view: View, node: ViewNode) -> str:
    return "none" if node.phase is None else view.phases[node.phase].title or view.phases[node.phase].name


def _sizes(sizes: Sequence[int] | None) -> str:
    return "unknown" if sizes is None else "×".join(map(str, sizes))


def _settings(settings: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings) or "none"


def _details(node: ViewNode) -> str:
    told = (f"{key} {text}" for key, text in node.details if not OF_A_PROCESS.search(key))
    return ", ".join(told) or "none"
