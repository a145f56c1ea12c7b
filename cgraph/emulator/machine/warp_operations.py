"""Exchanges within a warp: shfl vote match activemask redux elect movmatrix.

Receives frames whose warps hold every lane that the instruction's mask names (the scheduler sees to it); a lane that
is not there has exited. Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync" and "Parallel
Synchronization and Communication Instructions".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import U32, WARP_LANES, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.warps import Warps
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES

LANES = np.arange(WARP_LANES)
_POWERS = (np.uint32(1) << np.arange(WARP_LANES, dtype=np.uint32)).astype(U32)
_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def mask_words(lanes: Array) -> Array:
    """Rows of 32 booleans as one word each, lane 0 the lowest bit."""
    return np.asarray((lanes * _POWERS).sum(axis=-1, dtype=U32))


def build_shuffle(decoder: Decoder, instruction: Instruction) -> Operation:
    """shfl: a value of another lane of the same segment, and whether that lane is in range."""
    mode = instruction.modifiers[-2]
    value_target, predicate_target = decoder.results(instruction.operands[0], ("b32", "pred"))
    source, lane, control = (decoder.read(operand, "u32") for operand in instruction.operands[1:4])
    plans: dict[tuple[int, int], tuple[Array, Array]] = {}

    def plan(regs: Regs, frame: Frame, warps: Warps) -> tuple[Array, Array]:
        by, packed = regs[lane], regs[control]
        first = int(by.flat[0]) & 31, int(packed.flat[0])
        if by.ndim == packed.ndim == 0 or ((by == by.flat[0]).all() and (packed == first[1]).all()):
            if first not in plans:
                plans[first] = sources_of(mode, LANES, *first)
            return plans[first]
        return sources_of(
            mode, LANES, warps.spread(by, frame.count).astype(np.int64) & 31, warps.spread(packed, frame.count)
        )

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        values = warps.spread(regs[source], frame.count)
        places, in_range = plan(regs, frame, warps)
        watch = frame.wave.context.watch
        if watch is not None and not warps.full:
            watch.shuffle(instruction, frame, warps, np.broadcast_to(places, values.shape))
        if value_target is not None:
            taken = values[:, places] if places.ndim == 1 else np.take_along_axis(values, places, axis=1)
            regs[value_target][...] = warps.collect(taken)
        if predicate_target is not None:
            regs[predicate_target][...] = warps.collect(np.broadcast_to(in_range, values.shape))

    return run


def sources_of(mode: str, lanes: Array, by: Array | int, control: Array | int) -> tuple[Array, Array]:
    """Which lane each lane reads from, and whether that is in range; out of range a lane reads itself."""
    control = np.asarray(control).astype(np.int64)
    clamp, segment = control & 31, control >> 8 & 31
    last = (lanes & segment) | (clamp & ~segment)
    wanted: Array
    if mode == "up":
        wanted = lanes - by
        in_range = wanted >= last
    elif mode == "down":
        wanted = lanes + by
        in_range = wanted <= last
    elif mode == "bfly":
        wanted = lanes ^ by
        in_range = wanted <= last
    else:
        wanted = (lanes & segment) | (by & ~segment)
        in_range = wanted <= last
    return np.where(in_range, wanted, lanes), in_range


def build_vote(decoder: Decoder, instruction: Instruction) -> Operation:
    """vote: all, any, uni, or the ballot of a predicate over the lanes of the mask."""
    mode = instruction.modifiers[1]
    target = decoder.write(instruction.operands[0], "b32" if mode == "ballot" else "pred")
    predicate = decoder.predicate(instruction.operands[1])
    mask = decoder.read(instruction.operands[2], "u32")

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        voters = members(regs[mask], frame, warps)
        votes = warps.spread(predicate(regs), frame.count) & voters
        answer: Array
        if mode == "ballot":
            answer = mask_words(votes)
        elif mode == "any":
            answer = np.asarray(votes.any(axis=1))
        else:
            everyone = np.asarray((votes | ~voters).all(axis=1))
            answer = everyone if mode == "all" else np.asarray(everyone | ~votes.any(axis=1))
        regs[target][...] = warps.collect(np.broadcast_to(answer[:, None], votes.shape))

    return run


def members(mask: Array, frame: Frame, warps: Warps) -> Array:
    """Which lanes are there and named by their warp's mask, [rows, 32]."""
    if mask.ndim == 0:
        return np.asarray(warps.active & ((mask & _POWERS) != 0))
    words = warps.spread(mask, frame.count).max(axis=1)
    return np.asarray(warps.active & ((words[:, None] & _POWERS) != 0))


