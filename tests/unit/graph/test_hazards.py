"""Hazards are the nearest dependencies, byte by byte."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.graph.hazards import Hazard, HazardKind, find_hazards
from cgraph.graph.intervals import LastWriters, Readers
from cgraph.graph.model import CommandGraph
from tests.support.graphs import GraphMaker
from tests.support.random_graphs import graphs

RAW, WAR, WAW = HazardKind.READ_AFTER_WRITE, HazardKind.WRITE_AFTER_READ, HazardKind.WRITE_AFTER_WRITE


def test_a_reader_waits_for_the_last_writer_only() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 8), maker.plane("b", 8)
    maker.fill(a)
    maker.fill(a)
    maker.copy(maker.write(b), maker.read(a))
    assert find_hazards(maker.graph()) == (Hazard(WAW, 0, 1, a, 0, 32), Hazard(RAW, 1, 2, a, 0, 32))


def test_a_writer_waits_for_the_readers_and_not_for_the_writer_behind_them() -> None:
    maker = GraphMaker()
    a, b, c = maker.plane("a", 8), maker.plane("b", 8), maker.plane("c", 8)
    maker.fill(a)
    maker.copy(maker.write(b), maker.read(a))
    maker.copy(maker.write(c), maker.read(a))
    maker.fill(a)
    assert [hazard[:3] for hazard in find_hazards(maker.graph()) if hazard.after == 3] == [(WAR, 1, 3), (WAR, 2, 3)]


def test_a_part_that_nobody_read_waits_for_its_writer() -> None:
    maker = GraphMaker()
    a, b = maker.plane("a", 8), maker.plane("b", 8)
    maker.fill(a)
    maker.copy(maker.write(b, 0, 3), maker.read(a, 2, 5))
    maker.fill(a)
    assert [hazard for hazard in find_hazards(maker.graph()) if hazard.after == 2] == [
        Hazard(WAW, 0, 2, a, 0, 8),
        Hazard(WAW, 0, 2, a, 20, 32),
        Hazard(WAR, 1, 2, a, 8, 20),
    ]


def test_parts_that_only_touch_do_not_wait() -> None:
    maker = GraphMaker()
    a = maker.plane("a", 8)
    maker.fill(a, 0, 4)
    maker.fill(a, 4, 8)
    assert find_hazards(maker.graph()) == ()


def test_a_node_does_not_depend_on_itself() -> None:
    maker = GraphMaker()
    a = maker.plane("a", 8)
    maker.fill(a)
    maker.launch(maker.accumulate(a))
    maker.launch(maker.write(a), maker.read(a), aliases={0: (1,)})
    assert [hazard[:3] for hazard in find_hazards(maker.graph())] == [(RAW, 0, 1), (RAW, 1, 2)]


def _by_bytes(graph: CommandGraph) -> set[tuple[HazardKind, int, int, int, int]]:
    """(kind, before, after, plane, byte) by keeping the last writer and the readers since of every single byte."""
    writer: dict[tuple[int, int], int] = {}
    readers: dict[tuple[int, int], set[int]] = {}
    found = set()
    for node in graph.nodes:
        n = node.index
        for access in node.accesses:
            if access.mode.reads:
                for byte in range(access.start, access.stop):
                    key = (access.plane, byte)
                    if key in writer:
                        found.add((RAW, writer[key], n, *key))
                    readers.setdefault(key, set()).add(n)
        for access in node.accesses:
            if access.mode.writes:
                for byte in range(access.start, access.stop):
                    key = (access.plane, byte)
                    since = readers.pop(key, set())
                    found |= {(WAR, reader, n, *key) for reader in since - {n}}
                    if not since and writer.get(key, n) != n:
                        found.add((WAW, writer[key], n, *key))
                    writer[key] = n
    return found


@settings(max_examples=300)
@given(graphs(max_nodes=20))
def test_hazards_are_those_of_the_single_bytes(graph: CommandGraph) -> None:
    hazards = find_hazards(graph)
    expanded = [
        (hazard.kind, hazard.before, hazard.after, hazard.plane, byte)
        for hazard in hazards
        for byte in range(hazard.start, hazard.stop)
    ]
    assert len(set(expanded)) == len(expanded)
    assert set(expanded) == _by_bytes(graph)
    keys = [(hazard.after, hazard.before, hazard.plane, hazard.start) for hazard in hazards]
    assert keys == sorted(keys)


PARTS = 2100  # five words of the tiling's bits
RANGES = st.tuples(st.integers(0, PARTS - 1), st.integers(1, PARTS)).map(lambda at: (at[0], min(sum(at), PARTS)))


@settings(max_examples=100, deadline=None)
@given(st.lists(RANGES, max_size=12))
def test_the_tiling_knows_the_last_writer_of_every_part(writes: list[tuple[int, int]]) -> None:
    tiling, plain = LastWriters(PARTS), [-1] * PARTS
    for node, (start, stop) in enumerate(writes):
        tiling.write(start, stop, node)
        plain[start:stop] = [node] * (stop - start)
        for part in range(0, PARTS, 50):
            assert tiling.joined(part, part + 1) == [(plain[part], part, part + 1)] * (plain[part] >= 0)
    told = [-1] * PARTS
    for writer, start, stop in tiling.joined(0, PARTS):
        told[start:stop] = [writer] * (stop - start)
    assert told == plain


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), RANGES), max_size=30))
def test_the_readers_of_a_range_are_taken_once(steps: list[tuple[bool, tuple[int, int]]]) -> None:
    tree, plain = Readers(PARTS), [set[int]() for _ in range(PARTS)]
    for node, (adds, (start, stop)) in enumerate(steps):
        if adds:
            tree.add(start, stop, node)
            for part in plain[start:stop]:
                part.add(node)
        else:
            taken = tree.take(start, stop)
            assert {(reader, part) for reader, first, end in taken for part in range(first, end)} == {
                (reader, part) for part in range(start, stop) for reader in plain[part]
            }
            assert taken == sorted(taken)
            for part in plain[start:stop]:
                part.clear()
