"""Finds the bytes behind addresses, and checks each access.

Receives the addresses of one instruction, one for each lane; guarantees positions inside one region each, within its
bounds and aligned, or stops the launch with the lane at fault. What is done with the bytes is left to the instruction.
"""

from collections.abc import Callable
from typing import NoReturn, TypeAlias

import numpy as np

from cgraph.emulator.machine.arrays import S64, U32, U64, Array
from cgraph.emulator.machine.decoder import Decoder, Regs, full
from cgraph.emulator.machine.faults import describe_access, raise_access
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.memory import Allocation, DeviceMemory
from cgraph.emulator.machine.regions import LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW_SHIFT, LaneRegion
from cgraph.emulator.machine.registers import scalar
from cgraph.emulator.problems import AccessFault, Misaligned, OutOfBounds, UseAfterFree
from cgraph.emulator.ptx.model import Address, Instruction, Operand, Register, Symbol
from cgraph.emulator.ptx.types import SIZE_BYTES

Region: TypeAlias = Allocation | LaneRegion
# A region, the places in the frame of the lanes that use it (None: all), and the byte position of each.
Part: TypeAlias = tuple[Region, Array | None, Array]
Addresses: TypeAlias = Callable[[Regs, Frame], Array]

_WINDOW_BITS = np.uint64(WINDOW_SHIFT)
_WINDOW_MASK = np.uint64((1 << WINDOW_SHIFT) - 1)
SPACES = frozenset({"global", "shared", "local", "const", "param"})


def space_of(instruction: Instruction) -> str:
    """The space that an instruction names; empty for generic addresses."""
    names = (modifier.partition("::")[0] for modifier in instruction.modifiers)
    return next((name for name in names if name in SPACES), "")


def build_addresses(decoder: Decoder, operand: Operand) -> Addresses:
    """How to get the address of each lane, as u64."""
    if not isinstance(operand, Address):
        raise TypeError(operand)
    base, offset = operand.base, operand.offset
    if isinstance(base, Symbol):
        slot = decoder.read_as(Symbol(base.name, base.space, base.offset + offset), U64)
        return lambda regs, frame: np.full(frame.count, regs[slot], U64)
    if base is None:
        fixed = scalar(offset, U64)
        return lambda _, frame: np.full(frame.count, fixed, U64)
    return _of_register(decoder, base, offset)


def _of_register(decoder: Decoder, base: Register, offset: int) -> Addresses:
    if SIZE_BYTES[base.type] == 4:
        short = decoder.read_as(base, U32)
        added_short = scalar(offset & 0xFFFFFFFF, U64).astype(U32)
        return lambda regs, frame: full(np.asarray((regs[short] + added_short).astype(U64)), frame)
    slot = decoder.read_as(base, U64)
    if offset == 0:
        return lambda regs, frame: full(regs[slot], frame)
    added = scalar(offset & ((1 << 64) - 1), U64)
    return lambda regs, frame: full(np.asarray(regs[slot] + added), frame)


