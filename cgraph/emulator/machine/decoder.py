"""Turns operands into slots, while an instruction is decoded.

Receives checked instructions; guarantees slots of the right type. What an instruction does is left to the families:
each maps opcodes to builders, and a builder returns the operation, a function of a frame's arrays.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from cgraph.emulator.machine.arrays import BOOL, SIGNED, U64, UNSIGNED, Array, DType
from cgraph.emulator.machine.context import Context
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.regions import WINDOW_SHIFT, WINDOWS
from cgraph.emulator.machine.registers import Registers, scalar
from cgraph.emulator.ptx.model import (
    Function,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from cgraph.emulator.ptx.types import DTYPES, SIZE_BYTES

Regs: TypeAlias = list[Any]
Operation: TypeAlias = Callable[[Regs, Frame], None]
Getter: TypeAlias = Callable[[Regs], Array]


@define(eq=False)
class Decoder:
    """Slots of one function, and those that the instruction at hand reads and writes.

    Args:
        function: what is decoded; registers: its slots.
        constants: the bits of registers that hold one constant.
        touched: bases of the instruction at hand; written: those of them that it writes.
    """

    function: Function
    registers: Registers = field(factory=Registers)
    constants: Mapping[str, Array] = field(factory=dict)
    touched: set[int] = field(factory=set)
    written: set[int] = field(factory=set)

    def begin(self) -> None:
        """Starts an instruction."""
        self.touched = set()
        self.written = set()

    def read(self, operand: Operand | None, kind: str) -> int:
        """The slot of a source of a PTX type."""
        return self.read_as(operand, DTYPES[kind])

    def read_as(self, operand: Operand | None, dtype: DType) -> int:
        """The slot of a source viewed as a NumPy type of its own size."""
        match operand:
            case Register() if operand.name in self.constants:
                return self.registers.constant(self.constants[operand.name].view(dtype))
            case Register():
                slot = self.registers.register(operand.name, operand.type, dtype)
                self._touch(slot)
                return slot
            case Special():
                slot = self.registers.special(operand.name, dtype)
                self._touch(slot)
                return slot
            case Immediate():
                return self.registers.constant(constant(operand, dtype))
            case Symbol():
                return self._symbol(operand, dtype)
            case _:
                raise TypeError(operand)

    def read_wide(self, operand: Operand | None, kind: str) -> int:
        """The slot of a source whose register may be wider than the type; the value is its lower part."""
        if isinstance(operand, Register) and SIZE_BYTES[operand.type] > SIZE_BYTES[kind]:
            return self.read_as(operand, UNSIGNED[SIZE_BYTES[operand.type]])
        return self.read(operand, kind)

    def write(self, operand: Operand | None, kind: str) -> int:
        """The slot of a destination of a PTX type."""
        return self.write_as(operand, DTYPES[kind])

    def write_as(self, operand: Operand | None, dtype: DType) -> int:
        """The slot of a destination viewed as a NumPy type of its own size."""
        slot = self.read_as(operand, dtype)
        base = self.registers.base_of(slot)
        if base is not None:
            self.written.add(base)
        return slot

    def write_wide(self, operand: Operand | None, kind: str) -> int:
        """The slot of a destination whose register may be wider: as wide, and signed as the type is."""
        if isinstance(operand, Register) and SIZE_BYTES[operand.type] > SIZE_BYTES[kind]:
            widths = SIGNED if kind.startswith("s") else UNSIGNED
            return self.write_as(operand, widths[SIZE_BYTES[operand.type]])
        return self.write(operand, kind)

    def predicate(self, operand: Operand | None) -> Getter:
        """How to get a predicate that is read, possibly negated."""
        if isinstance(operand, Negated):
            slot = self.read_as(operand.register, BOOL)
            return lambda regs: ~regs[slot]
        slot = self.read_as(operand, BOOL)
        return lambda regs: regs[slot]

    def results(self, operand: Operand, kinds: tuple[str, str]) -> tuple[int | None, int | None]:
        """The slots of `d|p`; None for those that are left out."""
        if isinstance(operand, Pair):
            first = None if operand.first is None else self.write(operand.first, kinds[0])
            second = None if operand.second is None else self.write(operand.second, kinds[1])
            return first, second
        if isinstance(operand, Vector):
            return None, None
        return self.write(operand, kinds[0]), None

    def carry(self) -> int:
        """The slot of the carry flag."""
        slot = self.registers.register("%cc", "pred", BOOL)
        self._touch(slot)
        return slot

    def write_carry(self) -> int:
        """The slot of the carry flag, to be written."""
        slot = self.carry()
        base = self.registers.base_of(slot)
        if base is not None:
            self.written.add(base)
        return slot

    def _touch(self, slot: int) -> None:
        base = self.registers.base_of(slot)
        if base is not None:
            self.touched.add(base)

    def _symbol(self, symbol: Symbol, dtype: DType) -> int:
        """An address: of the space for shared, local and parameters, of the device for the rest."""
        if symbol.space in {"global", "const"}:
            name, offset = symbol.name, symbol.offset
            return self.registers.resolved(lambda context: _device_address(context, name, offset, dtype))
        return self.registers.constant(scalar(self.symbol_offset(symbol), U64).astype(dtype))

    def symbol_offset(self, symbol: Symbol) -> int:
        """Where a shared or local variable or a parameter begins in its space."""
        if symbol.space == "param":
            found = next((each for each in self.function.parameters if each.name == symbol.name), None)
            return symbol.offset + (found.offset if found is not None else 0)
        return symbol.offset + self.function.offsets.get(symbol.name, 0)


Builder: TypeAlias = Callable[[Decoder, Instruction], Operation]
Family: TypeAlias = Mapping[str, Builder]


def constant(immediate: Immediate, dtype: DType) -> Array:
    """A constant as an array without dimensions: its bits where an integer type is asked for, else its value."""
    value = immediate.value
    if isinstance(value, float):
        if dtype.kind == "f":
            return scalar(value, dtype)
        narrow = np.float32 if immediate.bits == 32 or dtype.itemsize == 4 else np.float64
        return np.array(value, narrow).view(UNSIGNED[np.dtype(narrow).itemsize]).astype(dtype)
    if dtype.kind == "f":
        return scalar(float(value), dtype)
    return scalar(value & ((1 << 64) - 1), U64).astype(dtype)


def _device_address(context: Context, name: str, offset: int, dtype: DType) -> Array:
    return scalar((context.symbols[name] + offset) & ((1 << 64) - 1), U64).astype(dtype)


def window_of(space: str) -> Array:
    """What is added to an address of a space to make it generic; 0 for global and constant memory."""
    return scalar(WINDOWS.get(space, 0) << WINDOW_SHIFT, U64)


def type_of(instruction: Instruction, *, last: int = 1) -> str:
    """The type among the modifiers: the last one, or one before."""
    return instruction.modifiers[-last]


def full(values: Array, frame: Frame) -> Array:
    """Values with one element for each lane of the frame."""
    return np.broadcast_to(values, frame.count) if values.ndim == 0 else values
