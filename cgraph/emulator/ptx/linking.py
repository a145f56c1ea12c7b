"""Puts called functions in the place of their calls, and lays out shared and local memory.

Receives the bodies as read; guarantees a function without calls. A called function's registers, labels and variables
get names of their own at every call; its parameters are memory of the caller. Recursion and
functions without a body are reported.
"""

from collections.abc import Mapping

from attrs import define, evolve, field, frozen

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.ptx.body import Body
from cgraph.emulator.ptx.checking import check_instruction
from cgraph.emulator.ptx.model import (
    Address,
    Guard,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Parameter,
    Register,
    Symbol,
    Variable,
    Vector,
)
from cgraph.emulator.ptx.problems import UnknownName, UnsupportedPtx, WrongOperand

MAX_INSTRUCTIONS = 1 << 20


@frozen(eq=False)
class Unlinked:
    """A function as read. `body` is None where the module only declares it."""

    name: str
    entry: bool
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    body: Body | None


@frozen(eq=False)
class Linked:
    """A body without calls."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    variables: Mapping[str, Variable]


@define(eq=False)
class _Copy:
    """A body that is being copied: where it stands, under which prefix, with which memory for its parameters."""

    function: Unlinked
    body: Body
    prefix: str
    parameters: Mapping[str, str]
    next: int = 0
    labels_at: dict[int, list[str]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for label, index in self.body.labels.items():
            self.labels_at.setdefault(index, []).append(label)


def link(function: Unlinked, functions: Mapping[str, Unlinked]) -> Linked:
    """The function with every call expanded.

    Raises:
        ProblemsFound: a call of a function that does not exist, has no body, calls itself, or takes other parameters.
    """
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    variables: dict[str, Variable] = {}
    calls = 0
    stack = [_begin(function, "", {}, variables)]
    while stack:
        copy = stack[-1]
        for label in copy.labels_at.get(copy.next, ()):
            labels[copy.prefix + label] = len(instructions)
        if copy.next == len(copy.body.instructions):
            stack.pop()
            if copy.prefix:
                labels[copy.prefix + "return"] = len(instructions)
            continue
        instruction = copy.body.instructions[copy.next]
        copy.next += 1
        if len(instructions) > MAX_INSTRUCTIONS:
            raise ProblemsFound([UnsupportedPtx(instruction.span, f"more than {MAX_INSTRUCTIONS} instructions")])
        if instruction.opcode == "call":
            calls += 1
            callee = _callee(instruction, functions, stack)
            if instruction.guard is not None:
                raise ProblemsFound([UnsupportedPtx(instruction.span, "a call under a predicate")])
            memory = _parameter_memory(copy, instruction, callee)
            stack.append(_begin(callee, f"{callee.name}.{calls}:", memory, variables))
        else:
            instructions.append(_renamed(copy, instruction))
    return Linked(tuple(instructions), labels, variables)


def _begin(function: Unlinked, prefix: str, parameters: Mapping[str, str], variables: dict[str, Variable]) -> _Copy:
    body = function.body if function.body is not None else Body()
    for variable in body.variables.values():
        # A shared variable of a function is one for the whole block, however often the function is called.
        name = variable.name if variable.space == "shared" and not prefix else prefix + variable.name
        if variable.space == "shared" and prefix:
            name = f"{function.name}:{variable.name}"
        variables[name] = evolve(variable, name=name)
    return _Copy(function, body, prefix, parameters)


def _callee(instruction: Instruction, functions: Mapping[str, Unlinked], stack: list[_Copy]) -> Unlinked:
    name = instruction.operands[0]
    if not isinstance(name, Label) or name.name not in functions:
        raise ProblemsFound([UnknownName(instruction.span, "function", getattr(name, "name", ""))])
    callee = functions[name.name]
    if callee.body is None or callee.entry:
        raise ProblemsFound([UnsupportedPtx(instruction.span, f"a call of {name.name}, which has no body here")])
    if any(copy.function is callee for copy in stack):
        raise ProblemsFound([UnsupportedPtx(instruction.span, f"recursion ({name.name} calls itself)")])
    return callee


def _parameter_memory(copy: _Copy, call: Instruction, callee: Unlinked) -> dict[str, str]:
    """The caller's variable for each parameter and return value of the callee."""
    memory: dict[str, str] = {}
    for given, wanted in zip(call.operands[1:], (callee.returns, callee.parameters), strict=True):
        parts = given.parts if isinstance(given, Vector) else ()
        names = [part.name for part in parts if isinstance(part, Symbol)]
        found = [copy.body.variables.get(name) for name in names]
        sizes = [None if variable is None else variable.size_bytes for variable in found]
        if sizes != [parameter.size_bytes for parameter in wanted]:
            fault = f"{callee.name} takes other parameters or returns other values"
            raise ProblemsFound([WrongOperand(call.span, call.mnemonic, fault)])
        memory |= {parameter.name: copy.prefix + name for name, parameter in zip(names, wanted, strict=True)}
    return memory


def _renamed(copy: _Copy, instruction: Instruction) -> Instruction:
    """The instruction under the names of this copy; a return becomes a branch behind the copy."""
    if not copy.prefix:
        return instruction
    guard = None if instruction.guard is None else _renamed_guard(copy, instruction.guard)
    if instruction.opcode == "ret":
        back = (Label(copy.prefix + "return"),)
        return evolve(instruction, opcode="bra", modifiers=(), operands=back, guard=guard)
    operands = tuple(_renamed_operand(copy, operand) for operand in instruction.operands)
    modifiers = instruction.modifiers
    if modifiers[:1] == ("param",) and instruction.opcode in {"ld", "st"}:
        modifiers = ("local", *modifiers[1:])
    elif "param" in modifiers and instruction.opcode == "cvta":
        modifiers = tuple("local" if modifier == "param" else modifier for modifier in modifiers)
    return check_instruction(evolve(instruction, modifiers=modifiers, operands=operands, guard=guard))


def _renamed_guard(copy: _Copy, guard: Guard) -> Guard:
    return Guard(_renamed_register(copy, guard.register), guard.negated)


def _renamed_register(copy: _Copy, register: Register) -> Register:
    return Register(copy.prefix + register.name, register.type)


def _renamed_symbol(copy: _Copy, symbol: Symbol) -> Symbol:
    if symbol.space == "param":
        memory = copy.parameters.get(symbol.name)
        return symbol if memory is None else Symbol(memory, "local", symbol.offset)
    if symbol.name not in copy.body.variables:
        return symbol
    prefix = f"{copy.function.name}:" if symbol.space == "shared" else copy.prefix
    return Symbol(prefix + symbol.name, symbol.space, symbol.offset)


def _renamed_operand(copy: _Copy, operand: Operand) -> Operand:
    match operand:
        case Register():
            return _renamed_register(copy, operand)
        case Symbol():
            return _renamed_symbol(copy, operand)
        case Negated():
            return Negated(_renamed_register(copy, operand.register))
        case Label():
            return Label(copy.prefix + operand.name)
        case Address(base=Register() as base):
            return Address(_renamed_register(copy, base), operand.offset)
        case Address(base=Symbol() as base):
            return Address(_renamed_symbol(copy, base), operand.offset)
        case Vector():
            return Vector(tuple(None if part is None else _renamed_operand(copy, part) for part in operand.parts))
        case Pair():
            first = None if operand.first is None else _renamed_register(copy, operand.first)
            second = None if operand.second is None else _renamed_register(copy, operand.second)
            return Pair(first, second)
        case _:
            return operand
