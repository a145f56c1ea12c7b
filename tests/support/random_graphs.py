"""Random graphs of fills, copies and launches over parts of a few planes, and brute-force facts about them."""

from collections.abc import Iterable
from random import Random

from hypothesis import strategies as st

from cgraph.core.roles import AccessMode, Role
from cgraph.graph.model import Access, CommandGraph
from tests.support.graphs import GraphMaker

MAX_ELEMENTS = 9


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 14, max_planes: int = 4, movable: bool = False) -> CommandGraph:
    """A graph whose commands touch random parts, in random nested phases.

    With `movable`, every command is a fill or a copy between parts of equal size that do not overlap, so that it can
    be run, and no byte is read before it is written.
    """
    maker = GraphMaker()
    sizes = draw(st.lists(st.integers(1, MAX_ELEMENTS), min_size=1, max_size=max_planes))
    for number, size in enumerate(sizes):
        role = Role.SCRATCH if draw(st.integers(0, 3)) else Role.SAVED
        maker.plane(f"p {number}", size, role)
    seed = Random(draw(st.integers(0, 2**32)))  # noqa: S311  (reproducible choices, nothing secret)
    written = [[False] * size for size in sizes]
    count = draw(st.integers(0, max_nodes))
    while count:
        run = min(count, seed.randint(1, 4))
        count -= run
        if seed.random() < 0.7:
            with maker.phase(f"run{count}"):
                if seed.random() < 0.4:
                    with maker.phase("inner"):
                        _commands(maker, sizes, written, seed, run, movable=movable)
                else:
                    _commands(maker, sizes, written, seed, run, movable=movable)
        else:
            _commands(maker, sizes, written, seed, run, movable=movable)
    return maker.graph()


def reachable(predecessors: Iterable[Iterable[int]]) -> list[set[int]]:
    """For each node, all nodes with a path to it."""
    ancestors: list[set[int]] = []
    for direct in predecessors:
        before = set(direct)
        for node in direct:
            before |= ancestors[node]
        ancestors.append(before)
    return ancestors


def conflicting_pairs(graph: CommandGraph) -> set[tuple[int, int]]:
    """Every two nodes of which one writes a byte that the other touches, by trying all bytes of all pairs."""
    reads, writes = [], []
    for node in graph.nodes:
        reads.append({key for access in node.accesses if access.mode.reads for key in _bytes(access)})
        writes.append({key for access in node.accesses if access.mode.writes for key in _bytes(access)})
    return {
        (first, second)
        for second in range(len(graph.nodes))
        for first in range(second)
        if writes[first] & (reads[second] | writes[second]) or reads[first] & writes[second]
    }


def random_extension(predecessors: list[tuple[int, ...]], seed: Random) -> list[int]:
    """The nodes in a random order that the partial order allows."""
    waiting = [set(direct) for direct in predecessors]
    left = set(range(len(predecessors)))
    order = []
    while left:
        node = seed.choice(sorted(node for node in left if not waiting[node] & left))
        left.remove(node)
        order.append(node)
    return order


def _bytes(access: Access) -> list[tuple[int, int]]:
    return [(access.plane, byte) for byte in range(access.start, access.stop)]


def _commands(
    maker: GraphMaker, sizes: list[int], written: list[list[bool]], seed: Random, count: int, *, movable: bool
) -> None:
    for _ in range(count):
        if movable:
            _movable_command(maker, sizes, written, seed)
            continue
        accesses = [_random_part(maker, sizes, seed, seed.choice(list(AccessMode))) for _ in range(seed.randint(0, 3))]
        if not accesses:
            maker.join()
        else:
            maker.launch(*accesses)


def _movable_command(maker: GraphMaker, sizes: list[int], written: list[list[bool]], seed: Random) -> None:
    target = seed.randrange(len(sizes))
    start = seed.randrange(sizes[target])
    stop = seed.randint(start + 1, sizes[target])
    length = stop - start
    places = [
        (plane, first)
        for plane, size in enumerate(sizes)
        for first in range(size - length + 1)
        if all(written[plane][first : first + length]) and (plane != target or first + length <= start or stop <= first)
    ]
    if places and seed.random() < 0.8:
        plane, first = seed.choice(places)
        maker.copy(maker.write(target, start, stop), maker.read(plane, first, first + length))
    else:
        maker.fill(target, start, stop, float(seed.randint(1, 250)))
    written[target][start:stop] = [True] * length


def _random_part(maker: GraphMaker, sizes: list[int], seed: Random, mode: AccessMode) -> Access:
    plane = seed.randrange(len(sizes))
    start = seed.randint(0, sizes[plane])
    return maker.part(plane, mode, start, seed.randint(start, sizes[plane]))
