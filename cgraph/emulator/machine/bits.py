"""Logic, shifts and bit fields: and or xor not lop3 shl shr shf bfe bfi bfind brev popc clz prmt.

Source: PTX ISA, "Logic and Shift Instructions" and the bit field instructions of "Integer Arithmetic Instructions".
NumPy shifts by a type's width or more give 0 (or the sign), as PTX's do.
"""

import numpy as np

from cgraph.emulator.machine.arrays import BOOL, U32, U64, UNSIGNED, Array, DType
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.integers import build_ufunc
from cgraph.emulator.ptx.model import Immediate, Instruction
from cgraph.emulator.ptx.types import DTYPES, SIZE_BYTES

_LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert}
_PREDICATE_LOGIC = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not}
_BYTE = np.uint64(0xFF)


def build_logic(decoder: Decoder, instruction: Instruction) -> Operation:
    """and, or, xor, not of words or predicates."""
    kind = type_of(instruction)
    if kind != "pred":
        return build_ufunc(decoder, instruction, _LOGIC[instruction.opcode], UNSIGNED[SIZE_BYTES[kind]])
    ufunc = _PREDICATE_LOGIC[instruction.opcode]
    target = decoder.write_as(instruction.operands[0], BOOL)
    getters = [decoder.predicate(operand) for operand in instruction.operands[1:]]

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = ufunc(*(get(regs) for get in getters))

    return run


def build_cnot(decoder: Decoder, instruction: Instruction) -> Operation:
    """The operation d = 1 where a is 0, else 0."""
    return build_ufunc(decoder, instruction, np.logical_not, UNSIGNED[SIZE_BYTES[type_of(instruction)]])


def build_lop3(decoder: Decoder, instruction: Instruction) -> Operation:
    """Any logic of three words, from a table of eight bits."""
    result, *sources, table = instruction.operands
    target = decoder.write(result, "u32")
    a, b, c, lut = (decoder.read(source, "u32") for source in (*sources, table))

    def run(regs: Regs, _: Frame) -> None:
        words = [regs[slot] for slot in (a, b, c)]
        chosen = regs[lut]
        total = U32.type(0)
        for case in range(8):
            bits = [word if case >> (2 - place) & 1 else ~word for place, word in enumerate(words)]
            keep = U32.type(0) - (chosen >> U32.type(case) & U32.type(1))
            total = total | (bits[0] & bits[1] & bits[2] & keep)
        regs[target][...] = total

    return run


def build_shift(decoder: Decoder, instruction: Instruction) -> Operation:
    """Shifts by shl and shr; amounts beyond the width shift everything out."""
    kind = type_of(instruction)
    dtype = DTYPES[kind]
    ufunc = np.left_shift if instruction.opcode == "shl" else np.right_shift
    result, source, amount = instruction.operands
    target, value = decoder.write_as(result, dtype), decoder.read_as(source, dtype)
    bits = 8 * dtype.itemsize
    if isinstance(amount, Immediate):
        amount = Immediate(min(int(amount.value) & 0xFFFFFFFF, bits))
        by = decoder.read_as(amount, dtype)

        def run_constant(regs: Regs, _: Frame) -> None:
            ufunc(regs[value], regs[by], regs[target])

        return run_constant
    by = decoder.read(amount, "u32")

    def run(regs: Regs, _: Frame) -> None:
        ufunc(regs[value], np.minimum(regs[by], bits).astype(dtype), regs[target])

    return run


def build_funnel(decoder: Decoder, instruction: Instruction) -> Operation:
    """shf: 64 bits {b, a} shifted; the upper word (l) or the lower one (r)."""
    left, clamps = instruction.modifiers[0] == "l", instruction.modifiers[1] == "clamp"
    result, *sources = instruction.operands
    target = decoder.write(result, "u32")
    low, high, amount = (decoder.read(source, "u32") for source in sources)
    word = U64.type(32)

    def run(regs: Regs, _: Frame) -> None:
        both = regs[high].astype(U64) << word | regs[low].astype(U64)
        by = np.minimum(regs[amount], 32) if clamps else regs[amount] & U32.type(31)
        by = by.astype(U64)
        regs[target][...] = (both << by) >> word if left else both >> by

    return run


def _ones(count: Array, dtype: DType) -> Array:
    """Words whose lower `count` bits are set; a count of the width or more sets all."""
    one = dtype.type(1)
    return np.asarray(np.left_shift(one, count.astype(dtype)) - one)


def build_extract(decoder: Decoder, instruction: Instruction) -> Operation:
    """bfe: `length` bits from `position`, extended by zero, or by the uppermost bit that is there."""
    kind = type_of(instruction)
    dtype = UNSIGNED[SIZE_BYTES[kind]]
    bits = 8 * dtype.itemsize
    result, source, *rest = instruction.operands
    target, value = decoder.write_as(result, dtype), decoder.read_as(source, dtype)
    start, count = (decoder.read(operand, "u32") for operand in rest)
    signed = kind.startswith("s")

    def run(regs: Regs, _: Frame) -> None:
        a = regs[value]
        position, length = regs[start] & U32.type(255), regs[count] & U32.type(255)
        shifted = np.right_shift(a, position.astype(dtype))
        if not signed:
            regs[target][...] = shifted & _ones(length, dtype)
            return
        there = np.minimum(length, bits - np.minimum(position, bits))
        top = np.minimum(position.astype(np.int64) + length - 1, bits - 1)
        sign = (a >> np.maximum(top, 0).astype(dtype)) & dtype.type(1)
        sign = np.where(length == 0, dtype.type(0), sign)
        mask = _ones(there, dtype)
        regs[target][...] = (shifted & mask) | (~mask & (dtype.type(0) - sign))

    return run


