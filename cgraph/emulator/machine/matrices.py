"""Matrices in the registers of a warp: mma, ldmatrix, stmatrix, movmatrix.

A lane is 4 · group + pair. Each 8 by 8 block of halves holds in lane (group, pair) the elements of row `group` at
columns 2 · pair and 2 · pair + 1; blocks of a fragment go down the rows first, then along the columns.
The machine forms each sum of products in f64, adds the accumulator and rounds once to the type of the result. Devices
add in f32 in an order that the ISA leaves open, so they may differ by the rounding of those steps.
Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

import numpy as np

from cgraph.emulator.machine.accesses import Accesses, build_addresses, space_of
from cgraph.emulator.machine.arrays import F16, F32, F64, U16, U32, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.halves import widen
from cgraph.emulator.machine.marks import mark_written
from cgraph.emulator.ptx.model import Instruction, Operand, Vector

GROUPS, PAIRS = 8, 4


def _slots(decoder: Decoder, operand: Operand, kind: str, *, written: bool) -> list[int]:
    parts = operand.parts if isinstance(operand, Vector) else (operand,)
    return [decoder.write(part, kind) if written else decoder.read(part, kind) for part in parts]


def _stack(regs: Regs, frame: Frame, slots: list[int]) -> Array:
    """Registers as [register, warp, group, pair]."""
    values = np.concatenate([full(regs[slot], frame) for slot in slots])
    return values.reshape(len(slots), -1, GROUPS, PAIRS)


def _parts(words: Array, kind: str) -> Array:
    """Operands as bits, [register, warp, group, pair, element]."""
    if kind == "tf32":
        return words[..., None]
    return words.view(U16).reshape(*words.shape, 2)


def _wide(bits: Array, kind: str) -> Array:
    """Bits of elements as f64."""
    if kind == "tf32":
        return np.asarray((bits & U32.type(0xFFFFE000)).view(F32).astype(F64))
    return bits.view(F16).astype(F64) if kind == "f16" else widen(bits, kind).astype(F64)


def _left(parts: Array, kind: str) -> Array:
    """A left operand [warp, 16, k]: register r holds rows 8 · (r % 2) + group; its columns begin at block r // 2."""
    blocks = parts.reshape(parts.shape[0] // 2, 2, *parts.shape[1:])
    return _wide(blocks.transpose(2, 1, 3, 0, 4, 5).reshape(parts.shape[1], 16, -1), kind)


def _right(parts: Array, kind: str) -> Array:
    """A right operand [warp, k, 8]: column `group`; register r holds block r of the rows."""
    return _wide(parts.transpose(1, 0, 3, 4, 2).reshape(parts.shape[1], -1, GROUPS), kind)


def build_mma(decoder: Decoder, instruction: Instruction) -> Operation:
    """d[16, 8] = a[16, k] · b[k, 8] + c[16, 8]."""
    result_kind, left_kind, right_kind, _ = instruction.modifiers[-4:]
    sums = "f32" if result_kind == "f32" else "b32"
    target, left, right, addend = instruction.operands
    d = _slots(decoder, target, sums, written=True)
    a, b = (_slots(decoder, each, "b32", written=False) for each in (left, right))
    c = _slots(decoder, addend, sums, written=False)

    def run(regs: Regs, frame: Frame) -> None:
        product = _left(_parts(_stack(regs, frame, a), left_kind), left_kind) @ _right(
            _parts(_stack(regs, frame, b), right_kind), right_kind
        )
        # As [row block, warp, group, pair, element]: the way the accumulator lies in registers.
        blocks = product.reshape(-1, 2, GROUPS, PAIRS, 2).transpose(1, 0, 2, 3, 4)
        if sums == "f32":
            shape = blocks.shape[1:4]
            before = [full(regs[slot], frame).reshape(shape) for slot in c]
            results = [blocks[place // 2, ..., place % 2] + before[place] for place in range(4)]
            for slot, values in zip(d, results, strict=True):
                regs[slot].reshape(shape)[...] = values
        else:
            after = (blocks + _wide(_parts(_stack(regs, frame, c), "f16"), "f16")).astype(F16)
            words = np.ascontiguousarray(after).view(U32)[..., 0]
            for place, slot in enumerate(d):
                regs[slot][...] = words[place].reshape(-1)

    return run


def _count(instruction: Instruction) -> int:
    return next(int(each[1:]) for each in instruction.modifiers if each in {"x1", "x2", "x4"})


def build_load_matrix(decoder: Decoder, instruction: Instruction) -> Operation:
    """ldmatrix: lane i gives the address of row i % 8 of matrix i // 8; each row is 16 bytes."""
    count = _count(instruction)
    transposed = "trans" in instruction.modifiers
    targets = _slots(decoder, instruction.operands[0], "b32", written=True)
    addresses = build_addresses(decoder, instruction.operands[1])
    accesses = Accesses(instruction, space_of(instruction), 16, writes=False)

    def run(regs: Regs, frame: Frame) -> None:
        part, rows = _givers(frame, count)
        ((region, _, positions),) = accesses.parts(addresses(regs, frame)[rows], part)
        watch = frame.wave.context.watch
        if watch is not None:
            watch.read(accesses, part, region, None, positions, strong=False)
        halves = region.view(U16).reshape(-1, 8)[positions >> 4].reshape(-1, count, GROUPS, 8)
        if transposed:
            halves = halves.transpose(0, 1, 3, 2)
        words = np.ascontiguousarray(halves).view(U32)
        for place, target in enumerate(targets):
            regs[target][...] = words[:, place].reshape(-1)

    return run


def build_store_matrix(decoder: Decoder, instruction: Instruction) -> Operation:
    """stmatrix: the reverse of ldmatrix."""
    count = _count(instruction)
    transposed = "trans" in instruction.modifiers
    addresses = build_addresses(decoder, instruction.operands[0])
    sources = _slots(decoder, instruction.operands[1], "b32", written=False)
    accesses = Accesses(instruction, space_of(instruction), 16, writes=True)

    def run(regs: Regs, frame: Frame) -> None:
        part, rows = _givers(frame, count)
        ((region, _, positions),) = accesses.parts(addresses(regs, frame)[rows], part)
        watch = frame.wave.context.watch
        if watch is not None:
            watch.write(accesses, part, region, None, positions, strong=False)
        words = np.ascontiguousarray(_stack(regs, frame, sources).transpose(1, 0, 2, 3))
        halves = words.view(U16)
        if transposed:
            halves = halves.transpose(0, 1, 3, 2)
        region.view(U16).reshape(-1, 8)[positions >> 4] = halves.reshape(-1, 8)
        mark_written(region, positions, 16)

    return run


def _givers(frame: Frame, count: int) -> tuple[Frame, Array]:
    """The lanes whose addresses count: the first 8 · count of each warp, as a frame and as places."""
    rows = np.arange(frame.count).reshape(-1, 32)[:, : GROUPS * count].reshape(-1)
    return (frame, rows) if count == 4 else (frame.subset(rows, ()), rows)


def build_move_matrix(decoder: Decoder, instruction: Instruction) -> Operation:
    """movmatrix: an 8 by 8 matrix of halves, transposed across the warp."""
    target = decoder.write(instruction.operands[0], "b32")
    source = decoder.read(instruction.operands[1], "b32")

    def run(regs: Regs, frame: Frame) -> None:
        halves = np.ascontiguousarray(full(regs[source], frame)).view(U16).reshape(-1, GROUPS, 8)
        regs[target][...] = np.ascontiguousarray(halves.transpose(0, 2, 1)).view(U32).reshape(-1)

    return run


FAMILY = {
    "mma": build_mma,
    "ldmatrix": build_load_matrix,
    "stmatrix": build_store_matrix,
    "movmatrix": build_move_matrix,
}
