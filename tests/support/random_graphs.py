"""Random graphs of fills, copies and launches over parts of a few planes, and brute-force facts about them."""

from collections.abc import Iterable
from contextlib import nullcontext
from random import Random

from attrs import define, field
from hypothesis import strategies as st

from cgraph.core.roles import AccessMode, Role
from cgraph.graph.model import Access, CommandGraph
from tests.support.graphs import GraphMaker

MAX_ELEMENTS = 9


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 14, max_planes: int = 4, movable: bool = False) -> CommandGraph:
    """A graph whose commands touch random parts, in random nested phases.

    In half of the graphs each command touches only a few neighbouring planes, later commands later planes, so that
    planes have lives that begin and end. With `movable`, every command is a fill or a copy between parts of equal size
    that do not overlap, so that it can be run, and no byte is read before it is written.
    """
    maker = GraphMaker()
    sizes = draw(st.lists(st.integers(1, MAX_ELEMENTS), min_size=1, max_size=max_planes))
    for number, size in enumerate(sizes):
        role = Role.SCRATCH if draw(st.integers(0, 3)) else Role.SAVED
        maker.plane(f"p {number}", size, role)
    seed = Random(draw(st.integers(0, 2**32)))  # noqa: S311  (reproducible choices, nothing secret)
    commands = _Commands(maker, sizes, seed, draw(st.integers(0, max_nodes)), movable, draw(st.booleans()))
    while commands.left:
        with maker.phase("run") if seed.random() < 0.7 else nullcontext():
            commands.add(seed.randint(0, 3))
            with maker.phase("inner") if seed.random() < 0.4 else nullcontext():
                commands.add(seed.randint(0, 3))
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


@define
class _Commands:
    """Adds random commands to a graph, until none are left."""

    maker: GraphMaker
    sizes: list[int]
    seed: Random
    left: int
    movable: bool
    drifts: bool
    written: set[tuple[int, int]] = field(factory=set)
    total: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.total = self.left

    def add(self, count: int) -> None:
        for _ in range(min(count, self.left)):
            if self.movable:
                self._add_movable()
            else:
                modes = self.seed.choices(list(AccessMode), k=self.seed.randint(0, 3))
                accesses = [self._part(mode) for mode in modes]
                if accesses:
                    self.maker.launch(*accesses)
                else:
                    self.maker.join()
            self.left -= 1

    def _planes(self) -> list[int]:
        """The planes that the next command may touch."""
        planes = list(range(len(self.sizes)))
        if not self.drifts:
            return planes
        first = len(planes) * (self.total - self.left) // self.total
        return planes[max(0, first - 1) : first + 3]

    def _part(self, mode: AccessMode) -> Access:
        plane = self.seed.choice(self._planes())
        size = self.sizes[plane]
        if self.seed.random() < 0.5:
            return self.maker.part(plane, mode)
        start = self.seed.randint(0, size)
        return self.maker.part(plane, mode, start, self.seed.randint(start, size))

    def _add_movable(self) -> None:
        seed, maker = self.seed, self.maker
        planes = self._planes()
        target = seed.choice(planes)
        start = seed.randrange(self.sizes[target])
        stop = seed.randint(start + 1, self.sizes[target])
        length = stop - start
        places = [
            (plane, first)
            for plane in planes
            for first in range(self.sizes[plane] - length + 1)
            if all((plane, first + step) in self.written for step in range(length))
            and (plane != target or first + length <= start or stop <= first)
        ]
        if places and seed.random() < 0.8:
            plane, first = seed.choice(places)
            maker.copy(maker.write(target, start, stop), maker.read(plane, first, first + length))
        else:
            maker.fill(target, start, stop, float(seed.randint(1, 250)))
        self.written |= {(target, element) for element in range(start, stop)}
