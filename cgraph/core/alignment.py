"""Pairs up two sequences that share most of their items, in order.

Receives keys, from the most telling kind to the least; guarantees that pairs do not cross. Cost n log n for each kind.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]


def align(left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]]) -> list[Pair]:
    """Pairs of indices, ascending on both sides.

    The longest run of items with equal keys of the first kind is paired, an item that comes again with the one that
    comes again for as many times; then in each gap between pairs the same by the next kind.

    Args:
        left: for each kind of key, the key of each item.
        right: the same of the other sequence, as many kinds.
    """
    pairs: list[Pair] = []
    for left_keys, right_keys in zip(left, right, strict=True):
        gaps = pairwise([(-1, -1), *pairs, (len(left_keys), len(right_keys))])
        found = [
            pair
            for (start, other_start), (stop, other_stop) in gaps
            for pair in _paired(left_keys, right_keys, range(start + 1, stop), range(other_start + 1, other_stop))
        ]
        pairs = sorted(pairs + found)
    return pairs


def _paired(left_keys: Sequence[Hashable], right_keys: Sequence[Hashable], left: range, right: range) -> Iterator[Pair]:
    """The longest pairing without crossings of items with equal keys, each key's n-th item with its n-th."""
    if not left or not right:
        return
    places = {key: place for place, key in _numbered(right_keys, right)}
    both = [(place, places[key]) for place, key in _numbered(left_keys, left) if key in places]
    ends: list[int] = []  # the right place that ends the best run of each length
    last: list[int] = []  # the pair that it belongs to
    before: list[int | None] = []
    for number, (_, place) in enumerate(both):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        if length == len(ends):
            ends.append(place)
            last.append(number)
        else:
            ends[length], last[length] = place, number
    step = last[-1] if last else None
    run = []
    while step is not None:
        run.append(both[step])
        step = before[step]
    yield from reversed(run)


def _numbered(keys: Sequence[Hashable], places: range) -> Iterator[tuple[int, tuple[Hashable, int]]]:
    """Each place with its key and how many times that has come before."""
    seen: Counter[Hashable] = Counter()
    for place in places:
        yield place, (keys[place], seen[keys[place]])
        seen[keys[place]] += 1
