"""Arithmetic in f32 and f64: add sub mul fma div rcp sqrt min max abs neg copysign testp.

All results are rounded once, in the mode that the instruction names. div.approx, div.full, rcp.approx and sqrt.approx
give the correctly rounded result, where the ISA allows an error of 1 or 2 ulp.
Source: PTX ISA, "Floating Point Instructions".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import F32, F64, UNSIGNED, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.integers import build_ufunc
from cgraph.emulator.machine.rounding import (
    flush,
    fma_f32,
    fma_f64,
    round_f32,
    round_f64,
    saturate,
    two_product,
    two_sum,
)
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES

ROUNDINGS = ("rz", "rm", "rp")
Function = Callable[..., Array]


def rounding_of(instruction: Instruction) -> str:
    """The rounding mode that an instruction names, `rn` where it names none."""
    return next((mode for mode in instruction.modifiers if mode in ROUNDINGS), "rn")


def build_function(decoder: Decoder, instruction: Instruction, function: Function) -> Operation:
    """The operation `d = function(sources)` with .ftz and .sat around it where the instruction has them."""
    dtype = DTYPES[type_of(instruction)]
    target = decoder.write_as(instruction.operands[0], dtype)
    sources = [decoder.read_as(operand, dtype) for operand in instruction.operands[1:]]
    flushes, saturates = "ftz" in instruction.modifiers, "sat" in instruction.modifiers

    def run(regs: Regs, _: Frame) -> None:
        values = [regs[source] for source in sources]
        if flushes:
            values = [flush(value) for value in values]
        result = np.asarray(function(*values))
        if flushes:
            result = flush(result.astype(dtype))
        regs[target][...] = saturate(result) if saturates else result

    return run


def is_plain(instruction: Instruction) -> bool:
    """Whether an instruction rounds to nearest and neither flushes nor saturates."""
    return rounding_of(instruction) == "rn" and not {"ftz", "sat"} & set(instruction.modifiers)


def build_add(decoder: Decoder, instruction: Instruction) -> Operation:
    """Sums and differences."""
    ufunc = np.add if instruction.opcode == "add" else np.subtract
    if is_plain(instruction):
        return build_ufunc(decoder, instruction, ufunc, DTYPES[type_of(instruction)])
    mode = rounding_of(instruction)
    if mode == "rn":
        return build_function(decoder, instruction, ufunc)
    rounds = round_f32 if type_of(instruction) == "f32" else round_f64
    sign = 1.0 if instruction.opcode == "add" else -1.0

    def directed(a: Array, b: Array) -> Array:
        a, b = a.astype(F64), b.astype(F64) * sign
        result = rounds(*two_sum(a, b), mode)
        # An exact zero of two numbers that cancel is -0 when rounding down.
        cancels = (a == -b) & (a != 0) & np.isfinite(a)
        return np.where(cancels, result.dtype.type(-0.0 if mode == "rm" else 0.0), result)

    return build_function(decoder, instruction, _within_range(directed, mode))


def _within_range(function: Function, mode: str) -> Function:
    """A sum or product of finite numbers that is too large: infinite only where the mode rounds away from zero."""

    def bounded(*sources: Array) -> Array:
        result = np.asarray(function(*sources))
        beyond = np.isinf(result)
        if not beyond.any():
            return result
        for source in sources:
            beyond = beyond & np.isfinite(source)
        stays = {"rz": np.ones_like(beyond), "rm": result > 0, "rp": result < 0}.get(mode, np.zeros_like(beyond))
        return np.where(beyond & stays, np.copysign(np.finfo(result.dtype).max, result), result)

    return bounded


def build_multiply(decoder: Decoder, instruction: Instruction) -> Operation:
    """Products."""
    if is_plain(instruction):
        return build_ufunc(decoder, instruction, np.multiply, DTYPES[type_of(instruction)])
    mode = rounding_of(instruction)
    if mode == "rn":
        return build_function(decoder, instruction, np.multiply)
    if type_of(instruction) == "f32":
        return build_function(
            decoder, instruction, lambda a, b: round_f32(np.multiply(a, b, dtype=F64), np.zeros(()), mode)
        )
    return build_function(decoder, instruction, _within_range(lambda a, b: round_f64(*two_product(a, b), mode), mode))


def build_fma(decoder: Decoder, instruction: Instruction) -> Operation:
    """Products with a sum: fma and mad."""
    mode = rounding_of(instruction)
    if type_of(instruction) == "f64":
        return build_function(decoder, instruction, _within_range(_directed_fma_f64(mode), mode))
    if not is_plain(instruction):
        return build_function(decoder, instruction, _directed_fma_f32(mode))
    result, *sources = instruction.operands
    target = decoder.write(result, "f32")
    a, b, c = (decoder.read(source, "f32") for source in sources)

    def run(regs: Regs, _: Frame) -> None:
        fma_f32(regs[a], regs[b], regs[c], regs[target])

    return run


def _directed_fma_f32(mode: str) -> Function:
    def fma(a: Array, b: Array, c: Array) -> Array:
        product = np.multiply(a, b, dtype=F64)
        return round_f32(*two_sum(product, np.asarray(c, F64)), mode)

    return fma


def _directed_fma_f64(mode: str) -> Function:
    def fma(a: Array, b: Array, c: Array) -> Array:
        nearest = fma_f64(a, b, c)
        if mode == "rn":
            return nearest
        product, low = two_product(a, b)
        high, rest = two_sum(product, c)
        return round_f64(nearest, ((high - nearest) + rest) + low, mode)

    return fma


def build_divide(decoder: Decoder, instruction: Instruction) -> Operation:
    """Quotients."""
    mode = rounding_of(instruction)
    if mode == "rn":
        if is_plain(instruction):
            return build_ufunc(decoder, instruction, np.divide, DTYPES[type_of(instruction)])
        return build_function(decoder, instruction, np.divide)
    return build_function(decoder, instruction, lambda a, b: divide_directed(a, b, mode))


def divide_directed(a: Array, b: Array, mode: str) -> Array:
    """Quotients a / b in f32 or f64 in a directed mode: the remainder tells on which side the exact one lies."""
    dtype = np.result_type(a, b)
    wide_a, wide_b = a.astype(F64), b.astype(F64)
    quotient = wide_a / wide_b
    product, low = two_product(quotient, wide_b)
    rest = ((wide_a - product) - low) / wide_b
    rest = np.where(np.isfinite(rest), rest, 0.0)
    return round_f32(quotient, rest, mode) if dtype == F32 else round_f64(quotient, rest, mode)


def build_reciprocal(decoder: Decoder, instruction: Instruction) -> Operation:
    """Reciprocals."""
    mode = rounding_of(instruction)
    if type_of(instruction) == "f64" and "approx" in instruction.modifiers:
        return build_function(decoder, instruction, _rough_reciprocal)
    if mode == "rn":
        return build_function(decoder, instruction, np.reciprocal)
    return build_function(decoder, instruction, lambda a: divide_directed(np.ones_like(a), a, mode))


def _rough_reciprocal(a: Array) -> Array:
    """The instruction rcp.approx.ftz.f64 keeps the upper 32 bits only; the rest of the result is zero."""
    bits = np.asarray(1.0 / a).view(UNSIGNED[8])
    return (bits & np.uint64(0xFFFFFFFF_00000000)).view(F64)


def build_root(decoder: Decoder, instruction: Instruction) -> Operation:
    """Square roots."""
    mode = rounding_of(instruction)
    if mode == "rn":
        return build_function(decoder, instruction, np.sqrt)

    def directed(a: Array) -> Array:
        wide = a.astype(F64)
        root = np.sqrt(wide)
        square, low = two_product(root, root)
        rest = np.where(root > 0, ((wide - square) - low) / (2 * root), 0.0)
        return round_f32(root, rest, mode) if a.dtype == F32 else round_f64(root, rest, mode)

    return build_function(decoder, instruction, directed)


def extreme(opcode: str, a: Array, b: Array, *, propagates: bool) -> Array:
    """The min or max of floats: -0 is less than +0; a NaN counts only where both are, or where NaN propagates."""
    low = opcode == "min"
    careful, quiet = (np.minimum, np.fmin) if low else (np.maximum, np.fmax)
    result = careful(a, b) if propagates else quiet(a, b)
    zeros = (a == 0) & (b == 0)
    if zeros.any():
        negative = (np.signbit(a) | np.signbit(b)) if low else (np.signbit(a) & np.signbit(b))
        result = np.where(zeros, np.where(negative, a.dtype.type(-0.0), a.dtype.type(0.0)), result)
    return np.asarray(result)


def build_min_max(decoder: Decoder, instruction: Instruction) -> Operation:
    """The lesser or the greater of two."""
    propagates, by_size = "NaN" in instruction.modifiers, "abs" in instruction.modifiers
    opcode = instruction.opcode

    def function(a: Array, b: Array) -> Array:
        if not by_size:
            return extreme(opcode, a, b, propagates=propagates)
        result = extreme(opcode, np.abs(a), np.abs(b), propagates=propagates)
        return np.where(np.signbit(a) ^ np.signbit(b), -result, result)

    return build_function(decoder, instruction, function)


def build_sign(decoder: Decoder, instruction: Instruction) -> Operation:
    """Changes of sign: abs and neg."""
    ufunc = np.abs if instruction.opcode == "abs" else np.negative
    if is_plain(instruction):
        return build_ufunc(decoder, instruction, ufunc, DTYPES[type_of(instruction)])
    return build_function(decoder, instruction, ufunc)


def build_copysign(decoder: Decoder, instruction: Instruction) -> Operation:
    """copysign: the sign of a, the size of b."""
    return build_function(decoder, instruction, lambda a, b: np.copysign(b, a))


_TESTS: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny),
    "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
}


def build_test(decoder: Decoder, instruction: Instruction) -> Operation:
    """Tests of what kind of number one is: testp."""
    test = _TESTS[instruction.modifiers[0]]
    target = decoder.write(instruction.operands[0], "pred")
    source = decoder.read(instruction.operands[1], type_of(instruction))

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = test(regs[source])

    return run
