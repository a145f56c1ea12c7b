"""Races in shared memory: two threads of a block, the same bytes, one of them writing, no barrier between.

Time counts barriers. Each granule keeps who wrote it last and who read it since, and when. An access is in order with
an earlier one by the same thread, by one before the thread's last barrier of the block, and by one of the same warp
before the last barrier of the warp. A barrier of part of a block is taken as one of all its threads: races that only
it hides are not seen.
"""

from typing import Any

import numpy as np

from cgraph.emulator.machine.arrays import S64, WARP_LANES, Array
from cgraph.emulator.sanitizer.granules import Shadow, by_granule, per_access

# A number is time · 2^16 + who: a thread, with a flag for atomic writers; or several readers of a warp or a block.
WHO_BITS = 16
_WHO = (1 << WHO_BITS) - 1
ATOMIC = 0x4000
_OF_WARP = 0x8000
_OF_BLOCK = 0xFFFF
_THREAD = 0x3FFF
FIRST_GRANULE_BYTES = 16


class SharedRaces:
    """The shared memory of one wave.

    Args:
        wave: whose lanes access it.
    """

    def __init__(self, wave: Any) -> None:
        size_bytes = len(wave.shared.data)
        self._writers = Shadow(size_bytes, FIRST_GRANULE_BYTES, S64)
        self._readers = Shadow(size_bytes, FIRST_GRANULE_BYTES, S64)
        self._now = 1
        self._thread_of: Array = wave.thread_of
        # What happened before these times is in order with the lane's next access.
        self._since = np.full(wave.count, 1 << WHO_BITS, np.int64)
        self._since_in_warp = np.full(wave.count, 1 << WHO_BITS, np.int64)

    def barrier(self, lanes: Array | None) -> None:
        """Lanes leave a barrier of their block."""
        self._now += 1
        chosen: Any = slice(None) if lanes is None else lanes
        self._since[chosen] = self._now << WHO_BITS
        self._since_in_warp[chosen] = self._now << WHO_BITS

    def warp_barrier(self, lanes: Array | None) -> None:
        """Lanes leave a barrier of their warp."""
        self._now += 1
        self._since_in_warp[slice(None) if lanes is None else lanes] = self._now << WHO_BITS

    def read(self, lanes: Array, positions: Array, size_bytes: int) -> tuple[Array, Array] | None:
        """Notes reads. Returns the accesses at fault and the thread that wrote before each, if there are any."""
        places = self._writers.places(positions, size_bytes)
        self._readers.refine(self._writers.granule_bytes)
        fault = self._conflicts(self._writers.values[places], lanes, places, atomic=False)
        self._note_readers(lanes, places)
        return fault

    def write(
        self, lanes: Array, positions: Array, size_bytes: int, *, atomic: bool
    ) -> tuple[Array, Array, bool] | None:
        """Notes writes. Returns the accesses at fault, the other thread of each, and whether it wrote."""
        places = self._writers.places(positions, size_bytes)
        self._readers.refine(self._writers.granule_bytes)
        written = self._conflicts(self._writers.values[places], lanes, places, atomic=atomic)
        readers = self._conflicts(self._readers.values[places], lanes, places, atomic=False)
        mine = by_granule((self._now << WHO_BITS) + self._thread_of[lanes] + (ATOMIC if atomic else 0), places)
        self._writers.values[places] = mine
        self._readers.values[places] = 0
        if written is None and not atomic:
            left = self._writers.values[places]
            lost = left != mine
            if lost.any():
                accesses = np.nonzero(per_access(lost))[0]
                written = accesses, _first(left, lost, accesses) & _THREAD
        if written is not None:
            return *written, True
        return None if readers is None else (*readers, False)

    def _conflicts(self, before: Array, lanes: Array, places: Array, *, atomic: bool) -> tuple[Array, Array] | None:
        """Which accesses are not in order with what was before, and the thread of that."""
        recent = before >= by_granule(self._since[lanes], places)
        if not recent.any():
            return None
        who = before & _WHO
        threads = by_granule(self._thread_of[lanes], places)
        several = who >= _OF_WARP
        thread = np.where(several, 0, who & _THREAD)
        same_thread = ~several & (thread == threads)
        warps = np.where(several, who & _THREAD, thread // WARP_LANES)
        same_warp = (who != _OF_BLOCK) & (warps == threads // WARP_LANES)
        ordered = same_warp & (before < by_granule(self._since_in_warp[lanes], places))
        wrong = recent & ~same_thread & ~ordered
        if atomic:
            wrong &= several | ((who & ATOMIC) == 0)
        if not wrong.any():
            return None
        accesses = np.nonzero(per_access(wrong))[0]
        return accesses, _first(np.where(several, -1, thread), wrong, accesses)

    def _note_readers(self, lanes: Array, places: Array) -> None:
        """Each granule's readers since they were last in order: one thread, several of a warp, or of several warps."""
        values = self._readers.values
        threads = by_granule(self._thread_of[lanes], places)
        warps = threads // WARP_LANES
        before = values[places]
        alone = (self._now << WHO_BITS) + threads
        of_warp = (self._now << WHO_BITS) + (_OF_WARP | warps)
        of_block = (self._now << WHO_BITS) + _OF_BLOCK
        recent = before >= by_granule(self._since[lanes], places)
        if recent.any():
            who = before & _WHO
            many = who >= _OF_WARP
            warp_before = np.where(many, who & _THREAD, who // WARP_LANES)
            same_warp = (who != _OF_BLOCK) & (warp_before == warps)
            same = ~many & (who == threads)
            mine = np.where(~recent | same, alone, np.where(same_warp, of_warp, of_block))
        else:
            mine = np.broadcast_to(alone, places.shape)
        values[places] = mine
        clash = values[places] != mine
        if not clash.any():
            return
        # Lanes read the same granule at once: first as if all were of one warp, then look whether they are.
        values[places[clash]] = np.broadcast_to(of_warp, places.shape)[clash]
        left = values[places] & _WHO
        foreign = (left >= _OF_WARP) & ((left & _THREAD) != warps)
        values[places[foreign]] = of_block


def _first(values: Array, wrong: Array, accesses: Array) -> Array:
    """For each access, the value of its first granule that is wrong."""
    if wrong.ndim == 1:
        return values[accesses]
    columns = wrong[accesses].argmax(axis=1)
    return np.asarray(np.broadcast_to(values, wrong.shape)[accesses, columns])
