"""What a PTX module consists of, once it is read.

Holds values only. Names are resolved: every register, label and variable that an operand names is declared, every
instruction is one that the machine knows, and calls are expanded in place.
"""

from collections.abc import Mapping
from typing import TypeAlias

from attrs import field, frozen

from cgraph.source import Source, Span


@frozen
class Place:
    """A line of the text that the PTX was compiled from: the path as the compiler wrote it, the line from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        """`norm.cu:12`, without the folder."""
        return f"{self.file.rpartition('/')[2]}:{self.line}"


@frozen
class Register:
    """A register by its name in the function; `type` is that of its declaration (`b32`, `pred`, …)."""

    name: str
    type: str


@frozen
class Immediate:
    """A constant. An int, or a float with the bits in which it was written (`0f3F800000` has 32)."""

    value: int | float
    bits: int | None = None


@frozen
class Symbol:
    """The address of a variable or a parameter, plus bytes. `space` is where it lives."""

    name: str
    space: str
    offset: int


@frozen
class Address:
    """`[base + offset]`: base is a register, a symbol or None (an absolute address)."""

    base: "Register | Symbol | None"
    offset: int


@frozen
class Special:
    """A special register, such as `%tid.x`."""

    name: str


@frozen
class Vector:
    """`{a, b}`; `_` stands as None."""

    parts: "tuple[Operand | None, ...]"


@frozen
class Pair:
    """`d|p`: two results; None stands for `_`."""

    first: "Register | None"
    second: "Register | None"


@frozen
class Label:
    """A place to branch to, by its unique name in the function."""

    name: str


@frozen
class Negated:
    """`!p` as an operand."""

    register: Register


Operand: TypeAlias = Register | Immediate | Symbol | Address | Special | Vector | Pair | Label | Negated


@frozen
class Guard:
    """`@p` or `@!p`: only lanes whose predicate holds (does not hold) execute the instruction."""

    register: Register
    negated: bool


@frozen(eq=False)
class Instruction:
    """One instruction.

    Args:
        opcode: `add`, `mma`, …; modifiers: what follows, in order, without dots (`("rn", "f32")`).
        operands: in the order of the text; targets of an indexed branch are its last operand, a vector of labels.
        guard: its predicate, if any.
        span: its place in the PTX; place: its place in the .cu file, where the PTX tells.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None
    span: Span = field(repr=False)
    place: Place | None = field(repr=False)

    @property
    def mnemonic(self) -> str:
        """Opcode and modifiers as the text has them."""
        return ".".join((self.opcode, *self.modifiers))


@frozen
class Parameter:
    """A parameter of a function.

    Args:
        name: its PTX name; type: `u64`, `f32`, …; `b8` for a structure passed by value.
        size_bytes, align: of the parameter; offset: in the parameter buffer, in bytes.
    """

    name: str
    type: str
    size_bytes: int
    align: int
    offset: int


@frozen
class Variable:
    """A variable outside registers.

    Args:
        name: its PTX name; space: `global`, `const`, `shared` or `local`.
        size_bytes, align: of the whole variable; None stands for a size that the launch gives (`extern .shared`).
        data: initial bytes, None where there are none.
        references: (offset in bytes, variable's name, bytes to add) for each address within the data.
    """

    name: str
    space: str
    size_bytes: int | None
    align: int
    data: bytes | None = field(default=None, repr=False)
    references: tuple[tuple[int, str, int], ...] = ()


@frozen(eq=False)
class Function:
    """A function, ready to execute.

    Args:
        name: its PTX name; entry: whether it is a kernel.
        parameters: in order, with their offsets in the parameter buffer; returns: what a device function returns.
        parameter_bytes: size of the parameter buffer.
        instructions: in order; labels: the index of the instruction at each label.
        shared_bytes: static shared memory a block; dynamic shared memory begins at `dynamic_shared_offset`.
        local_bytes: local memory a thread.
        offsets: where each shared and local variable lies in its space, in bytes.
        max_threads: the bound of `.maxntid` (product of its numbers), None where it is not given.
        required_block: the block of `.reqntid`, if given.
    """

    name: str
    entry: bool
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...] = field(repr=False)
    parameter_bytes: int
    instructions: tuple[Instruction, ...] = field(repr=False)
    labels: Mapping[str, int] = field(repr=False)
    shared_bytes: int
    dynamic_shared_offset: int
    local_bytes: int
    offsets: Mapping[str, int] = field(repr=False)
    max_threads: int | None
    required_block: tuple[int, int, int] | None


@frozen(eq=False)
class Module:
    """A PTX module.

    Args:
        version: of the PTX language; target: `sm_80`, …
        functions: kernels and device functions by name; variables: of the module, by name (global, const, shared).
        files: the .cu files by number; source: the PTX text.
    """

    version: tuple[int, int]
    target: str
    functions: Mapping[str, Function] = field(repr=False)
    variables: Mapping[str, Variable] = field(repr=False)
    files: Mapping[int, str]
    source: Source
