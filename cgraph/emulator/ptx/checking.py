"""Checks that an instruction is known and that its operands fit.

Receives an instruction with resolved names; guarantees that it has one of the machine's forms, and that each operand is
of the kind and the size that the form asks for. What the instruction does is left to the machine.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NoReturn

from attrs import frozen

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.ptx.forms import Form, forms
from cgraph.emulator.ptx.model import (
    Address,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from cgraph.emulator.ptx.problems import UnknownInstruction, WrongOperand
from cgraph.emulator.ptx.types import REGISTER_TYPES, SIZE_BYTES, is_float

Fault = Callable[[str], NoReturn]


def check_instruction(instruction: Instruction) -> Instruction:
    """The instruction, if the machine knows it and its operands fit.

    Raises:
        ProblemsFound: with `UnknownInstruction` or `WrongOperand`.
    """
    matching = _matching(instruction.opcode, instruction.modifiers)
    if not matching:
        texts = tuple(form.text for form in forms().get(instruction.opcode, ()))
        raise ProblemsFound([UnknownInstruction(instruction.span, instruction.mnemonic, texts)])
    count = len(instruction.operands)
    fitting = next((entry for entry in matching if entry.form.needed <= count <= len(entry.form.operands)), None)
    if fitting is None:
        _fault(instruction, f"it has {count} operands, not {_count_text(matching[0].form)}")
    for place, operand in enumerate(instruction.operands):
        if isinstance(operand, Register) and operand.type in fitting.registers[place]:
            continue
        wanted = fitting.form.operands[place].removeprefix("?")
        _check_operand(instruction, wanted, fitting.letters, operand)
    return instruction


def written_registers(instruction: Instruction) -> Iterator[str]:
    """The names of the registers that a checked instruction writes."""
    count = len(instruction.operands)
    matching = _matching(instruction.opcode, instruction.modifiers)
    form = next(each.form for each in matching if each.form.needed <= count <= len(each.form.operands))
    for wanted, operand in zip(form.operands, instruction.operands, strict=False):
        if not wanted.startswith("="):
            continue
        parts: Sequence[Operand | None] = (operand,)
        if isinstance(operand, Vector):
            parts = operand.parts
        elif isinstance(operand, Pair):
            parts = (operand.first, operand.second)
        yield from (part.name for part in parts if isinstance(part, Register))


@frozen
class _Match:
    """A form that an instruction has, the types by letter, and the register types that each operand may have."""

    form: Form
    letters: dict[str, str]
    registers: tuple[frozenset[str], ...]


@cache
def _matching(opcode: str, modifiers: tuple[str, ...]) -> tuple[_Match, ...]:
    """The forms that an instruction's words have."""
    known = forms().get(opcode, ())
    return tuple(
        _Match(form, letters, tuple(_register_types(wanted, letters) for wanted in form.operands))
        for form in known
        if (letters := form.match(modifiers)) is not None
    )


def _register_types(wanted: str, letters: dict[str, str]) -> frozenset[str]:
    """The types of registers that an operand may have, for simple descriptions; empty for others."""
    kind = wanted.removeprefix("?").removeprefix("=")
    if kind not in letters and kind not in SIZE_BYTES:
        return frozenset()
    name = letters.get(kind, kind)
    if name == "pred":
        return frozenset({"pred"})
    return frozenset(each for each in REGISTER_TYPES if SIZE_BYTES[each] == SIZE_BYTES[name] and each != "pred")


def _count_text(form: Form) -> str:
    most = len(form.operands)
    return f"{most}" if form.needed == most else f"{form.needed} to {most}"


def _fault(instruction: Instruction, fault: str) -> NoReturn:
    raise ProblemsFound([WrongOperand(instruction.span, instruction.mnemonic, fault)])


def _check_operand(instruction: Instruction, wanted: str, letters: dict[str, str], operand: Operand) -> None:
    """One operand against its description in the form."""
    written = wanted.startswith("=")
    kind = wanted.removeprefix("=")
    wider = kind.startswith("~")
    kind = kind.removeprefix("~")
    if kind == "M":
        _check_address(instruction, operand)
    elif kind in {"L", "*L"}:
        if not isinstance(operand, Label if kind == "L" else Vector):
            _fault(instruction, "its last operand should be a label or a list of labels")
    elif kind == "I":
        if not isinstance(operand, Immediate) or not isinstance(operand.value, int) or operand.value < 0:
            _fault(instruction, "an operand should be a natural number")
    elif kind == "any":
        _check_any(instruction, letters, operand, written=written)
    elif "|" in kind:
        _check_pair(instruction, kind, letters, operand)
    elif kind.startswith("*") or kind[1:2] == "x":
        _check_vector(instruction, kind, letters, operand, written=written, wider=wider)
    else:
        _check_scalar(instruction, _size(kind, letters), operand, written=written, wider=wider)


