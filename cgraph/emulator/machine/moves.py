"""Moves: mov, cvta, isspacep, and the clock.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from typing import NoReturn

import numpy as np

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine.arrays import BOOL, U32, U64, UNSIGNED
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of, window_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.regions import WINDOW_SHIFT, WINDOWS
from cgraph.emulator.ptx.model import Instruction, Operand, Special, Symbol, Vector
from cgraph.emulator.ptx.problems import WrongOperand
from cgraph.emulator.ptx.types import SIZE_BYTES

_CLOCKS = {"%clock": 0, "%clock64": 0, "%globaltimer": 0, "%clock_hi": 32, "%globaltimer_lo": 0, "%globaltimer_hi": 32}
SPACE_BITS = np.uint64(WINDOW_SHIFT)


def build_move(decoder: Decoder, instruction: Instruction) -> Operation:
    """mov: a value, an address, a special register, or parts of a register."""
    target, source = instruction.operands
    kind = type_of(instruction)
    if kind == "pred":
        return _build_predicate(decoder, instruction)
    dtype = UNSIGNED[SIZE_BYTES[kind]]
    if isinstance(target, Vector):
        return _build_unpack(decoder, target, source, dtype.itemsize)
    result = decoder.write_as(target, dtype)
    if isinstance(source, Vector):
        return _build_pack(decoder, result, source, dtype.itemsize)
    if isinstance(source, Special) and source.name in _CLOCKS:
        shift = _CLOCKS[source.name]

        def run_clock(regs: Regs, frame: Frame) -> None:
            regs[result][...] = np.array(frame.wave.context.executed >> shift, U64).astype(dtype)

        return run_clock
    if isinstance(source, Special) and dtype != U32:
        special = decoder.read_as(source, U32)

        def run_special(regs: Regs, _: Frame) -> None:
            regs[result][...] = regs[special]

        return run_special
    value = decoder.read_as(source, dtype)

    def run(regs: Regs, _: Frame) -> None:
        regs[result][...] = regs[value]

    return run


def _build_predicate(decoder: Decoder, instruction: Instruction) -> Operation:
    target = decoder.write_as(instruction.operands[0], BOOL)
    source = decoder.predicate(instruction.operands[1])

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = source(regs)

    return run


def _build_pack(decoder: Decoder, result: int, source: Vector, size_bytes: int) -> Operation:
    """Several registers as parts of one, the first the lowest."""
    part = UNSIGNED[size_bytes // len(source.parts)]
    slots = [decoder.read_as(each, part) for each in source.parts]

    def run(regs: Regs, frame: Frame) -> None:
        parts = np.empty((frame.count, len(slots)), part)
        for place, slot in enumerate(slots):
            parts[:, place] = regs[slot]
        regs[result][...] = parts.view(UNSIGNED[size_bytes])[:, 0]

    return run


def _build_unpack(decoder: Decoder, target: Vector, source: Operand, size_bytes: int) -> Operation:
    """The parts of one register in several, the lowest first."""
    part = UNSIGNED[size_bytes // len(target.parts)]
    value = decoder.read_as(source, UNSIGNED[size_bytes])
    slots = [None if each is None else decoder.write_as(each, part) for each in target.parts]

    def run(regs: Regs, frame: Frame) -> None:
        values = np.array(full(regs[value], frame))  # a copy: a part may be the register itself
        parts = values.view(part).reshape(frame.count, len(slots))
        for place, slot in enumerate(slots):
            if slot is not None:
                regs[slot][...] = parts[:, place]

    return run


def build_address(decoder: Decoder, instruction: Instruction) -> Operation:
    """cvta: adds the window of a space, or takes it away."""
    space = next(each for each in instruction.modifiers if each in {"global", "shared", "local", "const", "param"})
    target, source = instruction.operands
    if isinstance(source, Symbol) and source.space != space:
        _refuse(instruction, f"{source.name} is in {source.space} memory")
    result, value = decoder.write(target, "u64"), decoder.read(source, "u64")
    window = decoder.registers.constant(window_of(space))
    ufunc = np.subtract if "to" in instruction.modifiers else np.add

    def run(regs: Regs, _: Frame) -> None:
        ufunc(regs[value], regs[window], regs[result])

    return run


def build_space_test(decoder: Decoder, instruction: Instruction) -> Operation:
    """isspacep: whether a generic address lies in a space."""
    space = instruction.modifiers[0].partition("::")[0]
    target = decoder.write(instruction.operands[0], "pred")
    source = decoder.read(instruction.operands[1], "u64")
    window = WINDOWS.get(space, 0)
    outside = max(WINDOWS.values())

    def run(regs: Regs, _: Frame) -> None:
        found = regs[source] >> SPACE_BITS
        regs[target][...] = found == window if window else found > outside

    return run


def build_nothing(_decoder: Decoder, _instruction: Instruction) -> Operation:
    """Hints, fences and pauses: accesses of the machine are in order anyway."""

    def run(_regs: Regs, _frame: Frame) -> None:
        return

    return run


def _refuse(instruction: Instruction, fault: str) -> NoReturn:
    raise ProblemsFound([WrongOperand(instruction.span, instruction.mnemonic, fault)])


FAMILY = {
    "mov": build_move,
    "cvta": build_address,
    "isspacep": build_space_test,
    "prefetch": build_nothing,
    "prefetchu": build_nothing,
    "membar": build_nothing,
    "fence": build_nothing,
    "nanosleep": build_nothing,
}
