"""Loss curves as text: where the dots are, by their Unicode definition."""

import math
import unicodedata

import pytest

from cgraph.cli.curves import text_curves


def dots(lines: list[str], height: int) -> set[tuple[int, int]]:
    """Rows and columns of all braille dots. Braille dots 1 to 8 stand for the bits 0 to 7 of the character."""
    places = ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1))
    found = set()
    for row, line in enumerate(lines[:height]):
        for column, character in enumerate(line.partition("┤")[2]):
            code = ord(character) - 0x2800
            if 0 < code < 256:
                found |= {
                    (4 * row + down, 2 * column + across)
                    for bit, (down, across) in enumerate(places)
                    if code >> bit & 1
                }
    return found


def test_a_falling_line_falls_from_corner_to_corner() -> None:
    lines = text_curves([float(100 - step) for step in range(100)], [], "nats per byte", width=60, height=10)
    found = dots(lines, 10)
    assert min(found)[0] == 0
    assert max(found)[0] == 39
    assert {column for _, column in found} == set(range(100))
    tops = [min(row for row, column in found if column == place) for place in range(100)]
    assert tops == sorted(tops)
    assert lines[0].startswith(" 100.000 ┤")
    assert lines[9].startswith("   1.000 ┤")
    assert lines[-1] == "loss in nats per byte, of each step"
    assert lines[-2].endswith("100")


def test_evaluations_are_marked_at_their_step_and_value() -> None:
    lines = text_curves([4.0] * 50 + [2.0] * 50, [(1, 4.0), (100, 2.0)], "nats per byte", width=60, height=10)
    assert lines[0].partition("┤")[2][0] == "●"
    assert lines[9].partition("┤")[2][49] == "●"
    assert sum(line.count("●") for line in lines[:10]) == 2
    assert "● of the evaluation" in lines[-1]


@pytest.mark.parametrize("count", [1, 2, 3, 99, 100, 101, 5000])
@pytest.mark.parametrize("evaluated", [False, True])
def test_any_number_of_steps(count: int, evaluated: bool) -> None:
    losses = [3 + math.sin(step) for step in range(count)]
    lines = text_curves(losses, [(count, 3.0)] if evaluated else [], "nats per byte", width=60, height=10)
    assert len(lines) == 13
    assert all(len(line) <= 60 for line in lines[:-1])
    assert all(unicodedata.east_asian_width(character) != "W" for line in lines for character in line)


def test_one_value_lies_in_the_middle() -> None:
    found = dots(text_curves([2.5] * 10, [], "nats per byte", width=60, height=10), 10)
    assert {row for row, _ in found} <= {19, 20}