def _check_address(instruction: Instruction, operand: Operand) -> None:
    if not isinstance(operand, Address):
        _fault(instruction, "an operand should be an address in brackets")
    if isinstance(operand.base, Register) and SIZE_BYTES[operand.base.type] not in {4, 8}:
        _fault(instruction, f"an address register of type {operand.base.type}")


def _size(kind: str, letters: dict[str, str]) -> tuple[int, str]:
    """Bytes and the type of a description such as `T`, `2T`, `u32`."""
    if kind.startswith("2"):
        return 2 * SIZE_BYTES[letters[kind[1:]]], letters[kind[1:]]
    name = letters.get(kind, kind)
    return SIZE_BYTES[name], name


def _check_scalar(
    instruction: Instruction, size: tuple[int, str], operand: Operand, *, written: bool, wider: bool
) -> None:
    size_bytes, name = size
    if isinstance(operand, Negated):
        if name != "pred" or written or operand.register.type != "pred":
            _fault(instruction, "`!` stands before predicates that are read")
        return
    if isinstance(operand, Immediate):
        if written:
            _fault(instruction, "it cannot write to a constant")
        if isinstance(operand.value, int) and is_float(name):
            _fault(instruction, f"the constant {operand.value} is not of type {name}")
        if isinstance(operand.value, float) and name[0] in "us" and operand.bits != 8 * size_bytes:
            _fault(instruction, f"the constant {operand.value} is not of type {name}")
        return
    if not isinstance(operand, Register):
        _fault(instruction, f"an operand of type {name} should be a register{'' if written else ' or a constant'}")
    if (operand.type == "pred") != (name == "pred"):
        _fault(instruction, f"register {operand.name} is of type {operand.type}, not {name}")
    found = SIZE_BYTES[operand.type]
    if found != size_bytes and not (wider and found > size_bytes):
        _fault(instruction, f"register {operand.name} has {8 * found} bits, not {8 * size_bytes}")


def _check_any(instruction: Instruction, letters: dict[str, str], operand: Operand, *, written: bool) -> None:
    size = _size("T", letters)
    if isinstance(operand, Special | Symbol) and not written:
        return
    if isinstance(operand, Vector):
        size_bytes, rest = divmod(size[0], max(len(operand.parts), 1))
        if rest or size_bytes == 0:
            _fault(instruction, f"a vector of {len(operand.parts)} has not {8 * size[0]} bits")
        for part in operand.parts:
            if part is not None:
                _check_scalar(instruction, (size_bytes, f"b{8 * size_bytes}"), part, written=written, wider=False)
        return
    _check_scalar(instruction, size, operand, written=written, wider=False)


def _check_pair(instruction: Instruction, kind: str, letters: dict[str, str], operand: Operand) -> None:
    first, _, second = kind.partition("|")
    if isinstance(operand, Vector) and operand.parts == (None,):
        return
    parts: Sequence[Operand | None] = (operand.first, operand.second) if isinstance(operand, Pair) else (operand,)
    for part, wanted in zip(parts, (first, second), strict=False):
        if part is not None:
            _check_scalar(instruction, _size(wanted, letters), part, written=True, wider=False)


def _check_vector(
    instruction: Instruction, kind: str, letters: dict[str, str], operand: Operand, *, written: bool, wider: bool
) -> None:
    if kind.startswith("*"):
        count = 2 if "v2" in instruction.modifiers else 4
        size = _size(kind[1:], letters)
    else:
        count = int(kind[0])
        size = _size(kind[2:], letters)
    if isinstance(operand, Register) and count == 1:
        operand = Vector((operand,))
    if not isinstance(operand, Vector) or len(operand.parts) != count:
        _fault(instruction, f"an operand should be a vector of {count}")
    for part in operand.parts:
        if part is None and (not written or kind[0] != "*"):
            _fault(instruction, "`_` stands in vectors that are loaded")
        if part is not None:
            _check_scalar(instruction, size, part, written=written, wider=wider)
