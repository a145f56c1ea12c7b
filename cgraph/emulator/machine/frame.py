"""Lanes that execute together: a list of arrays, one element for each lane.

A wave's whole frame holds every lane. A part of them gets a frame of its own: registers are gathered when a stretch of
code first needs them, and scattered back when lanes meet others again. So code never sees masks.
"""

from typing import Any

from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.machine.regions import LaneRegion
from cgraph.emulator.machine.warps import Warps
from cgraph.emulator.machine.wave import Wave


class Frame:
    """Some lanes of a wave.

    Args:
        wave: to which they belong.
        lanes: their numbers in the wave, ascending; None for all.
    """

    __slots__ = ("_offsets", "_warps", "count", "dirty", "lanes", "loaded", "regs", "wave")

    def __init__(self, wave: Wave, lanes: Array | None) -> None:
        self.wave = wave
        self.lanes = lanes
        self.count = wave.count if lanes is None else len(lanes)
        self.loaded: set[int] = set()
        self.dirty: set[int] = set()
        self.regs: list[Any] = wave.whole if lanes is None else list(wave.constants)
        self._warps: Warps | None = None
        self._offsets: dict[str, Array] = {}

    @property
    def lane_numbers(self) -> Array:
        """The number of each lane in the wave."""
        return self.wave.lane_numbers if self.lanes is None else self.lanes

    def load(self, bases: tuple[int, ...]) -> None:
        """Gathers registers that are not here yet."""
        if self.lanes is None:
            return
        wave = self.wave
        for base in bases:
            if base not in self.loaded:
                self.loaded.add(base)
                self._show(base, wave.bases[base][self.lanes])

    def flush(self) -> None:
        """Scatters what was written back to the wave."""
        if self.lanes is None:
            return
        wave, slots = self.wave, self.wave.registers
        for base in self.dirty:
            wave.bases[base][self.lanes] = self.regs[slots.views[base][0]].view(slots.bases[base])
        self.dirty.clear()

    def subset(self, indices: Array, bases: tuple[int, ...]) -> "Frame":
        """A frame of some of these lanes, with copies of some registers."""
        part = Frame(self.wave, self.lane_numbers[indices])
        views = self.wave.registers.views
        for base in bases:
            part.loaded.add(base)
            part._show(base, self.regs[views[base][0]].view(self.wave.registers.bases[base])[indices])
        return part

    def absorb(self, part: "Frame", indices: Array, written: tuple[int, ...]) -> None:
        """Takes over what a subset wrote."""
        views = self.wave.registers.views
        for base in written:
            slot = views[base][0]
            self.regs[slot][indices] = part.regs[slot]

    def region(self, space: str) -> LaneRegion:
        """Shared or local memory, or the parameters."""
        return self.wave.regions[space]

    def offsets(self, space: str) -> Array:
        """Where each lane's share of a region begins, in bytes."""
        offsets = self.wave.regions[space].offsets
        if self.lanes is None:
            return offsets
        found = self._offsets.get(space)
        if found is None:
            found = self._offsets[space] = offsets[self.lanes]
        return found

    def warps(self) -> Warps:
        """The lanes as rows of 32."""
        if self._warps is None:
            self._warps = self.wave.warps_of(self.lanes)
        return self._warps

    def _show(self, base: int, values: Array) -> None:
        slots = self.wave.registers
        for slot in slots.views[base]:
            entry = slots.slots[slot]
            if entry is not None:
                self.regs[slot] = values.view(entry.dtype)
