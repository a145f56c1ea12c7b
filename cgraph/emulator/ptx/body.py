"""Reads the body of a function: declarations, labels and instructions, in any depth of braces.

Receives the cursor at `{`; guarantees that names are resolved and unique in the function, that labels exist, and that
each instruction is one that the machine knows, with operands that fit. Calls are left to the linking stage.
"""

from collections.abc import Mapping

from attrs import define, evolve, field

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.ptx.checking import check_instruction
from cgraph.emulator.ptx.declarations import read_declaration
from cgraph.emulator.ptx.model import Address, Guard, Instruction, Label, Operand, Place, Symbol, Variable, Vector
from cgraph.emulator.ptx.operands import Scope, read_operand
from cgraph.emulator.ptx.places import Places
from cgraph.emulator.ptx.problems import UnknownName
from cgraph.emulator.ptx.tokens import Words
from cgraph.emulator.ptx.types import REGISTER_TYPES

MAX_DEPTH = 1000
MAX_REGISTERS = 1 << 20


@define(eq=False)
class Body:
    """A body as read: instructions with unique names, the index at each label, and its variables."""

    instructions: list[Instruction] = field(factory=list)
    labels: dict[str, int] = field(factory=dict)
    variables: dict[str, Variable] = field(factory=dict)


class BodyReader:
    """Reads one body.

    Args:
        words: the cursor, at `{`.
        symbols: what the module and the parameters declare: name → (unique name, space).
        files, library: the .cu files by number, and which of them belong to the toolkit.
    """

    def __init__(
        self,
        words: Words,
        symbols: Mapping[str, tuple[str, str]],
        files: Mapping[int, str],
        library: frozenset[int],
    ) -> None:
        self._words = words
        self._scope = Scope(None, 0, symbols=dict(symbols))
        self._scopes = 1
        self._depth = 0
        self._files = files
        self._library = library
        self._places = Places()
        self._branches: list[tuple[int, Scope]] = []
        self._tables: dict[str, tuple[str, ...]] = {}
        self._body = Body()

    def read(self) -> Body:
        """The body, up to the word behind its closing brace."""
        words = self._words
        words.expect("{")
        while True:
            if words.accept("}"):
                if self._scope.outer is None:
                    break
                self._scope = self._scope.outer
                self._depth -= 1
            elif words.accept("{"):
                self._open_scope()
            elif words.word.startswith("."):
                self._read_directive()
            elif words.peek() == ":":
                self._read_label()
            elif words.accept(";"):
                continue
            else:
                self._read_instruction()
        self._resolve_branches()
        return self._body

    def _open_scope(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._words.fail(f"at most {MAX_DEPTH} blocks in each other")
        self._scope = Scope(self._scope, self._scopes)
        self._scopes += 1

    def _read_label(self) -> None:
        words = self._words
        span = words.here()
        name = words.name("a label")
        words.expect(":")
        unique = self._scope.unique(name)
        if name in self._scope.labels:
            words.report(UnknownName(span, "one label", f"{name} (it is there twice)"))
        if words.word == ".branchtargets":
            words.take()
            targets = [words.name("a label")]
            while words.accept(","):
                targets.append(words.name("a label"))
            words.expect(";")
            self._tables[unique] = tuple(targets)
        self._scope.labels.add(name)
        self._body.labels[unique] = len(self._body.instructions)

    def _read_directive(self) -> None:
        words = self._words
        word = words.word
        if word == ".loc":
            self._places.read_loc(words)
        elif word == ".reg":
            self._read_registers()
        elif word in {".local", ".shared", ".param"}:
            words.take()
            declared = read_declaration(words)
            words.expect(";")
            # A `.param` of a call is memory of the thread that calls.
            space = "shared" if word == ".shared" else "local"
            unique = self._scope.unique(declared.name)
            if declared.size_bytes is None:
                words.fail("a variable with a size")
            self._body.variables[unique] = evolve(declared.variable(space), name=unique)
            self._scope.symbols[declared.name] = (unique, space)
        elif word == ".pragma":
            words.take()
            words.take()
            words.expect(";")
        else:
            words.unsupported(f"the directive {word}")

    def _read_registers(self) -> None:
        words = self._words
        words.expect(".reg")
        kind = words.word[1:]
        if kind not in REGISTER_TYPES:
            words.fail("a register type")
        words.take()
        while True:
            name = words.name("a register")
            if words.accept("<"):
                count = words.natural("a number of registers")
                if count > MAX_REGISTERS:
                    words.fail(f"at most {MAX_REGISTERS} registers")
                words.expect(">")
                self._scope.declare(name, kind, count)
            else:
                self._scope.declare(name, kind)
            if words.accept(";"):
                return
            words.expect(",")

    def _read_instruction(self) -> None:
        words = self._words
        start = words.start
        guard = None
        if words.accept("@"):
            negated = words.accept("!")
            register = self._scope.register(words.word)
            if register is None or register.type != "pred":
                words.fail("a predicate")
            words.take()
            guard = Guard(register, negated)
        opcode, *modifiers = words.name("an instruction").split(".")
        operands: list[Operand] = []
        if opcode == "call":
            operands = self._read_call()
        elif not words.accept(";"):
            operands.append(read_operand(words, self._scope))
            while not words.accept(";"):
                words.expect(",")
                operands.append(read_operand(words, self._scope))
        span = words.span(start)
        instruction = Instruction(
            opcode, _placed(tuple(modifiers), operands), tuple(operands), guard, span, self._place()
        )
        if opcode in {"bra", "brx"}:
            self._branches.append((len(self._body.instructions), self._scope))
        elif opcode != "call":
            instruction = check_instruction(instruction)
        self._body.instructions.append(instruction)

    def _read_call(self) -> list[Operand]:
        """`(returns), name, (arguments)`: the name as a label, then both lists as vectors."""
        words = self._words
        returns = self._read_names() if words.word == "(" else []
        if returns:
            words.expect(",")
        if words.word.startswith("%"):
            words.unsupported("a call through a register")
        name = words.name("a function")
        arguments: list[Operand | None] = []
        if words.accept(","):
            if words.word != "(":
                words.unsupported("a call with a prototype")
            arguments = self._read_names()
        words.expect(";")
        return [Label(name), Vector(tuple(returns)), Vector(tuple(arguments))]

    def _read_names(self) -> list[Operand | None]:
        words = self._words
        words.expect("(")
        names: list[Operand | None] = []
        while not words.accept(")"):
            if names:
                words.expect(",")
            operand = read_operand(words, self._scope)
            if not isinstance(operand, Symbol):
                words.fail("a parameter of the call")
            names.append(operand)
        return names

    def _place(self) -> Place | None:
        location = self._places.resolved(self._library)
        if location is None or location[0] not in self._files:
            return None
        return Place(self._files[location[0]], location[1])

    def _resolve_branches(self) -> None:
        """Gives branches their labels' unique names, and indexed ones their targets."""
        for index, scope in self._branches:
            instruction = self._body.instructions[index]
            operands: list[Operand] = []
            for operand in instruction.operands:
                if not isinstance(operand, Label):
                    operands.append(operand)
                    continue
                name = self._label(scope, operand.name, instruction)
                if instruction.opcode == "brx":
                    targets = self._tables.get(name)
                    if targets is None:
                        raise ProblemsFound([UnknownName(instruction.span, "a list of branch targets", operand.name)])
                    operands.append(Vector(tuple(Label(self._label(scope, each, instruction)) for each in targets)))
                else:
                    operands.append(Label(name))
            self._body.instructions[index] = check_instruction(evolve(instruction, operands=tuple(operands)))

    @staticmethod
    def _label(scope: Scope, name: str, instruction: Instruction) -> str:
        unique = scope.label(name)
        if unique is None:
            raise ProblemsFound([UnknownName(instruction.span, "label", name)])
        return unique


def _placed(modifiers: tuple[str, ...], operands: list[Operand]) -> tuple[str, ...]:
    """The modifiers, with `param` replaced where the parameter is one of a call and lives in local memory."""
    if not modifiers or modifiers[0] != "param":
        return modifiers
    for operand in operands:
        base = operand.base if isinstance(operand, Address) else None
        if isinstance(base, Symbol) and base.space == "local":
            return ("local", *modifiers[1:])
    return modifiers