class Accesses:
    """The accesses of one instruction.

    Args:
        instruction: for reports; space: `global`, …, or empty for generic addresses.
        size_bytes: of the access of one lane; writes: whether it writes.
        align_bytes: what the address must be a multiple of; the size, where it is not given.
    """

    def __init__(
        self, instruction: Instruction, space: str, size_bytes: int, *, writes: bool, align_bytes: int | None = None
    ) -> None:
        self.instruction = instruction
        self.space = space
        self.size_bytes = size_bytes
        self.writes = writes
        self._align = np.uint64((align_bytes or size_bytes) - 1)
        # The memory and allocation of the access before, where that begins, and the last offset for an access.
        self._last: tuple[DeviceMemory, Allocation, Array, Array] | None = None

    def parts(self, addresses: Array, frame: Frame) -> list[Part]:
        """Where each lane's bytes lie. Every lane is in exactly one part."""
        space = self.space
        if space in {"global", "const"}:
            return self._in_device(addresses, frame, None)
        if space:
            return [self._in_lanes(space, addresses, frame, None)]
        windows = addresses >> _WINDOW_BITS
        lowest, highest = windows.min(), windows.max()
        if lowest > PARAMETER_WINDOW or (lowest == highest == 0):
            return self._in_device(addresses, frame, None)
        found: list[Part] = []
        for window in np.unique(windows):
            indices = None if lowest == highest else np.nonzero(windows == window)[0]
            chosen = addresses if indices is None else addresses[indices]
            name = {SHARED_WINDOW: "shared", LOCAL_WINDOW: "local", PARAMETER_WINDOW: "param"}.get(int(window))
            if name is None:
                found += self._in_device(chosen, frame, indices)
            else:
                found.append(self._in_lanes(name, chosen & _WINDOW_MASK, frame, indices))
        return found

    def _in_lanes(self, space: str, addresses: Array, frame: Frame, indices: Array | None) -> Part:
        region = frame.region(space)
        limit = region.size_bytes - self.size_bytes
        if limit < 0 or addresses.max() > limit:
            bad = np.nonzero(addresses > max(limit, -1) if limit >= 0 else addresses >= 0)[0]
            self._fail(OutOfBounds, region, addresses, frame, indices, bad)
        if self._align and np.bitwise_or.reduce(addresses) & self._align:
            self._fail(Misaligned, region, addresses, frame, indices, np.nonzero(addresses & self._align)[0])
        offsets = frame.offsets(space)
        return region, indices, addresses.view(S64) + (offsets if indices is None else offsets[indices])

    def _in_device(self, addresses: Array, frame: Frame, indices: Array | None) -> list[Part]:
        memory = frame.wave.context.memory
        last = self._last
        if last is not None and memory is last[0] and not last[1].freed:
            offsets = addresses - last[2]
            if offsets.max() <= last[3] and not np.bitwise_or.reduce(offsets) & self._align:
                return [(last[1], indices, offsets.view(S64))]
        found: list[Part] = []
        left = np.arange(len(addresses))
        while len(left):
            allocation = memory.nearest(int(addresses[left[0]]))
            if allocation is None:
                self._fail_nowhere(addresses, frame, indices, left[:1])
            start = scalar(allocation.address, U64)
            offsets = addresses[left] - start
            limit = allocation.size_bytes - self.size_bytes
            inside = offsets < U64.type(allocation.size_bytes)
            if not inside[0] or limit < 0:
                lost = [lane for lane in left if memory.nearest(int(addresses[lane])) is allocation]
                self._fail(OutOfBounds, allocation, addresses - start, frame, indices, np.array(lost))
            here = left[inside]
            offsets = offsets[inside]
            self._check_device(allocation, addresses - start, offsets, frame, indices, here)
            self._last = memory, allocation, start, scalar(limit, U64)
            whole = len(here) == len(addresses)
            chosen = here if indices is None else indices[here]
            found.append((allocation, indices if whole else chosen, offsets.view(S64)))
            left = left[~inside]
        return found

    def _check_device(
        self,
        allocation: Allocation,
        all_offsets: Array,
        offsets: Array,
        frame: Frame,
        indices: Array | None,
        here: Array,
    ) -> None:
        beyond = offsets > U64.type(allocation.size_bytes - self.size_bytes)
        if allocation.freed:
            self._fail(UseAfterFree, allocation, all_offsets, frame, indices, here)
        if beyond.any():
            self._fail(OutOfBounds, allocation, all_offsets, frame, indices, here[beyond])
        crooked = (offsets & self._align) != 0
        if crooked.any():
            self._fail(Misaligned, allocation, all_offsets, frame, indices, here[crooked])

    def _fail(
        self, kind: type[AccessFault], region: Region, offsets: Array, frame: Frame, indices: Array | None, bad: Array
    ) -> NoReturn:
        """`bad` are places in `offsets`; `indices`, if any, the places of those in the frame."""
        lanes = bad if indices is None else indices[bad]
        offset = int(offsets[bad[0]])
        offset -= (1 << 64) if offset >> 63 else 0
        fields = describe_access(
            self.instruction,
            frame,
            lanes,
            region=region,
            offset=offset,
            size_bytes=self.size_bytes,
            writes=self.writes,
        )
        raise_access(kind, **fields)

    def _fail_nowhere(self, addresses: Array, frame: Frame, indices: Array | None, bad: Array) -> NoReturn:
        nothing = np.empty(0, np.uint8)
        nowhere = Allocation(0, 0, "no allocation (a null pointer?)", nothing, nothing)
        self._fail(OutOfBounds, nowhere, addresses, frame, indices, bad)
