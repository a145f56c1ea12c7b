"""Copies to shared memory that are under way: each waits in its thread's group until the thread waits for it.

Receives copies with the bytes that they read; guarantees that the bytes arrive when the group is waited for, or when
its thread ends, and not before: a kernel that forgets to wait reads what was there.
"""

import numpy as np
from attrs import define

from cgraph.emulator.machine.arrays import Array


@define(eq=False)
class Copy:
    """Copies of one size that are under way.

    Args:
        lanes: who copies; groups: the number of each lane's group.
        positions: byte positions in the shared memory of the wave; data: rows of bytes.
        origin: the instruction, for reports.
    """

    lanes: Array
    groups: Array
    positions: Array
    data: Array
    origin: object


class PendingCopies:
    """The copies of one wave."""

    def __init__(self, count: int) -> None:
        self._committed = np.zeros(count, np.int64)
        self._copies: list[Copy] = []

    def add(self, lanes: Array, positions: Array, data: Array, origin: object) -> None:
        """Starts copies, in the open group of each lane."""
        self._copies.append(Copy(lanes, self._committed[lanes], positions, data, origin))

    def commit(self, lanes: Array) -> None:
        """Closes the open group of each lane."""
        self._committed[lanes] += 1

    def finish(self, lanes: Array, keep: int | None) -> list[Copy]:
        """Takes out what has to be done before the lanes go on, oldest first.

        Args:
            lanes: who waits.
            keep: how many of its latest closed groups each lane leaves under way; None waits for all, open ones too.
        """
        if not self._copies:
            return []
        waits = np.zeros(len(self._committed), bool)
        waits[lanes] = True
        done: list[Copy] = []
        left: list[Copy] = []
        for copy in self._copies:
            ends = waits[copy.lanes]
            if keep is not None:
                ends &= copy.groups < self._committed[copy.lanes] - keep
            if ends.all():
                done.append(copy)
            elif not ends.any():
                left.append(copy)
            else:
                done.append(_part(copy, ends))
                left.append(_part(copy, ~ends))
        self._copies = left
        return done


def _part(copy: Copy, chosen: Array) -> Copy:
    return Copy(copy.lanes[chosen], copy.groups[chosen], copy.positions[chosen], copy.data[chosen], copy.origin)
