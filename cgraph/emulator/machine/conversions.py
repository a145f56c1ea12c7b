"""cvt: between integers and floating types.

A float becomes an integer within the integer's range; NaN becomes 0, or the integer's uppermost bit where either type
has 64 bits, as devices do (version 8.7 of the ISA says 0 for all).
Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import F16, F64, U16, U32, U64, Array, DType
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.rounding import (
    flush,
    narrow_bf16,
    narrow_bf16_toward_zero,
    odd_f32,
    round_f16,
    round_f32,
    round_f64,
    saturate,
    to_odd,
    two_sum,
    widen_bf16,
)
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES, is_float

Convert = Callable[[Array], Array]
_TO_INTEGER: dict[str, np.ufunc] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_MODES = frozenset({"rn", "rz", "rm", "rp", "rna"})


def build_convert(decoder: Decoder, instruction: Instruction) -> Operation:
    """Any cvt."""
    target_kind, source_kind = instruction.modifiers[-2:]
    if target_kind.endswith("x2"):
        return _build_pair(decoder, instruction)
    target = decoder.write_wide(instruction.operands[0], target_kind)
    source = decoder.read_wide(instruction.operands[1], source_kind)
    convert = _conversion(instruction, target_kind, source_kind)
    dtype = DTYPES[source_kind]
    bits = np.dtype(f"u{dtype.itemsize}")

    def run(regs: Regs, _: Frame) -> None:
        values = np.asarray(regs[source])
        if values.dtype != dtype:
            values = values.astype(bits).view(dtype)
        regs[target][...] = convert(values)

    return run


def _conversion(instruction: Instruction, target_kind: str, source_kind: str) -> Convert:
    """From values of the source type (bf16 as bits) to those of the target type (bf16 as bits)."""
    modifiers = instruction.modifiers
    to_float, from_float = is_float(target_kind) or target_kind == "tf32", is_float(source_kind)
    if not to_float and not from_float:
        return _between_integers(DTYPES[target_kind], saturates="sat" in modifiers)
    if not to_float:
        rounds = next(_TO_INTEGER[each] for each in modifiers if each in _TO_INTEGER)
        wide = "64" in source_kind or "64" in target_kind
        widen = _widening(source_kind, flushes="ftz" in modifiers)
        return _to_integer(widen, rounds, DTYPES[target_kind], wide=wide)
    mode = next((each for each in modifiers if each in _MODES), "rn")
    if not from_float:
        narrow = narrowing(target_kind, mode)
        return _after(lambda values: narrow(*_exact_pair(values)), instruction, target_kind)
    return _between_floats(instruction, target_kind, source_kind, mode)


def _between_integers(dtype: DType, *, saturates: bool) -> Convert:
    if not saturates:
        return lambda values: values.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def clipped(values: Array) -> Array:
        info = np.iinfo(values.dtype)
        lower, upper = max(low, int(info.min)), min(high, int(info.max))
        return np.clip(values, values.dtype.type(lower), values.dtype.type(upper)).astype(dtype)

    return clipped


def _widening(kind: str, *, flushes: bool) -> Convert:
    """Values of a floating type as f64."""
    if kind == "bf16":
        return lambda bits: widen_bf16(bits).astype(F64)
    if flushes and kind == "f32":
        return lambda values: flush(values).astype(F64)
    return lambda values: values.astype(F64)


def _to_integer(widen: Convert, rounds: np.ufunc, dtype: DType, *, wide: bool) -> Convert:
    low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)  # 2^63 and 2^64 for 64 bits
    nan = np.array(1 << (8 * dtype.itemsize - 1) if wide else 0, U64).astype(dtype)
    top = dtype.type(np.iinfo(dtype).max)

    def convert(values: Array) -> Array:
        rounded = rounds(widen(values))
        inside = np.where((rounded >= low) & (rounded < high), rounded, 0.0).astype(dtype)
        result = np.where(rounded >= high, top, np.where(rounded < low, dtype.type(np.iinfo(dtype).min), inside))
        return np.where(np.isnan(rounded), nan, result)

    return convert


def _exact_pair(values: Array) -> tuple[Array, Array]:
    """Integers as exact pairs of f64."""
    if values.dtype.itemsize < 8:
        return values.astype(F64), np.zeros(values.shape)
    upper = (values >> values.dtype.type(32)).astype(F64) * 2.0**32
    return two_sum(upper, (values & values.dtype.type(0xFFFFFFFF)).astype(F64))


def narrowing(kind: str, mode: str) -> Callable[[Array, Array], Array]:
    """From an exact pair of f64 to a floating type, in a rounding mode."""
    if kind == "f64":
        return lambda high, low: round_f64(high, low, mode)
    if kind == "f32":
        return lambda high, low: round_f32(high, low, mode)
    if kind == "f16":
        return lambda high, low: round_f16(high, low, mode)
    if kind == "tf32":
        return lambda high, low: _to_tf32(round_f32(high, low, "rn"), mode)
    if mode == "rz":
        return lambda high, low: narrow_bf16_toward_zero(round_f32(high, low, "rz"))
    return lambda high, low: narrow_bf16(odd_f32(to_odd(high, low)))


def _to_tf32(values: Array, mode: str) -> Array:
    """f32 with 10 bits of mantissa, as bits; rna rounds ties away from zero."""
    bits = np.asarray(values).view(U32)
    last = bits >> U32.type(13) & U32.type(1)
    added = {"rz": U32.type(0), "rna": U32.type(0x1000)}.get(mode, U32.type(0xFFF) + last)
    return np.where(np.isfinite(values), (bits + added) & U32.type(0xFFFFE000), bits)


def _between_floats(instruction: Instruction, target_kind: str, source_kind: str, mode: str) -> Convert:
    modifiers = instruction.modifiers
    widen = _widening(source_kind, flushes="ftz" in modifiers)
    rounds = next((_TO_INTEGER[each] for each in modifiers if each in _TO_INTEGER), None)
    plain = not {"ftz", "sat", "relu"} & set(modifiers)
    if plain and rounds is None and mode == "rn" and target_kind in {"f32", "f64", "f16"}:
        dtype = DTYPES[target_kind]
        if source_kind == "bf16":
            return lambda bits: widen_bf16(bits).astype(dtype)
        return lambda values: values.astype(dtype)
    if plain and rounds is None and mode == "rn" and target_kind == "bf16" and source_kind == "f32":
        return narrow_bf16
    narrow = narrowing(target_kind, mode)

    def convert(values: Array) -> Array:
        wide = widen(values)
        if rounds is not None:
            wide = rounds(wide)
        return narrow(wide, np.zeros_like(wide))

    return _after(convert, instruction, target_kind)


def _after(convert: Convert, instruction: Instruction, target_kind: str) -> Convert:
    """.ftz, .sat and .relu on the result."""
    modifiers = set(instruction.modifiers) & {"ftz", "sat", "relu"}
    if not modifiers:
        return convert

    def finish(values: Array) -> Array:
        result = np.asarray(convert(values))
        if target_kind == "tf32":
            return result
        as_float = widen_bf16(result) if target_kind == "bf16" else result
        if "ftz" in modifiers and target_kind == "f32":
            as_float = flush(as_float)
        if "sat" in modifiers:
            as_float = saturate(as_float)
        if "relu" in modifiers:
            as_float = np.where(as_float < 0, as_float.dtype.type(0), as_float)
        return narrow_bf16(as_float) if target_kind == "bf16" else as_float

    return finish


def _build_pair(decoder: Decoder, instruction: Instruction) -> Operation:
    """Two f32 as a pair of halves: the first operand is the upper one."""
    half = instruction.modifiers[-2].removesuffix("x2")
    mode = "rz" if "rz" in instruction.modifiers else "rn"
    target = decoder.write_as(instruction.operands[0], U32)
    upper, lower = (decoder.read(operand, "f32") for operand in instruction.operands[1:])
    narrow = _after(_narrow_f32(half, mode), instruction, half)

    def run(regs: Regs, frame: Frame) -> None:
        pair = np.empty((frame.count, 2), U16)
        pair[:, 0] = narrow(full(regs[lower], frame)).view(U16)
        pair[:, 1] = narrow(full(regs[upper], frame)).view(U16)
        regs[target][...] = pair.view(U32)[:, 0]

    return run


def _narrow_f32(half: str, mode: str) -> Convert:
    if half == "bf16":
        return narrow_bf16 if mode == "rn" else narrow_bf16_toward_zero
    if mode == "rn":
        return lambda values: values.astype(F16)
    return lambda values: round_f16(values.astype(F64), np.zeros(values.shape), mode)


FAMILY = {"cvt": build_convert}
