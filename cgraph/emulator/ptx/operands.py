"""Reads operands: registers, constants, addresses, vectors.

Receives the cursor at an operand and the scope that resolves names; guarantees that every name is declared, but for
labels, which may come later.
"""

import re
from typing import NoReturn

from attrs import define, field

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.ptx.declarations import read_number
from cgraph.emulator.ptx.model import (
    Address,
    Immediate,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from cgraph.emulator.ptx.problems import UnknownName
from cgraph.emulator.ptx.tokens import Words

SPECIALS = frozenset(
    {f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"}
    | {"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi", "%clock64"}
    | {"%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%dynamic_smem_size", "%total_smem_size"}
    | {f"%lanemask_{kind}" for kind in ("eq", "le", "lt", "ge", "gt")}
)
WARP_SIZE = 32
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")


@define
class Scope:
    """Names declared between one pair of braces.

    Args:
        outer: the scope around it; number: unique in the function, 0 for the outermost.
    """

    outer: "Scope | None"
    number: int
    registers: dict[str, str] = field(factory=dict)
    ranges: dict[str, tuple[str, int]] = field(factory=dict)
    symbols: dict[str, tuple[str, str]] = field(factory=dict)
    labels: set[str] = field(factory=set)
    _found: dict[str, Register] = field(factory=dict)

    def declare(self, name: str, kind: str, count: int | None = None) -> None:
        """A register of that name, or `count` of them, numbered from 0."""
        self._found.clear()
        if count is None:
            self.registers[name] = kind
        else:
            self.ranges[name] = (kind, count)

    def unique(self, name: str) -> str:
        """The name as the whole function knows it."""
        return name if self.number == 0 else f"{name}@{self.number}"

    def register(self, name: str) -> Register | None:
        """The register of that name, here or further out."""
        found = self._found.get(name)
        if found is None and (found := self._look_up(name)) is not None:
            self._found[name] = found
        return found

    def _look_up(self, name: str) -> Register | None:
        scope: Scope | None = self
        numbered = _NUMBERED.fullmatch(name)
        while scope is not None:
            if name in scope.registers:
                return Register(scope.unique(name), scope.registers[name])
            if numbered is not None and numbered[1] in scope.ranges and len(numbered[2]) < 10:
                kind, count = scope.ranges[numbered[1]]
                if int(numbered[2]) < count:
                    return Register(scope.unique(name), kind)
            scope = scope.outer
        return None

    def symbol(self, name: str) -> Symbol | None:
        """The variable or parameter of that name, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.symbols:
                unique, space = scope.symbols[name]
                return Symbol(unique, space, 0)
            scope = scope.outer
        return None

    def label(self, name: str) -> str | None:
        """The unique name of a label, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.unique(name)
            scope = scope.outer
        return None


def read_operand(words: Words, scope: Scope) -> Operand:
    """The operand at the cursor. A name that is neither register nor variable becomes a label of that raw name."""
    word = words.word
    register = scope.register(word)
    if register is not None:
        words.take()
        return Pair(register, _read_optional(words, scope)) if words.accept("|") else register
    if word == "{":
        return _read_vector(words, scope)
    if word == "[":
        return _read_address(words, scope)
    if words.accept("!"):
        return Negated(_read_register(words, scope))
    if word[:1].isdigit() or word == "-":
        return Immediate(*read_number(words))
    return _read_named(words, scope)


def _read_named(words: Words, scope: Scope) -> Operand:
    word = words.word
    if word == "_":
        words.take()
        return Pair(None, _read_optional(words, scope)) if words.accept("|") else Vector((None,))
    if word in SPECIALS:
        return Special(words.take())
    if word == "WARP_SZ":
        words.take()
        return Immediate(WARP_SIZE)
    symbol = scope.symbol(word)
    if symbol is not None:
        words.take()
        return Symbol(symbol.name, symbol.space, _read_offset(words))
    if word.startswith("%"):
        _undeclared(words, "register")
    return Label(words.name("an operand"))


def _read_register(words: Words, scope: Scope) -> Register:
    register = scope.register(words.word)
    if register is None:
        _undeclared(words, "register")
    words.take()
    return register


def _read_optional(words: Words, scope: Scope) -> Register | None:
    return None if words.accept("_") else _read_register(words, scope)


def _read_vector(words: Words, scope: Scope) -> Vector:
    parts: list[Operand | None] = []
    words.expect("{")
    while not words.accept("}"):
        if parts:
            words.expect(",")
        if words.accept("_"):
            parts.append(None)
            continue
        part = read_operand(words, scope)
        if not isinstance(part, Register | Immediate):
            words.fail("a register or a constant in a vector")
        parts.append(part)
    return Vector(tuple(parts))


def _read_address(words: Words, scope: Scope) -> Address:
    words.expect("[")
    base: Register | Symbol | None = None
    offset = 0
    if words.word[:1].isdigit():
        offset = words.natural("an address")
    else:
        symbol = scope.symbol(words.word)
        base = symbol if symbol is not None else scope.register(words.word)
        if base is None:
            _undeclared(words, "register or variable")
        words.take()
    offset += _read_offset(words)
    words.expect("]")
    return Address(base, offset)


def _read_offset(words: Words) -> int:
    offset = 0
    while words.word in {"+", "-"}:
        sign = 1 if words.take() == "+" else -1
        sign = -sign if words.accept("-") else sign
        offset += sign * words.natural("an offset in bytes")
    return offset


def _undeclared(words: Words, kind: str) -> NoReturn:
    if words.word[:1] not in {"$", "%", "_"} and not words.word[:1].isalpha():
        words.fail(f"a {kind}")
    raise ProblemsFound([UnknownName(words.here(), kind, words.word)])
