"""Whether the indices and numbers of a view make sense together.

Receives a view of the right types; a view without a wrong reference can be drawn without further checks. Cost linear
in the view.
"""

from collections.abc import Iterator, Sequence

from cgraph.view.model import Pairing, View


def first_wrong_reference(view: View) -> str | None:
    """What is wrong first, with its place, or None."""
    return next(_wrong(view), None)


def _wrong(view: View) -> Iterator[str]:
    yield from _wrong_trees(view)
    yield from _wrong_planes(view)
    yield from _wrong_nodes(view)
    yield from _wrong_order(view)
    yield from _wrong_comparison(view)


def _outside(index: int | None, sequence: Sequence[object], what: str) -> Iterator[str]:
    if index is not None and not 0 <= index < len(sequence):
        yield f"{what}: {index} is not below {len(sequence)}"


def _negative(what: str, *numbers: float | None) -> Iterator[str]:
    for number in numbers:
        if number is not None and number < 0:
            yield f"{what}: {number} is negative"


def _wrong_trees(view: View) -> Iterator[str]:
    for place, origin in enumerate(view.origins):
        if origin.parent is not None and not 0 <= origin.parent < place:
            yield f"origins[{place}].parent: {origin.parent} is not a smaller index"
        yield from _outside(origin.source, view.sources, f"origins[{place}].source")
        start, stop = (origin.start_line, origin.start_column), (origin.stop_line, origin.stop_column)
        if min(*start, *stop) < 1 or stop < start:
            yield f"origins[{place}]: lines and columns count from 1, and the stop is not before the start"
    for place, phase in enumerate(view.phases):
        if phase.parent is not None and not 0 <= phase.parent < place:
            yield f"phases[{place}].parent: {phase.parent} is not a smaller index"


def _wrong_planes(view: View) -> Iterator[str]:
    for place, plane in enumerate(view.planes):
        what = f"planes[{place}]"
        yield from _negative(what, plane.size_bytes, plane.offset, *(plane.extent or ()))
        yield from _outside(plane.gradient_of, view.planes, f"{what}.gradient_of")
        yield from _outside(plane.origin, view.origins, f"{what}.origin")
    for place, lifetime in enumerate(view.lifetimes):
        yield from _outside(lifetime.plane, view.planes, f"lifetimes[{place}].plane")
        if not 0 <= lifetime.first <= lifetime.last < len(view.nodes):
            yield f"lifetimes[{place}]: {lifetime.first} to {lifetime.last} are no positions in the sequence"


def _wrong_nodes(view: View) -> Iterator[str]:
    for place, node in enumerate(view.nodes):
        what = f"nodes[{place}]"
        yield from _outside(node.phase, view.phases, f"{what}.phase")
        yield from _outside(node.kernel, view.kernels, f"{what}.kernel")
        yield from _outside(node.origin, view.origins, f"{what}.origin")
        for body in node.body:
            yield from _outside(body, view.phases, f"{what}.body")
        for argument in node.arguments:
            yield from _outside(argument.plane, view.planes, f"{what}.arguments")
            yield from _negative(f"{what}.arguments", argument.offset_bytes, *(argument.extent or ()))
        for access in node.accesses:
            yield from _outside(access.plane, view.planes, f"{what}.accesses")
            if not 0 <= access.start <= access.stop:
                yield f"{what}.accesses: {access.start} to {access.stop} are no bytes"
        yield from _negative(what, *(node.grid or ()), *(node.block or ()), node.shared_bytes, node.read_bytes)
        yield from _negative(what, node.written_bytes, node.operations, node.cost_us, node.elapsed_ms)


def _wrong_order(view: View) -> Iterator[str]:
    count = len(view.nodes)
    if sorted(view.sequence) != list(range(count)):
        yield "sequence: it does not name each node once"
        return
    positions = [0] * count
    for position, node in enumerate(view.sequence):
        positions[node] = position
    for place, edge in enumerate(view.edges):
        for node in (edge.before, edge.after):
            yield from _outside(node, view.nodes, f"edges[{place}]")
        yield from _outside(edge.plane, view.planes, f"edges[{place}].plane")
        yield from _negative(f"edges[{place}]", edge.start, edge.stop, edge.count)
        if max(edge.before, edge.after) < count and positions[edge.before] >= positions[edge.after]:
            yield f"edges[{place}]: node {edge.before} does not stand before node {edge.after} in the sequence"
    for node in view.critical_path:
        yield from _outside(node, view.nodes, "critical_path")
    for place, note in enumerate(view.notes):
        yield from _outside(note.node, view.nodes, f"notes[{place}].node")


def _wrong_comparison(view: View) -> Iterator[str]:
    comparison = view.comparison
    if comparison is None:
        return
    if comparison.other.comparison is not None:
        yield "comparison.other.comparison: it must be null"
        return
    yield from (f"comparison.other.{wrong}" for wrong in _wrong(comparison.other))
    yield from _wrong_pairs("nodes", comparison.nodes, comparison.other.nodes, view.nodes)
    yield from _wrong_pairs("planes", comparison.planes, comparison.other.planes, view.planes)


def _wrong_pairs(what: str, pairs: Sequence[Pairing], left: Sequence[object], right: Sequence[object]) -> Iterator[str]:
    for place, pair in enumerate(pairs):
        yield from _outside(pair.left, left, f"comparison.{what}[{place}].left")
        yield from _outside(pair.right, right, f"comparison.{what}[{place}].right")
        if (pair.left is None) is not (pair.status == "added") or (pair.right is None) is not (
            pair.status == "removed"
        ):
            yield f"comparison.{what}[{place}]: {pair.status} does not go with its sides"
