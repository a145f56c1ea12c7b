"""Barriers of blocks: who waits where, and when all are there.

Receives lanes as they arrive; guarantees that lanes go on when as many threads of their block arrived as the barrier
asks for: its count, or all threads that have not exited.
Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
"""

import numpy as np

from cgraph.emulator.machine.arrays import BOOL, U32, WARP_LANES, Array
from cgraph.emulator.machine.decoder import full
from cgraph.emulator.machine.faults import describe_threads, raise_misuse
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.program import Barrier
from cgraph.emulator.machine.wave import Wave
from cgraph.emulator.problems import PartialBarrier

BARRIERS = 16
NOWHERE = -1


class Barriers:
    """The barriers of all blocks of a wave.

    Args:
        wave: whose lanes arrive.
    """

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self._number = np.full(wave.count, NOWHERE)
        self._resume = np.zeros(wave.count, np.int64)
        self._votes = np.zeros(wave.count, bool)
        self._arrived = np.zeros((wave.block_count, BARRIERS), np.int64)
        self._expected = np.zeros((wave.block_count, BARRIERS), np.int64)
        self._places: dict[int, Barrier] = {}
        # Whether nobody has arrived at a barrier that is not open yet.
        self.idle = True

    def arrive(self, barrier: Barrier, frame: Frame) -> list[tuple[int, Array]]:
        """Lanes arrive, their registers flushed. Returns who goes on where: (segment, lanes)."""
        wave = self._wave
        lanes = frame.lane_numbers
        regs = frame.regs
        numbers = full(regs[barrier.number], frame).astype(np.int64)
        if (numbers >= BARRIERS).any():
            bad = np.nonzero(numbers >= BARRIERS)[0]
            raise_misuse(barrier.instruction, frame, bad, f"barriers have numbers from 0 to 15, not {numbers[bad[0]]}")
        blocks = wave.block_of[lanes]
        if barrier.count is not None:
            counts = full(regs[barrier.count], frame).astype(np.int64)
            if (counts % WARP_LANES).any() or (counts == 0).any():
                bad = np.nonzero((counts % WARP_LANES != 0) | (counts == 0))[0]
                raise_misuse(barrier.instruction, frame, bad, "a barrier counts whole warps of 32 threads")
            self._expected[blocks, numbers] = counts
        else:
            self._expected[blocks, numbers] = 0
        np.add.at(self._arrived, (blocks, numbers), 1)
        self.idle = False
        released: list[tuple[int, Array]] = []
        if barrier.waits:
            self._places[barrier.target] = barrier
            self._number[lanes] = numbers
            self._resume[lanes] = barrier.target
            if barrier.predicate is not None:
                self._votes[lanes] = ~regs[barrier.predicate] if barrier.negated else regs[barrier.predicate]
        else:
            released.append((barrier.target, lanes))
        return released + self.open(np.unique(blocks))

    def open(self, blocks: Array) -> list[tuple[int, Array]]:
        """Lets the lanes of these blocks go on whose barrier is complete."""
        wave = self._wave
        needed = self._expected[blocks]
        needed = np.where(needed == 0, wave.alive_in[blocks][:, None], needed)
        complete = np.zeros((wave.block_count, BARRIERS), bool)
        complete[blocks] = (self._arrived[blocks] > 0) & (self._arrived[blocks] >= needed)
        if not complete.any():
            return []
        opened = (self._number != NOWHERE) & complete[wave.block_of, self._number]
        lanes = np.nonzero(opened)[0]
        self._report_exited(complete, lanes)
        self._reduce(lanes)
        self._arrived[complete] = 0
        self.idle = not self._arrived.any()
        self._number[lanes] = NOWHERE
        watch = wave.context.watch
        if watch is not None:
            watch.barrier(wave, lanes)
        targets = self._resume[lanes]
        return [(int(target), lanes[targets == target]) for target in np.unique(targets)]

    def waiting(self) -> PartialBarrier | None:
        """What to report when nothing can go on and lanes still wait."""
        wave = self._wave
        lanes = np.nonzero(self._number != NOWHERE)[0]
        if not len(lanes):
            return None
        first = lanes[0]
        block, number = wave.block_of[first], self._number[first]
        together = lanes[(wave.block_of[lanes] == block) & (self._number[lanes] == number)]
        expected = int(self._expected[block, number] or wave.alive_in[block])
        barrier = self._places[int(self._resume[first])]
        return PartialBarrier(
            **describe_threads(barrier.instruction, Frame(wave, together), np.arange(len(together))),
            number=int(number),
            arrived=int(self._arrived[block, number]),
            expected=expected,
            reason="the other threads wait elsewhere, so none can go on",
        )

    def _reduce(self, lanes: Array) -> None:
        """Writes the results of bar.red for the lanes that go on."""
        wave = self._wave
        for target in np.unique(self._resume[lanes]):
            barrier = self._places[int(target)]
            if barrier.result is None:
                continue
            group = lanes[self._resume[lanes] == target]
            blocks = wave.block_of[group]
            yes = np.bincount(blocks, weights=self._votes[group], minlength=wave.block_count)[blocks]
            all_of = np.bincount(blocks, minlength=wave.block_count)[blocks]
            base = wave.registers.base_of(barrier.result)
            if base is None:
                continue
            answer = {"popc": yes.astype(U32), "and": yes == all_of, "or": yes > 0}[barrier.reduction]
            wave.bases[base][group] = answer if wave.registers.bases[base] != BOOL else answer.astype(bool)

    def _report_exited(self, complete: Array, lanes: Array) -> None:
        """Tells the watch of barriers for all threads that open without those that have exited."""
        wave = self._wave
        watch = wave.context.watch
        if watch is None or not len(lanes):
            return
        partial = complete & (self._expected == 0) & (wave.alive_in < wave.threads)[:, None]
        blocks, numbers = np.nonzero(partial)
        if not len(blocks):
            return
        block, number = int(blocks[0]), int(numbers[0])
        group = lanes[(wave.block_of[lanes] == block) & (self._number[lanes] == number)]
        if len(group):
            barrier = self._places[int(self._resume[group[0]])]
            watch.partial_barrier(
                barrier.instruction,
                Frame(wave, group),
                np.arange(len(group)),
                number=number,
                arrived=int(self._arrived[block, number]),
                expected=wave.threads,
            )
