"""Comparisons and selections: set setp selp slct.

A comparison with NaN is false, but for the unordered ones (equ, neu, ltu, leu, gtu, geu, nan).
Source: PTX ISA, "Comparison and Selection Instructions".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import F32, U16, U32, UNSIGNED, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.halves import halves_of, narrow, widen
from cgraph.emulator.machine.rounding import flush
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES, SIZE_BYTES, is_float

Comparison = Callable[[Array, Array], Array]
_ORDERED: dict[str, np.ufunc] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
_COMBINE = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _unordered(a: Array, b: Array) -> Array:
    return np.asarray(np.isnan(a) | np.isnan(b))


def comparison_of(name: str, kind: str) -> Comparison:
    """The comparison of that name for operands of a type."""
    if not is_float(kind):
        return _ORDERED[name]
    if name == "num":
        return lambda a, b: ~_unordered(a, b)
    if name == "nan":
        return _unordered
    if name == "ne":  # NumPy's is true for NaN
        return lambda a, b: (a != b) & ~_unordered(a, b)
    if name == "neu":
        return np.not_equal
    if name in _ORDERED:
        return _ORDERED[name]
    ordered = _ORDERED[name.removesuffix("u")]
    return lambda a, b: ordered(a, b) | _unordered(a, b)


def _get_compared(decoder: Decoder, instruction: Instruction, kind: str) -> Callable[[Regs, Frame], list[Array]]:
    """The two operands, halves widened to f32, flushed where the instruction says so."""
    pairs, half = kind.endswith("x2"), kind in {"f16", "bf16", "f16x2", "bf16x2"}
    dtype = (U32 if pairs else U16) if half else DTYPES[kind]
    slots = [decoder.read_as(operand, dtype) for operand in instruction.operands[1:3]]
    flushes = "ftz" in instruction.modifiers and kind == "f32"

    def get(regs: Regs, frame: Frame) -> list[Array]:
        values = [regs[slot] for slot in slots]
        if pairs:
            return [widen(halves_of(value, frame), kind) for value in values]
        if half:
            return [widen(full(value, frame), kind) for value in values]
        return [flush(value) for value in values] if flushes else values

    return get


def build_setp(decoder: Decoder, instruction: Instruction) -> Operation:
    """setp: a predicate, and its complement or, for pairs, that of the upper half."""
    name, kind = instruction.modifiers[0], type_of(instruction)
    compare = comparison_of(name, kind)
    combine = next((_COMBINE[each] for each in instruction.modifiers if each in _COMBINE), None)
    first, second = decoder.results(instruction.operands[0], ("pred", "pred"))
    get = _get_compared(decoder, instruction, kind)
    pairs, half = kind.endswith("x2"), "f16" in kind
    plain = combine is None and second is None and not half and "ftz" not in instruction.modifiers
    if plain and first is not None and isinstance(compare, np.ufunc):
        return _build_plain(decoder, instruction, compare, first)
    with_predicate = decoder.predicate(instruction.operands[3]) if combine is not None else None

    def run(regs: Regs, frame: Frame) -> None:
        result = np.broadcast_to(compare(*get(regs, frame)), frame.count * (2 if pairs else 1))
        answers = (result[0::2], result[1::2]) if pairs else (result, ~result)
        if combine is not None and with_predicate is not None:
            other = with_predicate(regs)
            answers = (combine(answers[0], other), combine(answers[1], other))
        if first is not None:
            regs[first][...] = answers[0]
        if second is not None:
            regs[second][...] = answers[1]

    return run


def _build_plain(decoder: Decoder, instruction: Instruction, ufunc: np.ufunc, target: int) -> Operation:
    dtype = DTYPES[type_of(instruction)]
    first, second = (decoder.read_as(operand, dtype) for operand in instruction.operands[1:3])

    def run(regs: Regs, _: Frame) -> None:
        ufunc(regs[first], regs[second], regs[target])

    return run


def build_set(decoder: Decoder, instruction: Instruction) -> Operation:
    """set: all ones (or 1.0) where the comparison holds, else 0."""
    name = instruction.modifiers[0]
    result_kind, kind = instruction.modifiers[-2], type_of(instruction)
    compare = comparison_of(name, kind)
    get = _get_compared(decoder, instruction, kind)
    floats = is_float(result_kind)
    pairs = result_kind.endswith("x2")
    half = floats and result_kind != "f32"
    dtype = (U32 if pairs else U16) if half else DTYPES[result_kind]
    target = decoder.write_as(instruction.operands[0], dtype)

    def run(regs: Regs, frame: Frame) -> None:
        holds = compare(*get(regs, frame))
        if half:
            regs[target][...] = narrow(np.asarray(holds).astype(F32), result_kind).view(dtype)
        elif floats:
            regs[target][...] = holds
        else:
            regs[target][...] = np.where(holds, dtype.type(-1) if dtype.kind == "i" else dtype.type(0xFFFFFFFF), 0)

    return run


def build_selp(decoder: Decoder, instruction: Instruction) -> Operation:
    """selp: a where the predicate holds, else b."""
    dtype = UNSIGNED[SIZE_BYTES[type_of(instruction)]]
    result, first, second, chooser = instruction.operands
    target = decoder.write_as(result, dtype)
    a, b = decoder.read_as(first, dtype), decoder.read_as(second, dtype)
    predicate = decoder.predicate(chooser)

    def run(regs: Regs, _: Frame) -> None:
        regs[target][...] = np.where(predicate(regs), regs[a], regs[b])

    return run


def build_slct(decoder: Decoder, instruction: Instruction) -> Operation:
    """slct: a where c is at least 0, else b (also for NaN)."""
    kind, chooser_kind = instruction.modifiers[-2:]
    dtype = UNSIGNED[SIZE_BYTES[kind]]
    result, first, second, chooser = instruction.operands
    target = decoder.write_as(result, dtype)
    a, b = decoder.read_as(first, dtype), decoder.read_as(second, dtype)
    c = decoder.read(chooser, chooser_kind)
    flushes = "ftz" in instruction.modifiers and chooser_kind == "f32"

    def run(regs: Regs, _: Frame) -> None:
        value = flush(regs[c]) if flushes else regs[c]
        regs[target][...] = np.where(value >= 0, regs[a], regs[b])

    return run


FAMILY = {"setp": build_setp, "set": build_set, "selp": build_selp, "slct": build_slct}
