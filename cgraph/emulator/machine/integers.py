"""Integer arithmetic: add sub mul mad div rem min max abs neg sad dp4a dp2a, with carries and saturation.

Source: PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
"""

import numpy as np

from cgraph.emulator.machine.arrays import S64, SIGNED, U64, UNSIGNED, Array, DType
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES, SIZE_BYTES

LOW_HALF = np.uint64(0xFFFFFFFF)
HALF_BITS = np.uint64(32)


def is_integer(instruction: Instruction) -> bool:
    """Whether the instruction's last type is an integer's (or bits)."""
    return type_of(instruction)[0] in "sub" and not type_of(instruction).startswith("bf")


def build_ufunc(decoder: Decoder, instruction: Instruction, ufunc: np.ufunc, dtype: DType) -> Operation:
    """The operation `d = ufunc(sources)` with all operands of one NumPy type."""
    target = decoder.write_as(instruction.operands[0], dtype)
    first, *rest = (decoder.read_as(operand, dtype) for operand in instruction.operands[1:])
    if not rest:

        def unary(regs: Regs, _: Frame) -> None:
            ufunc(regs[first], regs[target])

        return unary
    second = rest[0]

    def binary(regs: Regs, _: Frame) -> None:
        ufunc(regs[first], regs[second], out=regs[target])

    return binary


def build_add_sub(decoder: Decoder, instruction: Instruction) -> Operation:
    """Addition and subtraction; wrap, or saturate, or with carry."""
    kind = type_of(instruction)
    if "cc" in instruction.modifiers or instruction.opcode in {"addc", "subc"}:
        return _build_carry(decoder, instruction, UNSIGNED[SIZE_BYTES[kind]])
    ufunc = np.add if instruction.opcode == "add" else np.subtract
    if "sat" not in instruction.modifiers:
        return build_ufunc(decoder, instruction, ufunc, UNSIGNED[SIZE_BYTES[kind]])
    target, first, second = _three(decoder, instruction, DTYPES[kind])

    def run(regs: Regs, _: Frame) -> None:
        wide = ufunc(regs[first], regs[second], dtype=S64)
        regs[target][...] = np.clip(wide, -(1 << 31), (1 << 31) - 1)

    return run


def _three(decoder: Decoder, instruction: Instruction, dtype: DType) -> tuple[int, int, int]:
    target, first, second = instruction.operands[:3]
    return decoder.write_as(target, dtype), decoder.read_as(first, dtype), decoder.read_as(second, dtype)


def _build_carry(decoder: Decoder, instruction: Instruction, dtype: DType) -> Operation:
    """add.cc, addc, sub.cc, subc: the flag is a carry, or a borrow."""
    target, first, second = _three(decoder, instruction, dtype)
    takes = instruction.opcode in {"addc", "subc"}
    gives = "cc" in instruction.modifiers
    flag_in = decoder.carry() if takes else None
    flag_out = decoder.write_carry() if gives else None
    adds = instruction.opcode.startswith("add")

    def run(regs: Regs, _: Frame) -> None:
        a, b = regs[first], regs[second]
        flag = regs[flag_in].astype(dtype) if flag_in is not None else dtype.type(0)
        if adds:
            partial = a + b
            result = partial + flag
            carry = (partial < a) | (result < partial)
        else:
            partial = a - b
            result = partial - flag
            carry = (a < b) | (partial < flag)
        regs[target][...] = result
        if flag_out is not None:
            regs[flag_out][...] = carry

    return run


def multiply_high(a: Array, b: Array, kind: str) -> Array:
    """The upper half of the product of two integers of a PTX type."""
    size = SIZE_BYTES[kind]
    if size < 8:
        wide = S64 if kind.startswith("s") else U64
        return np.asarray(np.multiply(a, b, dtype=wide) >> wide.type(8 * size))
    unsigned_a, unsigned_b = a.astype(U64), b.astype(U64)
    a_low, a_high = unsigned_a & LOW_HALF, unsigned_a >> HALF_BITS
    b_low, b_high = unsigned_b & LOW_HALF, unsigned_b >> HALF_BITS
    middle = a_high * b_low + ((a_low * b_low) >> HALF_BITS)
    other = a_low * b_high + (middle & LOW_HALF)
    high = a_high * b_high + (middle >> HALF_BITS) + (other >> HALF_BITS)
    if kind == "s64":
        high = high - np.where(a < 0, unsigned_b, U64.type(0)) - np.where(b < 0, unsigned_a, U64.type(0))
    return np.asarray(high)


def _wide_dtype(kind: str) -> DType:
    return (SIGNED if kind.startswith("s") else UNSIGNED)[2 * SIZE_BYTES[kind]]


def build_multiply(decoder: Decoder, instruction: Instruction) -> Operation:
    """mul.lo, mul.hi, mul.wide."""
    kind = type_of(instruction)
    part = instruction.modifiers[0]
    if part == "lo":
        return build_ufunc(decoder, instruction, np.multiply, UNSIGNED[SIZE_BYTES[kind]])
    result, *sources = instruction.operands
    first, second = (decoder.read(source, kind) for source in sources)
    if part == "wide":
        wide = _wide_dtype(kind)
        target = decoder.write_as(result, wide)

        def run_wide(regs: Regs, _: Frame) -> None:
            np.multiply(regs[first], regs[second], regs[target], dtype=wide)

        return run_wide
    target = decoder.write(result, kind)

    def run_high(regs: Regs, _: Frame) -> None:
        regs[target][...] = multiply_high(regs[first], regs[second], kind)

    return run_high


