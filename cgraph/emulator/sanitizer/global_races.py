"""Races in global memory: two blocks of one launch, the same bytes, one of them writing.

Blocks of a launch are in no order. Accesses that are atomic or strong (volatile, relaxed, …) do not race with each
other. Blocks that hand over data by a fence and an atomic counter are in order by means that are not seen here: their
accesses are reported.
"""

import numpy as np
from attrs import define

from cgraph.emulator.machine.arrays import S32, Array
from cgraph.emulator.machine.memory import Allocation
from cgraph.emulator.sanitizer.granules import Shadow, by_granule, per_access

# Instead of a block's number + 1: several blocks.
SEVERAL = -1
FIRST_GRANULE_BYTES = 16


@define(eq=False)
class _Accesses:
    """Who accessed one allocation in which way; None where nobody did."""

    writers: Shadow | None = None
    readers: Shadow | None = None
    atomics: Shadow | None = None

    def refine(self, granule_bytes: int) -> None:
        for shadow in (self.writers, self.readers, self.atomics):
            if shadow is not None:
                shadow.refine(granule_bytes)


class GlobalRaces:
    """Global memory during one launch."""

    def __init__(self) -> None:
        self._accesses: dict[int, _Accesses] = {}
        self._granules: dict[int, int] = {}

    def read(self, region: Allocation, blocks: Array, positions: Array, size_bytes: int) -> tuple[Array, str] | None:
        """Notes reads by blocks. Returns the accesses at fault, and who came before."""
        accesses, granule = self._of(region, size_bytes)
        fault = self._against(accesses.writers, blocks, positions, size_bytes, "wrote")
        fault = fault or self._against(accesses.atomics, blocks, positions, size_bytes, "updated")
        if accesses.readers is None:
            accesses.readers = Shadow(region.size_bytes + 16, granule, S32)
        _note(accesses.readers, blocks, positions, size_bytes)
        return fault

    def write(self, region: Allocation, blocks: Array, positions: Array, size_bytes: int) -> tuple[Array, str] | None:
        """Notes writes by blocks. Returns the accesses at fault, and who came before."""
        accesses, granule = self._of(region, size_bytes)
        fault = self._against(accesses.writers, blocks, positions, size_bytes, "wrote")
        fault = fault or self._against(accesses.readers, blocks, positions, size_bytes, "read")
        fault = fault or self._against(accesses.atomics, blocks, positions, size_bytes, "updated")
        if accesses.writers is None:
            accesses.writers = Shadow(region.size_bytes + 16, granule, S32)
        together = _note(accesses.writers, blocks, positions, size_bytes)
        if fault is None and together is not None:
            return together, "another block writes them at the same instruction"
        return fault

    def atomic(self, region: Allocation, blocks: Array, positions: Array, size_bytes: int) -> tuple[Array, str] | None:
        """Notes atomic or strong accesses by blocks. Returns the accesses at fault, and who came before."""
        accesses, granule = self._of(region, size_bytes)
        fault = self._against(accesses.writers, blocks, positions, size_bytes, "wrote")
        fault = fault or self._against(accesses.readers, blocks, positions, size_bytes, "read")
        if accesses.atomics is None:
            accesses.atomics = Shadow(region.size_bytes + 16, granule, S32)
        _note(accesses.atomics, blocks, positions, size_bytes)
        return fault

    def _of(self, region: Allocation, size_bytes: int) -> tuple[_Accesses, int]:
        """The shadows of an allocation, and the size of their granules."""
        wanted = 1 if size_bytes & (size_bytes - 1) else size_bytes
        granule = min(self._granules.get(region.address, FIRST_GRANULE_BYTES), wanted)
        self._granules[region.address] = granule
        accesses = self._accesses.setdefault(region.address, _Accesses())
        accesses.refine(granule)
        return accesses, granule

    @staticmethod
    def _against(
        shadow: Shadow | None, blocks: Array, positions: Array, size_bytes: int, verb: str
    ) -> tuple[Array, str] | None:
        if shadow is None:
            return None
        places = shadow.places(positions, size_bytes)
        before = shadow.values[places]
        wrong = (before != 0) & (before != by_granule(blocks + 1, places))
        if not wrong.any():
            return None
        other = int(before[wrong][0])
        who = "several blocks" if other == SEVERAL else f"the block of number {other - 1}"
        return np.nonzero(per_access(wrong))[0], f"{who} {verb} them before"


def _note(shadow: Shadow, blocks: Array, positions: Array, size_bytes: int) -> Array | None:
    """Notes who accessed; returns the accesses that met another block's of the same instruction, if any."""
    places = shadow.places(positions, size_bytes)
    values = shadow.values
    mine = np.broadcast_to(by_granule((blocks + 1).astype(values.dtype), places), places.shape)
    before = values[places]
    new = np.where((before == 0) | (before == mine), mine, values.dtype.type(SEVERAL))
    values[places] = new
    clash = values[places] != new
    if not clash.any():
        return None
    values[places[clash]] = SEVERAL
    return np.nonzero(per_access(clash))[0]
