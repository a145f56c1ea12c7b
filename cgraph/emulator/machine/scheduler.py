"""Decides which lanes execute which segment: those at the lowest one, until all have exited.

Lanes that part meet again, because those behind go first. Now and then those ahead have their turn too, so that a loop
which waits for them ends. Lanes that wait at a barrier, or at an instruction of
their warp for others, stand aside until these come. When nobody can go on, the kernel would hang: that is reported.
"""

import numpy as np

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine.arrays import WARP_LANES, Array
from cgraph.emulator.machine.asynchronous import finish_copies
from cgraph.emulator.machine.barriers import Barriers
from cgraph.emulator.machine.decoder import full
from cgraph.emulator.machine.faults import describe_threads, raise_misuse
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.program import Barrier, Branch, Jump, Meeting, Program, Table
from cgraph.emulator.machine.warp_operations import LANES
from cgraph.emulator.machine.wave import Wave
from cgraph.emulator.problems import KernelTrap, PartialWarp

_POWERS = np.uint32(1) << np.arange(WARP_LANES, dtype=np.uint32)
ALL_LANES = 0xFFFFFFFF
# Segments after which the lanes at the highest segment have a turn, if some are elsewhere.
TURN_SEGMENTS = 4096


class Scheduler:
    """Executes one wave.

    Args:
        program: of the launch's function; wave: fresh lanes.
    """

    def __init__(self, program: Program, wave: Wave) -> None:
        self._program = program
        self._wave = wave
        self._groups: dict[int, list[Frame]] = {}
        self._parked: dict[int, list[Frame]] = {}
        self._barriers = Barriers(wave)

    def run(self) -> None:
        """Executes until every lane has exited.

        Raises:
            ProblemsFound: an access is at fault, the kernel trapped, or it would hang.
        """
        frame: Frame | None = Frame(self._wave, None)
        segment = 0
        executed = 0
        while frame is not None:
            target = self._execute(segment, frame)
            executed += 1
            turn = executed % TURN_SEGMENTS == 0
            if target is not None and target != self._program.exit:
                if not self._groups or (target < min(self._groups) and not turn):
                    segment = target
                    continue
                self._groups.setdefault(target, []).append(frame)
            elif target is not None:
                self._end(frame)
            segment, frame = self._next(highest=turn)

    def _execute(self, number: int, frame: Frame) -> int | None:
        """One segment. Returns where the whole frame goes on, None where its lanes were sent on already."""
        segment = self._program.segments[number]
        frame.load(segment.touched)
        if segment.meeting is not None and not self._meet(segment.meeting, number, frame):
            return None
        regs = frame.regs
        for operation in segment.operations:
            operation(regs, frame)
        if frame.lanes is not None:
            frame.dirty |= segment.written
        self._wave.context.executed += segment.length * frame.count
        end = segment.end
        match end:
            case Jump():
                return end.target
            case Branch():
                return self._branch(end, frame)
            case Barrier():
                return self._barrier(end, frame)
            case Table():
                return self._choose(end, frame)
        fields = describe_threads(end.instruction, frame, np.arange(frame.count))
        raise ProblemsFound([KernelTrap(**fields, message="")])

    def _branch(self, branch: Branch, frame: Frame) -> int | None:
        holds = frame.regs[branch.predicate]
        count = int(np.count_nonzero(holds))
        if branch.negated:
            count = frame.count - count
            holds = ~holds
        if count == frame.count:
            return branch.target
        if count == 0:
            return branch.otherwise
        frame.flush()
        lanes = frame.lane_numbers
        self._send(branch.target, lanes[holds])
        self._send(branch.otherwise, lanes[~holds])
        return None

    def _choose(self, table: Table, frame: Frame) -> int | None:
        places = np.minimum(full(frame.regs[table.index], frame), len(table.targets) - 1)
        first = int(places.flat[0])
        if (places == first).all():
            return table.targets[first]
        frame.flush()
        lanes = frame.lane_numbers
        for place in np.unique(places):
            self._send(table.targets[int(place)], lanes[places == place])
        return None

    def _send(self, target: int, lanes: Array) -> None:
        """Lanes whose registers are flushed go on at a segment."""
        frame = Frame(self._wave, lanes if len(lanes) < self._wave.count else None)
        if target == self._program.exit:
            self._end(frame)
        else:
            self._groups.setdefault(target, []).append(frame)

    def _next(self, *, highest: bool) -> tuple[int, Frame | None]:
        """The lanes at the lowest segment (or the highest), all together."""
        if not self._groups and not self._wake():
            return 0, None
        segment = max(self._groups) if highest else min(self._groups)
        return segment, self._merge(self._groups.pop(segment))

    def _merge(self, frames: list[Frame]) -> Frame:
        if len(frames) == 1:
            return frames[0]
        for frame in frames:
            frame.flush()
        lanes = np.sort(np.concatenate([frame.lane_numbers for frame in frames]))
        return Frame(self._wave, lanes if len(lanes) < self._wave.count else None)

    def _end(self, frame: Frame) -> None:
        lanes = frame.lane_numbers
        finish_copies(frame, None)
        self._wave.end(lanes)
        if not self._barriers.idle:
            for target, others in self._barriers.open(np.unique(self._wave.block_of[lanes])):
                self._send(target, others)

    def _barrier(self, barrier: Barrier, frame: Frame) -> int | None:
        wave = self._wave
        plain = barrier.count is None and barrier.waits and not barrier.reduction
        if plain and self._barriers.idle and self._holds_whole_blocks(frame):
            if wave.context.watch is not None:
                wave.context.watch.barrier(wave, frame.lanes)
            return barrier.target
        frame.flush()
        for target, lanes in self._barriers.arrive(barrier, frame):
            self._send(target, lanes)
        return None

    def _holds_whole_blocks(self, frame: Frame) -> bool:
        """Whether every lane of the frame's blocks is in it, so that a barrier needs no counting."""
        if frame.lanes is None:
            return True
        counts = np.bincount(self._wave.block_of[frame.lanes], minlength=self._wave.block_count)
        return bool(((counts == 0) | (counts == self._wave.threads)).all())

    def _meet(self, meeting: Meeting, number: int, frame: Frame) -> bool:
        """Whether the lanes that the instruction needs are all there; if not, parks those whose others are missing."""
        warps = frame.warps()
        mask = np.uint32(ALL_LANES) if meeting.mask is None else frame.regs[meeting.mask]
        if warps.full and (mask == ALL_LANES).all():
            return True
        masks = warps.spread(full(np.asarray(mask), frame), frame.count)
        own = (masks >> LANES.astype(np.uint32)) & 1
        strange = warps.collect((own == 0) & warps.active)
        if strange.any():
            fault = "a lane executes it that its mask does not name"
            raise_misuse(meeting.instruction, frame, np.nonzero(strange)[0], fault)
        named = (np.bitwise_or.reduce(masks, axis=1)[:, None] & _POWERS) != 0
        missing = named & self._wave.alive[warps.warps] & ~warps.active
        late = missing.any(axis=1)
        if not late.any():
            if meeting.mask is None and not warps.full:
                self._fail_warp(meeting, frame, "lanes of the warp have exited")
            return True
        waits = warps.collect(np.broadcast_to(late[:, None], masks.shape))
        frame.flush()
        lanes = frame.lane_numbers
        self._parked.setdefault(number, []).append(Frame(self._wave, lanes[waits]))
        if not waits.all():
            self._send(number, lanes[~waits])
        return False

    def _wake(self) -> bool:
        """Lets parked lanes try again, with those that came later; reports a kernel that would hang."""
        if not self._parked:
            problem = self._barriers.waiting()
            if problem is not None:
                raise ProblemsFound([problem])
            return False
        parked, self._parked = self._parked, {}
        before = {number: sum(frame.count for frame in frames) for number, frames in parked.items()}
        for number, frames in parked.items():
            frame = self._merge(frames)
            meeting = self._program.segments[number].meeting
            frame.load(self._program.segments[number].touched)
            if meeting is not None and self._meet(meeting, number, frame):
                self._groups.setdefault(number, []).append(frame)
        after = {number: sum(frame.count for frame in frames) for number, frames in self._parked.items()}
        if not self._groups and before == after:
            number, frames = next(iter(self._parked.items()))
            meeting = self._program.segments[number].meeting
            if meeting is not None:
                self._fail_warp(meeting, self._merge(frames), "other lanes that it names are elsewhere and do not come")
        return True

    @staticmethod
    def _fail_warp(meeting: Meeting, frame: Frame, fault: str) -> None:
        fields = describe_threads(meeting.instruction, frame, np.arange(frame.count))
        raise ProblemsFound([PartialWarp(**fields, mnemonic=meeting.instruction.mnemonic, fault=fault)])
