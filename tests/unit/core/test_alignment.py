"""Alignment of two sequences: by hand, and against the longest common subsequence."""

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgraph.core.alignment import align


@pytest.mark.parametrize(
    ("left", "right", "pairs"),
    [
        ("", "", []),
        ("abc", "", []),
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)]),
        ("abc", "axbc", [(0, 0), (1, 2), (2, 3)]),
        ("axbc", "abc", [(0, 0), (2, 1), (3, 2)]),
        ("aab", "ab", [(0, 0), (2, 1)]),
        ("abcd", "bcda", [(1, 0), (2, 1), (3, 2)]),
    ],
)
def test_one_kind_of_key(left: str, right: str, pairs: list[tuple[int, int]]) -> None:
    assert align([left], [right]) == pairs


def test_a_lesser_key_fills_the_gaps() -> None:
    assert align(["aXbYc", "12345"], ["aPbQc", "12x45"]) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    assert align(["aXb", "1n2"], ["aPQb", "1mn2"]) == [(0, 0), (1, 2), (2, 3)]


@given(st.lists(st.integers(0, 30), unique=True, max_size=10), st.lists(st.integers(0, 30), unique=True, max_size=10))
def test_distinct_keys_give_a_longest_common_subsequence(left: list[int], right: list[int]) -> None:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return 0
        if left[i] == right[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    pairs = align([left], [right])
    assert len(pairs) == longest(0, 0)
    assert all(left[i] == right[j] for i, j in pairs)


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_pairs_never_cross_and_leave_no_gap_with_both_sides(left: str, right: str) -> None:
    pairs = align([left, "x" * len(left)], [right, "x" * len(right)])
    ends = [(-1, -1), *pairs, (len(left), len(right))]
    for (start, other_start), (stop, other_stop) in pairwise(ends):
        assert start < stop
        assert other_start < other_stop
        assert stop - start == 1 or other_stop - other_start == 1  # by the second key all are alike
