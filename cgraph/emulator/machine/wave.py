"""The blocks that execute at the same time: their registers, shared and local memory, and the state of their lanes.

Receives the launch and a range of blocks; guarantees arrays for all lanes: lane `b · threads + t` is thread t of the
wave's block b. Which lanes execute what is left to the scheduler.
"""

from typing import Any

import numpy as np

from cgraph.emulator.machine.arrays import U32, WARP_LANES, Array
from cgraph.emulator.machine.context import Context
from cgraph.emulator.machine.copies import PendingCopies
from cgraph.emulator.machine.regions import LaneRegion
from cgraph.emulator.machine.registers import Registers, scalar
from cgraph.emulator.machine.warps import Warps


class Wave:
    """A range of blocks of a launch.

    Args:
        context: the launch; registers: of its function.
        first_block: number of the first block; block_count: how many.
    """

    def __init__(self, context: Context, registers: Registers, first_block: int, block_count: int) -> None:
        threads = context.threads
        self.context = context
        self.registers = registers
        self.first_block = first_block
        self.block_count = block_count
        self.threads = threads
        self.count = block_count * threads
        self.warps_a_block = -(-threads // WARP_LANES)
        self.lane_numbers = np.arange(self.count)
        self.block_of = np.repeat(np.arange(block_count), threads)
        self.thread_of = np.tile(np.arange(threads), block_count)
        self.bases: list[Array] = [self._base(number) for number in range(len(registers.bases))]
        self.constants: list[Any] = [None] * len(registers.slots)
        for slot, value in registers.constants.items():
            self.constants[slot] = value
        for slot, resolver in registers.resolvers.items():
            self.constants[slot] = resolver(context)
        self.whole = list(self.constants)
        for number, entry in enumerate(registers.slots):
            if entry is not None:
                self.whole[number] = self.bases[entry.base].view(entry.dtype)
        self.shared = LaneRegion("shared", "shared memory", context.shared_bytes, block_count, self.block_of)
        self.local = LaneRegion("local", "local memory", context.function.local_bytes, self.count, self.lane_numbers)
        parameters = LaneRegion("parameter", "the parameters", len(context.parameters), 1, np.zeros(self.count, int))
        parameters.data[:] = context.parameters
        parameters.initialised[:] = 1
        self.regions = {"shared": self.shared, "local": self.local, "param": parameters}
        self.copies = PendingCopies(self.count)
        self.place_of = self.warp_of * WARP_LANES + self.thread_of % WARP_LANES
        # Lanes that have not exited, as [warp, 32], and how many of them each block has.
        self.alive = np.zeros((block_count * self.warps_a_block, WARP_LANES), bool)
        self.alive.reshape(-1)[self.place_of] = True
        self.alive_in = np.full(block_count, threads)

    @property
    def warp_of(self) -> Array:
        """The number of each lane's warp in the wave."""
        return self.block_of * self.warps_a_block + self.thread_of // WARP_LANES

    def end(self, lanes: Array) -> None:
        """Lanes exit."""
        self.alive.reshape(-1)[self.place_of[lanes]] = False
        self.alive_in -= np.bincount(self.block_of[lanes], minlength=self.block_count)

    def warps_of(self, lanes: Array | None) -> Warps:
        """Some lanes (None: all) as rows of 32."""
        chosen = self.lane_numbers if lanes is None else lanes
        threads = self.thread_of[chosen]
        warps = self.warp_of[chosen]
        present, row = np.unique(warps, return_inverse=True)
        if len(chosen) == len(present) * WARP_LANES:
            return Warps(present, None)
        return Warps(present, row * WARP_LANES + threads % WARP_LANES)

    def _base(self, number: int) -> Array:
        name = self.registers.specials.get(number)
        if name is None:
            return np.zeros(self.count, self.registers.bases[number])
        return np.broadcast_to(self._special(name), self.count).astype(U32)

    def _special(self, name: str) -> Array:
        context = self.context
        kind, _, axis = name[1:].partition(".")
        place = "xyz".find(axis) if axis else 0
        if kind == "tid":
            return np.array(_indices(self.thread_of, context.block)[place])
        if kind == "ctaid":
            return np.array(_indices(self.block_of + self.first_block, context.grid)[place])
        lane = self.thread_of % WARP_LANES
        masks = {
            "lanemask_eq": 1 << lane,
            "lanemask_lt": (1 << lane) - 1,
            "lanemask_le": (2 << lane) - 1,
            "lanemask_ge": 0x1_0000_0000 - (1 << lane),
            "lanemask_gt": 0x1_0000_0000 - (2 << lane),
        }
        if kind in masks:
            return np.array(masks[kind])
        values = {
            "ntid": context.block[place],
            "nctaid": context.grid[place],
            "nwarpid": self.warps_a_block,
            "nsmid": 1,
            "dynamic_smem_size": context.dynamic_shared_bytes,
            "total_smem_size": context.shared_bytes,
        }
        if kind == "laneid":
            return lane
        if kind == "warpid":
            return self.thread_of // WARP_LANES
        return scalar(values.get(kind, 0), U32)


def _indices(numbers: Array, extent: tuple[int, int, int]) -> tuple[Array, Array, Array]:
    x, y, _ = extent
    return numbers % x, numbers // x % y, numbers // (x * y)
