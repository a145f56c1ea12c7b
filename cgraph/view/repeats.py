"""Finds what stands several times in a row in a sequence, as the layers of a model do.

Receives keys, equal where two entries are alike; guarantees runs that together are the sequence, in order. Work grows
with the length of the sequence: blocks are compared by running sums, and few periods are tried at each place.
"""

from collections.abc import Iterator, Sequence

from attrs import frozen

TRIED_PERIODS = 8
_MODULUS = (1 << 61) - 1  # a prime: two blocks that differ have equal sums once in 2^61 / length
_BASE = 0x1F3D_5B79_9AC1


@frozen
class Run:
    """`length` entries from `start`, which stand there `times` times in a row."""

    start: int
    length: int
    times: int


def find_repeats(keys: Sequence[int]) -> Iterator[Run]:
    """The sequence as runs. Of several periods at one place that is taken which covers most, then the shortest.

    Entries that are not repeated are runs of length 1, once. What repeats inside a block is left to a second call.
    """
    following = _next_places(keys)
    sums, powers = _running_sums(keys)

    def alike(first: int, second: int, length: int) -> bool:
        if second + length > len(keys):
            return False
        shift = powers[length]
        one = (sums[first + length] - sums[first] * shift) % _MODULUS
        return one == (sums[second + length] - sums[second] * shift) % _MODULUS

    start = 0
    while start < len(keys):
        best = Run(start, 1, 1)
        other = start
        for _ in range(TRIED_PERIODS):
            other = following[other]
            if other == len(keys):
                break
            period = other - start
            times = 1
            while alike(start, start + times * period, period):
                times += 1
            if times > 1 and times * period > best.length * best.times:
                best = Run(start, period, times)
        yield best
        start += best.length * best.times


def _next_places(keys: Sequence[int]) -> list[int]:
    """For each entry where the next one like it stands, the sequence's length where there is none."""
    found = [len(keys)] * len(keys)
    last: dict[int, int] = {}
    for place in range(len(keys) - 1, -1, -1):
        found[place] = last.get(keys[place], len(keys))
        last[keys[place]] = place
    return found


def _running_sums(keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Polynomial sums of all beginnings, and powers of their base: by two of them any block's sum is known."""
    sums, powers = [0], [1]
    for key in keys:
        sums.append((sums[-1] * _BASE + key + 1) % _MODULUS)
        powers.append(powers[-1] * _BASE % _MODULUS)
    return sums, powers
