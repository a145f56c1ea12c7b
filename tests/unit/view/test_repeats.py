"""What stands several times in a row: by hand, and by laws with random ones."""

import numpy as np
import pytest

from cgraph.view.repeats import Run, find_repeats


def runs(text: str) -> list[tuple[str, int]]:
    return [(text[run.start : run.start + run.length], run.times) for run in find_repeats([ord(c) for c in text])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", [("a", 1)]),
        ("aaa", [("a", 3)]),
        ("abab", [("ab", 2)]),
        ("xababy", [("x", 1), ("ab", 2), ("y", 1)]),
        ("aabaab", [("aab", 2)]),
        ("abcabcab", [("abc", 2), ("a", 1), ("b", 1)]),
        ("abcabd", [("a", 1), ("b", 1), ("c", 1), ("a", 1), ("b", 1), ("d", 1)]),
        ("aaaaaaab", [("a", 7), ("b", 1)]),
    ],
)
def test_repeats_by_hand(text: str, expected: list[tuple[str, int]]) -> None:
    assert runs(text) == expected


@pytest.mark.parametrize("seed", range(200))
def test_runs_are_the_sequence_and_say_what_stands_there(seed: int) -> None:
    chance = np.random.default_rng(seed)
    keys = chance.integers(1 + seed % 3, size=chance.integers(30)).tolist()
    place = 0
    for run in find_repeats(keys):
        assert run.start == place
        block = keys[place : place + run.length]
        assert keys[place : place + run.length * run.times] == block * run.times
        after = place + run.length * run.times
        assert run.times == 1 or keys[after : after + run.length] != block
        place = after
    assert place == len(keys)


def test_a_long_sequence_of_long_blocks() -> None:
    block = list(range(2000))
    assert list(find_repeats(block * 50)) == [Run(0, 2000, 50)]
    nearly = [key for layer in range(50) for key in (*block, -layer - 1)]
    assert all(run.times == 1 for run in find_repeats(nearly))
