"""The sanitizer's eyes: checks each access as it happens.

Receives what the machine tells; guarantees a report, with thread, place and .cu line, for reads of bytes that nothing
wrote, for races, for barriers that only part of a block reaches, for exchanges with lanes that are not there, and for
what the launch's effects find, where they are held against something. Local memory is not watched: no other thread
sees it.
"""

from typing import Any

import numpy as np
from attrs import define, field

from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.machine.faults import describe_access, describe_threads
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.marks import PENDING, find_unwritten
from cgraph.emulator.problems import GlobalRace, PartialBarrier, PartialWarp, SharedRace, UninitialisedRead
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.sanitizer.collection import Sanitizer
from cgraph.emulator.sanitizer.effects import Effect, Effects
from cgraph.emulator.sanitizer.global_races import GlobalRaces
from cgraph.emulator.sanitizer.problems_effects import UndeclaredAccess, UnorderedAccess
from cgraph.emulator.sanitizer.shared_races import SharedRaces

EFFECTS: dict[Effect, type[UndeclaredAccess | UnorderedAccess]] = {
    Effect.UNDECLARED: UndeclaredAccess,
    Effect.UNORDERED: UnorderedAccess,
}


@define(eq=False)
class Watching:
    """Checks the accesses of one launch.

    Args:
        sanitizer: takes the reports.
        effects: of the command that launches; None where they are held against nothing.
    """

    sanitizer: Sanitizer
    effects: Effects | None = None
    _between_blocks: GlobalRaces = field(factory=GlobalRaces)
    _in_blocks: SharedRaces | None = None
    _reported: set[tuple[type, int]] = field(factory=set)

    def begin_wave(self, wave: Any) -> None:
        """Blocks begin; shared memory is fresh."""
        self._in_blocks = SharedRaces(wave) if wave.context.shared_bytes and wave.threads > 1 else None

    def read(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None:
        """Lanes are about to read: from bytes that something wrote, and that nobody else writes."""
        if region.space not in {"global", "shared"}:
            return
        self.sanitizer.accessed_bytes += accesses.size_bytes * len(positions)
        self._note_effects(accesses, frame, region, indices, positions, writes=False)
        unwritten = find_unwritten(region, positions, accesses.size_bytes)
        if len(unwritten):
            self._report_unwritten(accesses, frame, region, indices, positions, unwritten)
        if region.space == "shared" and self._in_blocks is not None:
            lanes = _lanes(frame, indices)
            fault = (
                self._in_blocks.write(lanes, positions, accesses.size_bytes, atomic=True)
                if strong
                else self._in_blocks.read(lanes, positions, accesses.size_bytes)
            )
            if fault is not None:
                wrote = fault[2] if len(fault) == 3 else True
                self._report_shared(accesses, frame, region, indices, positions, fault[0], int(fault[1][0]), wrote)
        elif region.space == "global" and frame.wave.context.blocks > 1:
            note = self._between_blocks.atomic if strong else self._between_blocks.read
            found = note(region, _blocks(frame, indices), positions, accesses.size_bytes)
            self._report_global(accesses, frame, region, indices, positions, found)

    def write(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None:
        """Lanes are about to write to bytes that nobody else uses."""
        if region.space in {"global", "shared"}:
            self.sanitizer.accessed_bytes += accesses.size_bytes * len(positions)
        self._note_effects(accesses, frame, region, indices, positions, writes=True)
        if region.space == "shared" and self._in_blocks is not None:
            fault = self._in_blocks.write(_lanes(frame, indices), positions, accesses.size_bytes, atomic=strong)
            if fault is not None:
                self._report_shared(accesses, frame, region, indices, positions, fault[0], int(fault[1][0]), fault[2])
        elif region.space == "global" and frame.wave.context.blocks > 1:
            note = self._between_blocks.atomic if strong else self._between_blocks.write
            found = note(region, _blocks(frame, indices), positions, accesses.size_bytes)
            self._report_global(accesses, frame, region, indices, positions, found)

    def atomic(self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array) -> None:
        """Lanes are about to update."""
        self.read(accesses, frame, region, indices, positions, strong=True)
        self._note_effects(accesses, frame, region, indices, positions, writes=True)

    def arrive(self, accesses: Any, wave: Any, region: Any, lanes: Array, positions: Array) -> None:
        """Bytes of asynchronous copies arrive: others may read them after a barrier only."""
        if self._in_blocks is None:
            return
        fault = self._in_blocks.write(lanes, positions, accesses.size_bytes, atomic=False)
        if fault is not None:
            frame = Frame(wave, lanes)
            self._report_shared(accesses, frame, region, None, positions, fault[0], int(fault[1][0]), fault[2])

    def barrier(self, _wave: Any, lanes: Array | None) -> None:
        """Lanes leave a barrier of their block."""
        if self._in_blocks is not None:
            self._in_blocks.barrier(lanes)

    def warp_barrier(self, _wave: Any, lanes: Array | None) -> None:
        """Lanes leave a barrier of their warp."""
        if self._in_blocks is not None:
            self._in_blocks.warp_barrier(lanes)

    def shuffle(self, instruction: Instruction, frame: Any, warps: Any, places: Array) -> None:
        """Lanes read from others, which should be there."""
        there = np.take_along_axis(warps.active, places, axis=1)
        wrong = np.nonzero(warps.collect(warps.active & ~there))[0]
        if len(wrong) and self._is_new(PartialWarp, instruction):
            lane = int(warps.collect(places)[wrong[0]])
            fault = f"reads the value of lane {lane}, which does not execute it"
            fields = describe_threads(instruction, frame, wrong)
            self.sanitizer.report(PartialWarp(**fields, mnemonic=instruction.mnemonic, fault=fault))

    def partial_barrier(
        self, instruction: Instruction, frame: Any, indices: Array, *, number: int, arrived: int, expected: int
    ) -> None:
        """A barrier opens though threads of the block have exited."""
        if self._is_new(PartialBarrier, instruction):
            fields = describe_threads(instruction, frame, indices)
            reason = "the other threads have exited"
            problem = PartialBarrier(**fields, number=number, arrived=arrived, expected=expected, reason=reason)
            self.sanitizer.report(problem)

    def _is_new(self, kind: type, instruction: Instruction) -> bool:
        key = (kind, instruction.span.start)
        if key in self._reported:
            return False
        self._reported.add(key)
        return True

    def _note_effects(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, writes: bool
    ) -> None:
        """Tells the launch's effects, and reports what they find."""
        effects = self.effects
        if effects is None or region.space != "global" or not len(positions):
            return
        territory = effects.of(region)
        note = territory.note_write if writes else territory.note_read
        for effect, wrong in note(positions, accesses.size_bytes):
            kind = EFFECTS[effect]
            if not len(wrong) or not self._is_new(kind, accesses.instruction):
                continue
            fields = _describe(accesses, frame, region, indices, positions, wrong, writes=writes)
            if effect is Effect.UNORDERED and territory.rival is not None:
                start = int(positions[wrong[0]])
                rival = territory.rival(start, start + accesses.size_bytes, writes)
                fields |= {"rival": rival.text, "rival_span": rival.span}
            self.sanitizer.report(kind(**fields))

    def _report_unwritten(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, wrong: Array
    ) -> None:
        if not self._is_new(UninitialisedRead, accesses.instruction):
            return
        first = int(positions[wrong[0]])
        pending = bool((region.initialised[first : first + accesses.size_bytes] == PENDING).any())
        fields = _describe(accesses, frame, region, indices, positions, wrong, writes=False)
        self.sanitizer.report(UninitialisedRead(**fields, pending=pending))

    def _report_shared(
        self,
        accesses: Any,
        frame: Any,
        region: Any,
        indices: Array | None,
        positions: Array,
        wrong: Array,
        other: int,
        wrote: bool,
    ) -> None:
        if not self._is_new(SharedRace, accesses.instruction):
            return
        context = frame.wave.context
        who = "several threads" if other < 0 else f"thread {context.thread_index(other)}"
        fields = _describe(accesses, frame, region, indices, positions, wrong, writes=accesses.writes)
        self.sanitizer.report(SharedRace(**fields, other=f"{who} {'wrote' if wrote else 'read'} them before"))

    def _report_global(
        self,
        accesses: Any,
        frame: Any,
        region: Any,
        indices: Array | None,
        positions: Array,
        found: tuple[Array, str] | None,
    ) -> None:
        if found is None or not self._is_new(GlobalRace, accesses.instruction):
            return
        wrong, other = found
        fields = _describe(accesses, frame, region, indices, positions, wrong, writes=accesses.writes)
        self.sanitizer.report(GlobalRace(**fields, other=other))


def _lanes(frame: Any, indices: Array | None) -> Array:
    lanes: Array = frame.lane_numbers
    return lanes if indices is None else lanes[indices]


def _blocks(frame: Any, indices: Array | None) -> Array:
    return np.asarray(frame.wave.block_of[_lanes(frame, indices)] + frame.wave.first_block)


def _describe(
    accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, wrong: Array, *, writes: bool
) -> dict[str, Any]:
    """The fields of a report on accesses; an offset in shared memory counts from the block's first byte."""
    offset = int(positions[wrong[0]])
    if region.space == "shared":
        offset %= region.stride_bytes
    places = wrong if indices is None else indices[wrong]
    size_bytes = accesses.size_bytes
    instruction = accesses.instruction
    return describe_access(
        instruction, frame, places, region=region, offset=offset, size_bytes=size_bytes, writes=writes
    )