def build_match(decoder: Decoder, instruction: Instruction) -> Operation:
    """match.any: the lanes with the same value; match.all: the mask where all have one value, else 0."""
    any_mode = instruction.modifiers[0] == "any"
    first, second = decoder.results(instruction.operands[0], ("b32", "pred"))
    source = decoder.read(instruction.operands[1], type_of(instruction))
    mask = decoder.read(instruction.operands[2], "u32")

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        there = members(regs[mask], frame, warps)
        values = warps.spread(regs[source], frame.count)
        same = (values[:, :, None] == values[:, None, :]) & there[:, None, :]
        if any_mode:
            answer = mask_words(same)
        else:
            holds = (same | ~there[:, None, :]).all(axis=2)
            answer = np.where(holds, mask_words(there)[:, None], U32.type(0))
            if second is not None:
                regs[second][...] = warps.collect(holds)
        if first is not None:
            regs[first][...] = warps.collect(answer)

    return run


def build_active(decoder: Decoder, instruction: Instruction) -> Operation:
    """activemask: the lanes that execute it together."""
    target = decoder.write(instruction.operands[0], "u32")

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        words = mask_words(warps.active)
        regs[target][...] = warps.collect(np.broadcast_to(words[:, None], warps.active.shape))

    return run


def build_redux(decoder: Decoder, instruction: Instruction) -> Operation:
    """redux: one value from those of the lanes of the mask."""
    name, kind = instruction.modifiers[1:]
    dtype = DTYPES[kind]
    reduce: Callable[..., Array] = _REDUCTIONS[name].reduce
    info = np.iinfo(kind.replace("s", "int").replace("u", "uint").replace("b", "uint"))
    neutral = {"min": info.max, "max": info.min, "and": info.max}.get(name, 0)
    target, source = decoder.write(instruction.operands[0], kind), decoder.read(instruction.operands[1], kind)
    mask = decoder.read(instruction.operands[2], "u32")

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        values = warps.spread(regs[source], frame.count)
        answer = reduce(np.where(members(regs[mask], frame, warps), values, dtype.type(neutral)), axis=1, dtype=dtype)
        regs[target][...] = warps.collect(np.broadcast_to(answer[:, None], values.shape))

    return run


def build_warp_barrier(_: Decoder, __: Instruction) -> Operation:
    """bar.warp.sync: the lanes of the mask are here already."""

    def run(_: Regs, frame: Frame) -> None:
        watch = frame.wave.context.watch
        if watch is not None:
            watch.warp_barrier(frame.wave, frame.lanes)

    return run


def build_elect(decoder: Decoder, instruction: Instruction) -> Operation:
    """elect: the lowest lane of the mask, and whether one is it."""
    first, second = decoder.results(instruction.operands[0], ("b32", "pred"))
    mask = decoder.read(instruction.operands[1], "u32")

    def run(regs: Regs, frame: Frame) -> None:
        warps = frame.warps()
        leader = members(full(regs[mask], frame), frame, warps).argmax(axis=1)[:, None]
        if first is not None:
            regs[first][...] = warps.collect(np.broadcast_to(leader, warps.active.shape))
        if second is not None:
            regs[second][...] = warps.collect(leader == LANES)

    return run


FAMILY = {
    "bar": build_warp_barrier,
    "shfl": build_shuffle,
    "vote": build_vote,
    "match": build_match,
    "activemask": build_active,
    "redux": build_redux,
    "elect": build_elect,
}
