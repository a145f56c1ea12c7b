"""Puts blocks that conflict pairwise, or not, into one arena.

Receives sizes and conflicts; guarantees that conflicting blocks share no byte. Offsets are sums of sizes, so they keep
whatever alignment all sizes have. A best arena is NP-hard to find; this is best fit, one block after the other.
"""

from collections.abc import Sequence

import numpy as np

from cgraph.memory.bitsets import unpacked


def place_blocks(sizes_bytes: Sequence[int], conflicts: Sequence[int], turn: Sequence[int]) -> tuple[list[int], int]:
    """Offsets of all blocks and the size of the arena, in bytes.

    Args:
        sizes_bytes: of each block, positive.
        conflicts: for each block, as bits, the blocks that it must not share bytes with; symmetric.
        turn: every block once, in the order in which they are placed.

    Each block goes into the smallest gap between the conflicting blocks placed so far that holds it, else above them.
    """
    count = len(sizes_bytes)
    placed = np.zeros(count, np.int64)  # blocks by ascending offset; the first `done` are set
    offsets, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)  # by block
    for done, block in enumerate(turn):
        size = sizes_bytes[block]
        others = placed[:done]
        others = others[unpacked(conflicts[block], count)[others] != 0]
        reached = np.zeros(len(others) + 1, np.int64)  # the end of all conflicting blocks below each gap
        np.maximum.accumulate(ends[others], out=reached[1:])
        gaps = offsets[others] - reached[:-1]
        fitting = np.flatnonzero(gaps >= size)
        offset = reached[fitting[gaps[fitting].argmin()]] if len(fitting) else reached[-1]
        place = int(np.searchsorted(offsets[placed[:done]], offset))
        placed[place + 1 : done + 1] = placed[place:done].copy()
        placed[place] = block
        offsets[block], ends[block] = offset, offset + size
    return offsets.tolist(), int(ends.max(initial=0))
