"""Byte maps against sets of bytes, and effects against what a command declares and others did."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgraph.emulator.sanitizer.byte_maps import ByteMap
from cgraph.emulator.sanitizer.effects import Effect, Territory

SIZES = (1, 2, 4, 8, 16)
EXTENT = 70


@st.composite
def accesses(draw: st.DrawFn) -> tuple[list[int], int]:
    """Positions of accesses of one size inside the extent, aligned where the size is a power of two."""
    size = draw(st.sampled_from((*SIZES, 3, 12)))
    step = size if size in SIZES else 1
    places = st.integers(0, (EXTENT - size) // step)
    return [place * step for place in draw(st.lists(places, min_size=1, max_size=6))], size


@given(st.lists(accesses(), max_size=4), accesses(), st.integers(-80, 80))
def test_a_map_is_a_set_of_bytes(
    marked: list[tuple[list[int], int]], asked: tuple[list[int], int], moved_bytes: int
) -> None:
    found, expected = ByteMap(EXTENT), set[int]()
    for positions, size in marked:
        found.mark(np.array(positions), size)
        expected.update(position + byte for position in positions for byte in range(size))
    assert set(np.flatnonzero(found.marked(0, EXTENT)).tolist()) == expected
    positions, size = asked
    inside = [sum(position + byte in expected for byte in range(size)) for position in positions]
    assert found.touching(np.array(positions), size).tolist() == [count > 0 for count in inside]
    assert found.leaving(np.array(positions), size).tolist() == [count < size for count in inside]
    moved = ByteMap(EXTENT)
    moved.add_packed(found.packed(), moved_bytes)
    kept = {byte + moved_bytes for byte in expected if 0 <= byte + moved_bytes < EXTENT}
    assert set(np.flatnonzero(moved.marked(0, EXTENT)).tolist()) == kept


def _found(territory: Territory, *positions: int, writes: bool, size: int = 4) -> dict[Effect, list[int]]:
    note = territory.note_write if writes else territory.note_read
    return {effect: wrong.tolist() for effect, wrong in note(np.array(positions), size) if len(wrong)}


def test_a_command_keeps_within_what_it_declares() -> None:
    territory = Territory(64, readable=((0, 16), (32, 48)), writable=((16, 32),))
    assert _found(territory, 0, 12, writes=False) == {}
    # In two ranges at once, and beyond them.
    assert _found(territory, 0, 32, 44, writes=False) == {}
    assert _found(territory, 12, 16, 48, writes=False) == {Effect.UNDECLARED: [1, 2]}
    assert _found(territory, 14, writes=False) == {Effect.UNDECLARED: [0]}
    assert _found(territory, 28, 32, writes=True) == {Effect.UNDECLARED: [1]}


def test_a_command_may_read_what_it_wrote() -> None:
    territory = Territory(64, readable=(), writable=((0, 64),))
    assert _found(territory, 8, writes=False) == {Effect.UNDECLARED: [0]}
    assert _found(territory, 8, writes=True) == {}
    assert _found(territory, 8, writes=False) == {}
    assert _found(territory, 8, 12, writes=False) == {Effect.UNDECLARED: [1]}


@pytest.mark.parametrize(("writes", "at"), [(False, [1]), (True, [0, 1])])
def test_two_reads_are_no_race_and_all_else_is(writes: bool, at: list[int]) -> None:
    read, written = ByteMap(64), ByteMap(64)
    read.mark_range(0, 8)
    written.mark_range(8, 16)
    territory = Territory(64, None, None, read, written)
    found = [wrong for effect, wrong in (territory.note_write if writes else territory.note_read)(np.array([4, 8]), 4)]
    assert sorted({int(place) for wrong in found for place in wrong}) == at
    assert _found(territory, 16, writes=writes) == {}
