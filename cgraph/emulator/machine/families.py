"""Which builder makes which instruction's operation."""

from cgraph.emulator.machine import (
    approximations,
    asynchronous,
    atomics,
    bits,
    comparisons,
    conversions,
    floats,
    integers,
    integers_narrow,
    matrices,
    moves,
    transfers,
    warp_operations,
)
from cgraph.emulator.machine.decoder import Builder, Decoder, Operation, type_of
from cgraph.emulator.machine.halves import build_half_arithmetic
from cgraph.emulator.ptx.model import Instruction

_HALVES = frozenset({"f16", "bf16", "f16x2", "bf16x2"})


def _by_type(integer: Builder | None, real: Builder | None) -> Builder:
    """One builder for opcodes that exist for integers, floats and halves."""

    def build(decoder: Decoder, instruction: Instruction) -> Operation:
        kind = type_of(instruction)
        if kind in _HALVES:
            return build_half_arithmetic(decoder, instruction)
        chosen = real if kind in {"f32", "f64"} else integer
        if chosen is None:
            raise TypeError(instruction)
        return chosen(decoder, instruction)

    return build


BUILDERS: dict[str, Builder] = {
    "add": _by_type(integers.build_add_sub, floats.build_add),
    "sub": _by_type(integers.build_add_sub, floats.build_add),
    "addc": integers.build_add_sub,
    "subc": integers.build_add_sub,
    "mul": _by_type(integers.build_multiply, floats.build_multiply),
    "mad": _by_type(integers.build_multiply_add, floats.build_fma),
    "madc": integers.build_multiply_add,
    "fma": _by_type(None, floats.build_fma),
    "div": _by_type(integers.build_divide, floats.build_divide),
    "rem": integers.build_divide,
    "min": _by_type(integers.build_min_max, floats.build_min_max),
    "max": _by_type(integers.build_min_max, floats.build_min_max),
    "abs": _by_type(integers.build_sign, floats.build_sign),
    "neg": _by_type(integers.build_sign, floats.build_sign),
    "sad": integers.build_sad,
    "rcp": floats.build_reciprocal,
    "sqrt": floats.build_root,
    "copysign": floats.build_copysign,
    "testp": floats.build_test,
    **approximations.FAMILY,
    **asynchronous.FAMILY,
    **atomics.FAMILY,
    **bits.FAMILY,
    **comparisons.FAMILY,
    **conversions.FAMILY,
    **integers_narrow.FAMILY,
    **matrices.FAMILY,
    **moves.FAMILY,
    **transfers.FAMILY,
    **warp_operations.FAMILY,
}
