"""Registers that hold one constant wherever they are read.

NVRTC gives each constant that an instruction cannot hold a register of its own: one unguarded `mov` writes it, nothing
else does. Such a register is read as the constant, and the `mov` is left out.
"""

import numpy as np

from cgraph.emulator.machine.arrays import UNSIGNED, Array
from cgraph.emulator.ptx.checking import written_registers
from cgraph.emulator.ptx.model import Function, Immediate, Instruction, Register
from cgraph.emulator.ptx.types import SIZE_BYTES, is_float


def constant_registers(function: Function) -> dict[str, Array]:
    """The bits of each such register, by name, as an unsigned integer of its size."""
    writes: dict[str, int] = {}
    for instruction in function.instructions:
        for name in written_registers(instruction):
            writes[name] = writes.get(name, 0) + 1
    return {
        target.name: bits
        for instruction in function.instructions
        if (target := moved_register(instruction)) is not None
        and writes.get(target.name) == 1
        and (bits := _bits(instruction)) is not None
    }


def moved_register(instruction: Instruction) -> Register | None:
    """The register that an unguarded `mov` gives a constant."""
    if instruction.opcode != "mov" or instruction.guard is not None or instruction.modifiers == ("pred",):
        return None
    target, source = instruction.operands
    return target if isinstance(target, Register) and isinstance(source, Immediate) else None


def _bits(instruction: Instruction) -> Array | None:
    kind = instruction.modifiers[-1]
    source = instruction.operands[1]
    if not isinstance(source, Immediate):
        return None
    dtype = UNSIGNED[SIZE_BYTES[kind]]
    if isinstance(source.value, float):
        real = np.float32 if dtype.itemsize == 4 else np.float64
        return np.array(source.value, real).view(dtype) if is_float(kind) or source.bits == 8 * dtype.itemsize else None
    return np.array(source.value & ((1 << 64) - 1), np.uint64).astype(dtype)
