"""cp.async: copies from global to shared memory that a thread waits for later.

The bytes are read when the copy starts, and arrive as late as they may: when the thread waits for their group.
Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async, commit_group, wait_group, wait_all".
"""

import numpy as np
from attrs import frozen

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine.accesses import Accesses, build_addresses
from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.machine.copies import Copy
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full
from cgraph.emulator.machine.faults import raise_misuse
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.marks import mark_pending, mark_written
from cgraph.emulator.ptx.model import Immediate, Instruction
from cgraph.emulator.ptx.problems import WrongOperand

_SIZES = {"ca": (4, 8, 16), "cg": (16,)}


def build_asynchronous(decoder: Decoder, instruction: Instruction) -> Operation:
    """The copy itself, and what closes and waits for groups."""
    kind = instruction.modifiers[1]
    if kind == "commit_group":
        return lambda _, frame: frame.wave.copies.commit(frame.lane_numbers)
    if kind == "wait_all":
        return lambda _, frame: finish_copies(frame, None)
    if kind == "wait_group":
        count = instruction.operands[0]
        keep = int(count.value) if isinstance(count, Immediate) else 0
        return lambda _, frame: finish_copies(frame, keep)
    return _build_copy(decoder, instruction)


def finish_copies(frame: Frame, keep: int | None) -> None:
    """Lets the bytes arrive that the frame's lanes wait for."""
    for copy in frame.wave.copies.finish(frame.lane_numbers, keep):
        _arrive(frame, copy)


def _arrive(frame: Frame, copy: Copy) -> None:
    region = frame.wave.shared
    size = copy.data.shape[1]
    watch = frame.wave.context.watch
    if watch is not None and isinstance(copy.origin, Accesses):
        watch.arrive(copy.origin, frame.wave, region, copy.lanes, copy.positions)
    region.data.reshape(-1, size)[copy.positions // size] = copy.data
    mark_written(region, copy.positions, size)


@frozen(eq=False)
class _Source:
    """The reading side of a copy of `size` bytes a lane: accesses for each number of bytes that may be asked for."""

    size: int
    accesses: dict[int, Accesses]

    def read(self, frame: Frame, addresses: Array, lanes: Array, count: int, data: Array) -> None:
        """Reads `count` bytes for some lanes of the frame into the rows of `data`."""
        whole = len(lanes) == frame.count
        part = frame if whole else frame.subset(lanes, ())
        accesses = self.accesses[count]
        watch = frame.wave.context.watch
        for region, indices, positions in accesses.parts(addresses if whole else addresses[lanes], part):
            if watch is not None:
                watch.read(accesses, part, region, indices, positions, strong=False)
            rows = lanes if indices is None else lanes[indices]
            if count == self.size:
                data[rows] = region.data.reshape(-1, count)[positions // count]
            else:
                data[rows, :count] = region.data[positions[:, None] + np.arange(count)]


def _build_copy(decoder: Decoder, instruction: Instruction) -> Operation:
    target, origin, size_operand, *rest = instruction.operands
    allowed = _SIZES[instruction.modifiers[1]]
    size = int(size_operand.value) if isinstance(size_operand, Immediate) else 0
    if size not in allowed:
        fault = f"{' or '.join(map(str, allowed))} bytes can be copied, not {size}"
        raise ProblemsFound([WrongOperand(instruction.span, instruction.mnemonic, fault)])
    to_addresses, from_addresses = build_addresses(decoder, target), build_addresses(decoder, origin)
    taken = decoder.read(rest[0], "u32") if rest else None
    writes = Accesses(instruction, "shared", size, writes=True)
    counts = range(1, size + 1)
    source = _Source(
        size, {count: Accesses(instruction, "global", count, writes=False, align_bytes=size) for count in counts}
    )

    def run(regs: Regs, frame: Frame) -> None:
        data = np.zeros((frame.count, size), np.uint8)
        addresses = from_addresses(regs, frame)
        counts = np.full(frame.count, size) if taken is None else full(regs[taken], frame)
        for count in np.unique(counts):
            lanes = np.nonzero(counts == count)[0]
            if count > size:
                raise_misuse(instruction, frame, lanes, f"{count} of {size} bytes are to be read")
            if count:
                source.read(frame, addresses, lanes, int(count), data)
        ((region, _, positions),) = writes.parts(to_addresses(regs, frame), frame)
        watch = frame.wave.context.watch
        if watch is not None:
            watch.write(writes, frame, region, None, positions, strong=False)
        mark_pending(region, positions, size)
        frame.wave.copies.add(frame.lane_numbers, positions, data, writes)

    return run


FAMILY = {"cp": build_asynchronous}
