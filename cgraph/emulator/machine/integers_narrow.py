"""Products of parts of words: dp4a, dp2a, mul24, mad24.

Source: PTX ISA, "Integer Arithmetic Instructions".
"""

import numpy as np

from cgraph.emulator.machine.arrays import S32, S64, U32, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.ptx.model import Instruction


def field(values: Array, start: int, bits: int, *, signed: bool) -> Array:
    """Some bits of 32-bit words, extended to 64."""
    raised: Array = values.astype(U32) << U32.type(32 - bits - start)
    extended = (raised.view(S32) if signed else raised) >> (S32 if signed else U32).type(32 - bits)
    return np.asarray(extended, S64)


def build_dot(decoder: Decoder, instruction: Instruction) -> Operation:
    """dp4a and dp2a: c + the sum of products of bytes (dp2a: halves of a with the lower or upper bytes of b)."""
    *_, a_kind, b_kind = instruction.modifiers
    by_four = instruction.opcode == "dp4a"
    shift = 16 if instruction.modifiers[0] == "hi" else 0
    result, *sources = instruction.operands
    target = decoder.write(result, "u32")
    first, second, third = (decoder.read(source, "u32") for source in sources)
    a_signed, b_signed = a_kind == "s32", b_kind == "s32"

    def run(regs: Regs, _: Frame) -> None:
        total = np.asarray(regs[third]).astype(S64)
        for part in range(4 if by_four else 2):
            width = 8 if by_four else 16
            a = field(np.asarray(regs[first]), width * part, width, signed=a_signed)
            total = total + a * field(np.asarray(regs[second]), 8 * part + shift, 8, signed=b_signed)
        regs[target][...] = total.astype(U32)

    return run


def build_multiply_24(decoder: Decoder, instruction: Instruction) -> Operation:
    """mul24 and mad24.lo: the lower or upper 32 of 48 bits."""
    signed = instruction.modifiers[-1] == "s32"
    shift = 16 if instruction.modifiers[0] == "hi" else 0
    result, *sources = instruction.operands
    target = decoder.write(result, "u32")
    first, second, *rest = (decoder.read(source, "u32") for source in sources)

    def run(regs: Regs, _: Frame) -> None:
        a = field(np.asarray(regs[first]), 0, 24, signed=signed)
        product = (a * field(np.asarray(regs[second]), 0, 24, signed=signed)) >> S64.type(shift)
        regs[target][...] = (product + regs[rest[0]] if rest else product).astype(U32)

    return run


FAMILY = {"dp4a": build_dot, "dp2a": build_dot, "mul24": build_multiply_24, "mad24": build_multiply_24}
