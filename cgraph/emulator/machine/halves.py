"""Arithmetic in f16, bf16 and their pairs: add sub mul fma min max abs neg, and functions.

Operands are widened to f32. A sum or a product of two halves, rounded to f32 and then to the half, is the one rounded
once, because f32 has more than twice the bits; fma goes through an exact pair.
Source: PTX ISA, "Half Precision Floating Point Instructions".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import F16, F32, F64, U16, U32, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of
from cgraph.emulator.machine.floats import extreme
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.rounding import flush, narrow_bf16, odd_f32, saturate, to_odd, two_sum, widen_bf16
from cgraph.emulator.ptx.model import Instruction

Function = Callable[..., Array]


def halves_of(words: Array, frame: Frame) -> Array:
    """Pairs in 32-bit words as one array of 16 bits, twice as long."""
    return np.ascontiguousarray(full(words, frame)).view(U16)


def widen(bits: Array, kind: str) -> Array:
    """Bits of f16 or bf16 (or pairs of them) as f32."""
    return widen_bf16(bits) if kind.startswith("bf16") else bits.view(F16).astype(F32)


def narrow(values: Array, kind: str) -> Array:
    """f32 values as bits of f16 or bf16."""
    return narrow_bf16(values) if kind.startswith("bf16") else np.asarray(values.astype(F16)).view(U16)


def build_half_function(decoder: Decoder, instruction: Instruction, function: Function) -> Operation:
    """The operation `d = function(sources)` on halves; function takes and gives f32, or gives bits of the half."""
    kind = type_of(instruction)
    pairs = kind.endswith("x2")
    dtype = U32 if pairs else U16
    target = decoder.write_as(instruction.operands[0], dtype)
    sources = [decoder.read_as(operand, dtype) for operand in instruction.operands[1:]]
    flushes, saturates = "ftz" in instruction.modifiers, "sat" in instruction.modifiers
    relu = "relu" in instruction.modifiers

    def run(regs: Regs, frame: Frame) -> None:
        bits = [halves_of(regs[source], frame) if pairs else full(regs[source], frame) for source in sources]
        values = [widen(each, kind) for each in bits]
        if flushes:
            values = [_flushed(value, kind) for value in values]
        result = np.asarray(function(*values))
        narrowed = result if result.dtype == U16 else narrow(result, kind)
        if flushes or saturates or relu:
            result = widen(narrowed, kind)
            result = _flushed(result, kind) if flushes else result
            result = saturate(result) if saturates else result
            result = np.where(result < 0, F32.type(0), result) if relu else result
            narrowed = narrow(result, kind)
        regs[target][...] = narrowed.view(dtype)

    return run


def _flushed(values: Array, kind: str) -> Array:
    if kind.startswith("bf16"):
        return flush(values)
    return np.where(np.abs(values) < F32.type(2.0**-14), np.copysign(F32.type(0), values), values)


def _fma_rounded(kind: str) -> Function:
    """The function a · b + c, exactly, as bits of the half."""

    def fma(a: Array, b: Array, c: Array) -> Array:
        exact = to_odd(*two_sum(np.multiply(a, b, dtype=F64), np.asarray(c, F64)))
        return narrow_bf16(odd_f32(exact)) if kind.startswith("bf16") else exact.astype(F16).view(U16)

    return fma


def build_half_arithmetic(decoder: Decoder, instruction: Instruction) -> Operation:
    """add, sub, mul, fma, min, max, abs, neg of halves."""
    kind, opcode = type_of(instruction), instruction.opcode
    if opcode in {"abs", "neg"} and "ftz" not in instruction.modifiers:
        return _build_sign(decoder, instruction)
    if opcode in {"min", "max"}:
        propagates, by_size = "NaN" in instruction.modifiers, "abs" in instruction.modifiers

        def function(a: Array, b: Array) -> Array:
            if not by_size:
                return extreme(opcode, a, b, propagates=propagates)
            result = extreme(opcode, np.abs(a), np.abs(b), propagates=propagates)
            return np.where(np.signbit(a) ^ np.signbit(b), -result, result)

        return build_half_function(decoder, instruction, function)
    functions: dict[str, Function] = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "fma": _fma_rounded(kind),
        "abs": np.abs,
        "neg": np.negative,
    }
    return build_half_function(decoder, instruction, functions[opcode])


def _build_sign(decoder: Decoder, instruction: Instruction) -> Operation:
    """Both abs and neg change the sign's bit alone, of NaN too."""
    pairs = type_of(instruction).endswith("x2")
    dtype = U32 if pairs else U16
    target = decoder.write_as(instruction.operands[0], dtype)
    source = decoder.read_as(instruction.operands[1], dtype)
    signs = dtype.type(0x80008000 if pairs else 0x8000)
    clears = instruction.opcode == "abs"

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = regs[source] & ~signs if clears else regs[source] ^ signs

    return run