def build_insert(decoder: Decoder, instruction: Instruction) -> Operation:
    """bfi: the lower `length` bits of a replace those of b from `position`."""
    dtype = UNSIGNED[SIZE_BYTES[type_of(instruction)]]
    result, *sources = instruction.operands
    target = decoder.write_as(result, dtype)
    a, b = (decoder.read_as(source, dtype) for source in sources[:2])
    start, count = (decoder.read(source, "u32") for source in sources[2:])

    def run(regs: Regs, _: Frame) -> None:
        position = (regs[start] & U32.type(255)).astype(dtype)
        mask = np.left_shift(_ones(regs[count] & U32.type(255), dtype), position)
        regs[target][...] = (regs[b] & ~mask) | (np.left_shift(regs[a], position) & mask)

    return run


def bit_length(values: Array) -> Array:
    """The number of bits of unsigned integers without leading zeros, as u32. Halves of 32 bits are exact in f64."""
    if values.dtype.itemsize < 8:
        return np.frexp(values.astype(np.float64))[1].astype(U32)
    high = np.frexp((values >> np.uint64(32)).astype(np.float64))[1]
    low = np.frexp((values & np.uint64(0xFFFFFFFF)).astype(np.float64))[1]
    return np.where(high > 0, high + 32, low).astype(U32)


def build_count(decoder: Decoder, instruction: Instruction) -> Operation:
    """popc, clz and bfind."""
    kind = type_of(instruction)
    dtype = DTYPES[kind]
    unsigned = UNSIGNED[dtype.itemsize]
    bits = 8 * dtype.itemsize
    target = decoder.write(instruction.operands[0], "u32")
    source = decoder.read_as(instruction.operands[1], dtype)
    opcode = instruction.opcode
    as_shift = "shiftamt" in instruction.modifiers

    def run_popc(regs: Regs, _: Frame) -> None:
        regs[target][...] = np.bitwise_count(regs[source])

    def run_clz(regs: Regs, _: Frame) -> None:
        regs[target][...] = bits - bit_length(regs[source])

    def run_bfind(regs: Regs, _: Frame) -> None:
        a = regs[source]
        if dtype.kind == "i":
            a = np.where(a < 0, ~a, a).astype(unsigned)
        length = bit_length(a)
        place = length - U32.type(1)
        regs[target][...] = np.where(length == 0, place, bits - length) if as_shift else place

    return {"popc": run_popc, "clz": run_clz, "bfind": run_bfind}[opcode]


def build_reverse(decoder: Decoder, instruction: Instruction) -> Operation:
    """brev: the bits in reverse order."""
    dtype = UNSIGNED[SIZE_BYTES[type_of(instruction)]]
    bits = 8 * dtype.itemsize
    target = decoder.write_as(instruction.operands[0], dtype)
    source = decoder.read_as(instruction.operands[1], dtype)

    def run(regs: Regs, _: Frame) -> None:
        a = np.asarray(regs[source])
        step = bits // 2
        mask = (1 << bits) - 1
        while step:
            mask ^= (mask << step) & ((1 << bits) - 1)
            keep, by = dtype.type(mask), dtype.type(step)
            a = (a >> by & keep) | ((a & keep) << by)
            step //= 2
        regs[target][...] = a

    return run


def _selectors(mode: str, control: Array) -> list[Array]:
    """For each result byte, which of eight source bytes, with 8 added where its sign is repeated."""
    if not mode:
        return [(control >> U32.type(4 * byte)) & U32.type(15) for byte in range(4)]
    low = control & U32.type(3)
    return [
        {
            "f4e": (low + byte) & 7,
            "b4e": (low - byte) & 7,
            "rc8": low,
            "ecl": np.maximum(low, byte),
            "ecr": np.minimum(low, byte),
            "rc16": (low & 1) * 2 + byte % 2,
        }[mode]
        for byte in range(4)
    ]


def build_permute(decoder: Decoder, instruction: Instruction) -> Operation:
    """prmt: four bytes chosen from the eight of {b, a}."""
    mode = instruction.modifiers[1] if len(instruction.modifiers) > 1 else ""
    result, *sources = instruction.operands
    target = decoder.write(result, "u32")
    a, b, c = (decoder.read(source, "u32") for source in sources)

    def run(regs: Regs, _: Frame) -> None:
        both = regs[b].astype(U64) << U64.type(32) | regs[a].astype(U64)
        total = U64.type(0)
        for byte, selector in enumerate(_selectors(mode, regs[c])):
            place = (selector & U32.type(7)).astype(U64) * U64.type(8)
            value = both >> place & _BYTE
            sign = (value >> U64.type(7)) * _BYTE
            total = total | np.where(selector & U32.type(8), sign, value) << U64.type(8 * byte)
        regs[target][...] = total

    return run


FAMILY = {
    "and": build_logic,
    "or": build_logic,
    "xor": build_logic,
    "not": build_logic,
    "cnot": build_cnot,
    "lop3": build_lop3,
    "shl": build_shift,
    "shr": build_shift,
    "shf": build_funnel,
    "bfe": build_extract,
    "bfi": build_insert,
    "bfind": build_count,
    "popc": build_count,
    "clz": build_count,
    "brev": build_reverse,
    "prmt": build_permute,
}
