"""Functions that devices approximate: ex2 lg2 sin cos rsqrt tanh.

The machine computes them in f64 and rounds once. Devices differ from that within the ISA's bounds, which tests of
real devices must allow: ex2 2 ulp; lg2 2^-22 absolute between ½ and 2, 2^-22 relative elsewhere; sin and cos 2^-20.5
absolute in -π … π; rsqrt 2^-22.9 relative; tanh 2^-11 relative.
Source: PTX ISA, "Floating Point Instructions".
"""

from collections.abc import Callable

import numpy as np

from cgraph.emulator.machine.arrays import F32, F64, Array
from cgraph.emulator.machine.decoder import Decoder, Operation, type_of
from cgraph.emulator.machine.floats import build_function
from cgraph.emulator.machine.halves import build_half_function
from cgraph.emulator.ptx.model import Instruction

_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
}


def build_approximation(decoder: Decoder, instruction: Instruction) -> Operation:
    """One of the functions, in f32, f64 or the halves."""
    function = _FUNCTIONS[instruction.opcode]
    kind = type_of(instruction)
    if kind == "f64":
        return build_function(decoder, instruction, function)

    def rounded(a: Array) -> Array:
        return np.asarray(function(a.astype(F64))).astype(F32)

    if kind == "f32":
        return build_function(decoder, instruction, rounded)
    return build_half_function(decoder, instruction, rounded)


FAMILY = dict.fromkeys(_FUNCTIONS, build_approximation)