def build_multiply_add(decoder: Decoder, instruction: Instruction) -> Operation:
    """mad.lo, mad.hi, mad.wide, and those with carries."""
    kind = type_of(instruction)
    part = instruction.modifiers[0]
    result, *sources = instruction.operands
    if "cc" in instruction.modifiers or instruction.opcode == "madc":
        return _build_multiply_carry(decoder, instruction)
    if part == "wide":
        wide = _wide_dtype(kind)
        target, third = decoder.write_as(result, wide), decoder.read_as(sources[2], wide)
        first, second = (decoder.read(source, kind) for source in sources[:2])

        def run_wide(regs: Regs, _: Frame) -> None:
            np.add(np.multiply(regs[first], regs[second], dtype=wide), regs[third], regs[target])

        return run_wide
    dtype = UNSIGNED[SIZE_BYTES[kind]] if part == "lo" else DTYPES[kind]
    target = decoder.write_as(result, dtype)
    first, second, third = (decoder.read_as(source, dtype) for source in sources)

    def run_low(regs: Regs, _: Frame) -> None:
        np.add(np.multiply(regs[first], regs[second]), regs[third], regs[target])

    def run_high(regs: Regs, _: Frame) -> None:
        np.add(multiply_high(regs[first], regs[second], kind).astype(dtype), regs[third], regs[target])

    def run_saturated(regs: Regs, _: Frame) -> None:
        wide = multiply_high(regs[first], regs[second], kind) + regs[third].astype(S64)
        regs[target][...] = np.clip(wide, -(1 << 31), (1 << 31) - 1)

    if "sat" in instruction.modifiers:
        return run_saturated
    return run_low if part == "lo" else run_high


def _build_multiply_carry(decoder: Decoder, instruction: Instruction) -> Operation:
    kind = type_of(instruction)
    dtype = UNSIGNED[SIZE_BYTES[kind]]
    high = instruction.modifiers[0] == "hi"
    result, *sources = instruction.operands
    target, third = decoder.write_as(result, dtype), decoder.read_as(sources[2], dtype)
    first, second = (decoder.read(source, kind) for source in sources[:2])
    flag_in = decoder.carry() if instruction.opcode == "madc" else None
    flag_out = decoder.write_carry() if "cc" in instruction.modifiers else None

    def run(regs: Regs, _: Frame) -> None:
        a, b = regs[first], regs[second]
        product = (multiply_high(a, b, kind) if high else a * b).astype(dtype)
        partial = product + regs[third]
        carry = partial < product
        if flag_in is not None:
            total = partial + regs[flag_in].astype(dtype)
            carry |= total < partial
            partial = total
        regs[target][...] = partial
        if flag_out is not None:
            regs[flag_out][...] = carry

    return run


def build_divide(decoder: Decoder, instruction: Instruction) -> Operation:
    """Quotients and rests, toward zero. Division by zero gives all ones, as devices do; the ISA leaves it open."""
    kind = type_of(instruction)
    dtype = DTYPES[kind]
    target, first, second = _three(decoder, instruction, dtype)
    divides = instruction.opcode == "div"

    def run(regs: Regs, _: Frame) -> None:
        a, b = regs[first], regs[second]
        rest = np.fmod(a, b)
        result = np.floor_divide(a - rest, b) if divides else rest
        zero = b == 0
        if zero.any():
            result = np.where(zero, np.array(-1, S64).astype(dtype) if divides else a, result)
        regs[target][...] = result

    return run


def build_min_max(decoder: Decoder, instruction: Instruction) -> Operation:
    """The lesser or the greater of two, at least 0 with relu."""
    dtype = DTYPES[type_of(instruction)]
    ufunc = np.minimum if instruction.opcode == "min" else np.maximum
    if "relu" not in instruction.modifiers:
        return build_ufunc(decoder, instruction, ufunc, dtype)
    target, first, second = _three(decoder, instruction, dtype)

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = np.maximum(ufunc(regs[first], regs[second]), dtype.type(0))

    return run


def build_sign(decoder: Decoder, instruction: Instruction) -> Operation:
    """Changes of sign; the smallest integer stays as it is."""
    dtype = DTYPES[type_of(instruction)]
    return build_ufunc(decoder, instruction, np.abs if instruction.opcode == "abs" else np.negative, dtype)


def build_sad(decoder: Decoder, instruction: Instruction) -> Operation:
    """The operation d = c + |a - b|."""
    dtype = DTYPES[type_of(instruction)]
    target, first, second = _three(decoder, instruction, dtype)
    third = decoder.read_as(instruction.operands[3], dtype)

    def run(regs: Regs, _: Frame) -> None:
        a, b = regs[first], regs[second]
        regs[target][...] = np.where(a > b, a - b, b - a) + regs[third]

    return run
