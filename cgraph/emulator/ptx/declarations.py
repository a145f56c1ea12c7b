"""Reads declarations: variables with their initial values, and parameters.

Receives the cursor at a declaration; guarantees sizes, alignments and initial bytes. Where a name belongs is left to
the module's and the function's readers.
"""

import struct

from attrs import frozen

from cgraph.emulator.ptx.model import Parameter, Variable
from cgraph.emulator.ptx.problems import UnsupportedPtx
from cgraph.emulator.ptx.tokens import Words
from cgraph.emulator.ptx.types import SIZE_BYTES, is_float

# What may stand before a declaration and changes nothing for the emulator.
LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
SPACES = frozenset({".global", ".const", ".shared", ".local", ".param"})
MAX_VARIABLE_BYTES = 1 << 28


@frozen
class Declared:
    """A declared name: its type, alignment, size (None: given elsewhere), and initial value."""

    name: str
    type: str
    align: int
    size_bytes: int | None
    data: bytes | None
    references: tuple[tuple[int, str, int], ...]

    def variable(self, space: str) -> Variable:
        """The variable in a space."""
        return Variable(self.name, space, self.size_bytes, self.align, self.data, self.references)


def read_declaration(words: Words) -> Declared:
    """What follows the space: `.align 4 .b8 name[16] = {…}`, up to the word behind it."""
    align = 0
    kind = ""
    while words.word.startswith("."):
        start = words.start
        attribute = words.take()
        if attribute == ".align":
            align = words.natural("an alignment")
            if align.bit_count() != 1 or align > 1 << 16:
                words.fail("an alignment that is a power of two")
        elif attribute[1:] in SIZE_BYTES and attribute != ".pred":
            kind = attribute[1:]
        elif attribute in {".ptr", ".global", ".shared", ".const", ".local"}:
            continue  # what a pointer parameter points to
        else:
            words.report(UnsupportedPtx(words.span(start), f"the attribute {attribute} of a variable"))
    if not kind:
        words.fail("a type")
    name = words.name("a name")
    count: int | None = 1
    while words.accept("["):
        if words.accept("]"):
            count = None
        else:
            count = (count or 1) * words.natural("a number of elements")
            words.expect("]")
    size_bytes = None if count is None else count * SIZE_BYTES[kind]
    if size_bytes is not None and size_bytes > MAX_VARIABLE_BYTES:
        words.fail(f"a variable of at most {MAX_VARIABLE_BYTES} bytes")
    data, references = _read_initial(words, kind, size_bytes or 0) if words.accept("=") else (None, ())
    return Declared(name, kind, align or SIZE_BYTES[kind], size_bytes, data, references)


def read_parameters(words: Words) -> tuple[Parameter, ...]:
    """`(.param … , .param …)`, with the offset of each in the parameter buffer."""
    parameters: list[Parameter] = []
    offset = 0
    words.expect("(")
    while not words.accept(")"):
        if parameters:
            words.expect(",")
        words.expect(".param")
        declared = read_declaration(words)
        if declared.size_bytes is None:
            words.fail("a parameter with a size")
        offset = -(-offset // declared.align) * declared.align
        parameters.append(Parameter(declared.name, declared.type, declared.size_bytes, declared.align, offset))
        offset += declared.size_bytes
    return tuple(parameters)


def read_number(words: Words) -> tuple[int | float, int | None]:
    """A constant and the bits in which it was written: 32 for `0f…`, 64 for `0d…` and decimals, None for integers."""
    negative = words.accept("-")
    word = words.word
    if word[:2] in {"0f", "0F"}:
        value, bits = struct.unpack(">f", bytes.fromhex(words.take()[2:]))[0], 32
    elif word[:2] in {"0d", "0D"}:
        value, bits = struct.unpack(">d", bytes.fromhex(words.take()[2:]))[0], 64
    elif word[:1].isdigit() and word[:2] not in {"0x", "0X"} and not word.rstrip("U").isdigit():
        value, bits = float(words.take()), 64
    else:
        natural = words.natural("a constant")
        return (-natural if negative else natural), None
    return (-value if negative else value), bits


def _read_initial(words: Words, kind: str, size_bytes: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
    """`= {1, 2}` or `= 1`: bytes, zero behind what is given, and the addresses among them."""
    data = bytearray()
    references: list[tuple[int, str, int]] = []
    depth = 0
    while True:
        if words.accept("{"):
            depth += 1
            continue
        if words.word and (words.word[0].isdigit() or words.word == "-"):
            data += _encoded(words, kind)
        elif words.word not in {"}", ",", ";"}:
            if SIZE_BYTES[kind] != 8:
                words.unsupported("an address in a variable whose elements have not 8 bytes")
            references.append((len(data), *_read_reference(words)))
            data += bytes(SIZE_BYTES[kind])
        while depth and words.accept("}"):
            depth -= 1
        if not depth:
            break
        words.expect(",")
    if len(data) > size_bytes:
        words.fail(f"at most {size_bytes} bytes of initial values")
    return bytes(data).ljust(size_bytes, b"\0"), tuple(references)


def _read_reference(words: Words) -> tuple[str, int]:
    """`name`, `name+4` or `generic(name)`, possibly with bytes added inside or behind."""
    name = words.name("an initial value")
    enclosed = name == "generic" and words.accept("(")
    if enclosed:
        name = words.name("a variable")
    addend = _read_addend(words)
    if enclosed:
        words.expect(")")
    return name, addend + _read_addend(words)


def _read_addend(words: Words) -> int:
    addend = 0
    while words.word in {"+", "-"}:
        sign = 1 if words.take() == "+" else -1
        addend += sign * words.natural("bytes to add")
    return addend


def _encoded(words: Words, kind: str) -> bytes:
    value, bits = read_number(words)
    size = SIZE_BYTES[kind]
    if isinstance(value, float):
        if kind not in {"f32", "f64"} and bits != 8 * size:
            words.fail(f"an initial value of type {kind}")
        return struct.pack("<f" if size == 4 else "<d", value)
    if is_float(kind) and kind in {"f32", "f64"}:
        return struct.pack("<f" if size == 4 else "<d", float(value))
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
