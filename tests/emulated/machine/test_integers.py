"""Integer instructions at edge values, against arithmetic of Python's unbounded integers."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.instructions import Array, apply, integer_edges, pairs, triples

TYPES = {"u16": "u2", "s16": "i2", "u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8"}
WIDE = {"u16": "u4", "s16": "i4", "u32": "u8", "s32": "i8"}
BITS = {"b16": "u2", "b32": "u4", "b64": "u8"}


def wrap(values: list[int], dtype: str) -> NDArray[np.integer]:
    bits = 8 * np.dtype(dtype).itemsize
    return np.array([value & ((1 << bits) - 1) for value in values], f"u{bits // 8}").view(dtype)


def each(function: Callable[..., int], dtype: str, *sources: Array) -> NDArray[np.integer]:
    return wrap([function(*(int(value) for value in row)) for row in zip(*sources, strict=True)], dtype)


def check(instruction: str, function: Callable[..., int], dtype: str, *sources: Array) -> None:
    found = apply(instruction, np.zeros(len(sources[0]), dtype), *sources)
    np.testing.assert_array_equal(found, each(function, dtype, *sources), err_msg=instruction)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


@pytest.mark.parametrize("kind", TYPES)
def test_arithmetic_wraps(kind: str) -> None:
    dtype = TYPES[kind]
    a, b = pairs(integer_edges(dtype), integer_edges(dtype))
    check(f"add.{kind} D, A, B", lambda x, y: x + y, dtype, a, b)
    check(f"sub.{kind} D, A, B", lambda x, y: x - y, dtype, a, b)
    check(f"mul.lo.{kind} D, A, B", lambda x, y: x * y, dtype, a, b)
    bits = 8 * np.dtype(dtype).itemsize
    check(f"mul.hi.{kind} D, A, B", lambda x, y: (x * y) >> bits, dtype, a, b)
    check(f"min.{kind} D, A, B", min, dtype, a, b)
    check(f"max.{kind} D, A, B", max, dtype, a, b)
    some = b != 0
    check(f"div.{kind} D, A, B", truncated, dtype, a[some], b[some])
    check(f"rem.{kind} D, A, B", lambda x, y: x - y * truncated(x, y), dtype, a[some], b[some])
    few = integer_edges(dtype)[::3]
    check(f"mad.lo.{kind} D, A, B, C", lambda x, y, z: x * y + z, dtype, *triples(few, few, few))
    check(f"mad.hi.{kind} D, A, B, C", lambda x, y, z: ((x * y) >> bits) + z, dtype, *triples(few, few, few))
    check(f"sad.{kind} D, A, B, C", lambda x, y, z: abs(x - y) + z, dtype, *triples(few, few, few))


@pytest.mark.parametrize("kind", WIDE)
def test_wide_products(kind: str) -> None:
    a, b = pairs(integer_edges(TYPES[kind]), integer_edges(TYPES[kind]))
    check(f"mul.wide.{kind} D, A, B", lambda x, y: x * y, WIDE[kind], a, b)
    few = integer_edges(TYPES[kind])[::3]
    sources = triples(few, few, integer_edges(WIDE[kind])[::3])
    check(f"mad.wide.{kind} D, A, B, C", lambda x, y, z: x * y + z, WIDE[kind], *sources)


def test_saturation_and_24_bits() -> None:
    a, b = pairs(integer_edges("i4"), integer_edges("i4"))
    limit = 1 << 31
    check("add.sat.s32 D, A, B", lambda x, y: max(-limit, min(limit - 1, x + y)), "i4", a, b)
    check("sub.sat.s32 D, A, B", lambda x, y: max(-limit, min(limit - 1, x - y)), "i4", a, b)

    def low24(value: int) -> int:
        return ((value & 0xFFFFFF) ^ 0x800000) - 0x800000

    check("mul24.lo.s32 D, A, B", lambda x, y: low24(x) * low24(y), "i4", a, b)
    check("mul24.hi.s32 D, A, B", lambda x, y: (low24(x) * low24(y)) >> 16, "i4", a, b)


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_signs(kind: str) -> None:
    values = integer_edges(TYPES[kind])
    check(f"neg.{kind} D, A", lambda x: -x, TYPES[kind], values)
    check(f"abs.{kind} D, A", abs, TYPES[kind], values)


@pytest.mark.parametrize("kind", BITS)
def test_logic_and_left_shifts(kind: str) -> None:
    dtype = BITS[kind]
    bits = 8 * np.dtype(dtype).itemsize
    a, b = pairs(integer_edges(dtype), integer_edges(dtype))
    check(f"and.{kind} D, A, B", lambda x, y: x & y, dtype, a, b)
    check(f"or.{kind} D, A, B", lambda x, y: x | y, dtype, a, b)
    check(f"xor.{kind} D, A, B", lambda x, y: x ^ y, dtype, a, b)
    check(f"not.{kind} D, A", lambda x: ~x, dtype, a)
    check(f"cnot.{kind} D, A", lambda x: int(x == 0), dtype, a)
    values, by = pairs(integer_edges(dtype), np.array([0, 1, 3, bits - 1, bits, bits + 1, 255, 1 << 31], "u4"))
    check(f"shl.{kind} D, A, B", lambda x, y: x << y if y < bits else 0, dtype, values, by)
    check(f"shl.{kind} D, A, 5", lambda x: x << 5, dtype, values)


@pytest.mark.parametrize("kind", TYPES)
def test_right_shifts(kind: str) -> None:
    dtype = TYPES[kind]
    bits = 8 * np.dtype(dtype).itemsize
    values, by = pairs(integer_edges(dtype), np.array([0, 1, 3, bits - 1, bits, bits + 1, 255, 1 << 31], "u4"))
    check(f"shr.{kind} D, A, B", lambda x, y: x >> min(y, bits), dtype, values, by)
    check(f"shr.{kind} D, A, 70", lambda x: x >> 70, dtype, values)


def test_funnel_shifts() -> None:
    a, b, c = triples(integer_edges("u4")[::2], integer_edges("u4")[::2], np.array([0, 1, 8, 31, 32, 33, 100], "u4"))
    mask = 0xFFFFFFFF

    def left(low: int, high: int, by: int) -> int:
        return (((high << 32 | low) << by) >> 32) & mask

    def right(low: int, high: int, by: int) -> int:
        return ((high << 32 | low) >> by) & mask

    check("shf.l.wrap.b32 D, A, B, C", lambda x, y, z: left(x, y, z & 31), "u4", a, b, c)
    check("shf.r.wrap.b32 D, A, B, C", lambda x, y, z: right(x, y, z & 31), "u4", a, b, c)
    check("shf.l.clamp.b32 D, A, B, C", lambda x, y, z: left(x, y, min(z, 32)), "u4", a, b, c)
    check("shf.r.clamp.b32 D, A, B, C", lambda x, y, z: right(x, y, min(z, 32)), "u4", a, b, c)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(kind: str) -> None:
    dtype = TYPES[kind]
    bits = 8 * np.dtype(dtype).itemsize
    places = np.array([0, 1, 7, bits - 1, bits, 200, 256 + 3], "u4")
    a, start, count = triples(integer_edges(dtype), places, places)

    def extract(value: int, position: int, length: int) -> int:  # the ISA's own pseudocode
        position, length = position & 255, length & 255
        word = value & ((1 << bits) - 1)
        sign = 0
        if kind.startswith("s") and length:
            sign = word >> min(position + length - 1, bits - 1) & 1
        return sum(
            (word >> (position + i) & 1 if i < length and position + i < bits else sign) << i for i in range(bits)
        )

    check(f"bfe.{kind} D, A, B, C", extract, dtype, a, start, count)


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_bit_insertion_counts_and_reversal(kind: str) -> None:
    dtype = BITS[kind]
    bits = 8 * np.dtype(dtype).itemsize
    values = integer_edges(dtype)
    a, b = pairs(values, values)
    for position, length in ((0, 0), (0, 5), (3, 8), (bits - 4, 9), (bits, 3), (0, bits), (300, 4)):

        def insert(value: int, into: int, position: int = position & 255, length: int = length & 255) -> int:
            for i in range(length):
                if position + i < bits:
                    into = into & ~(1 << (position + i)) | (value >> i & 1) << (position + i)
            return into

        check(f"bfi.{kind} D, A, B, {position}, {length}", insert, dtype, a, b)
    check(f"popc.{kind} D, A", int.bit_count, "u4", values)
    check(f"clz.{kind} D, A", lambda x: bits - x.bit_length(), "u4", values)
    check(f"brev.{kind} D, A", lambda x: int(f"{x:0{bits}b}"[::-1], 2), dtype, values)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_the_uppermost_bit(kind: str) -> None:
    values = integer_edges(TYPES[kind])
    bits = 8 * values.dtype.itemsize

    def find(value: int) -> int:
        return (~value if value < 0 else value).bit_length() - 1

    check(f"bfind.{kind} D, A", find, "u4", values)
    check(f"bfind.shiftamt.{kind} D, A", lambda x: -1 if find(x) < 0 else bits - 1 - find(x), "u4", values)


def test_permutations_and_any_logic_of_three() -> None:
    words = np.array([0x03020180, 0x87F6E504, 0xFFFFFFFF, 0], "u4")
    control = np.array([0x3210, 0x7654, 0x0123, 0x1234, 0xFA98, 0x5140], "u4")

    def permute(a: int, b: int, c: int) -> int:
        source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
        result = 0
        for i in range(4):
            selector = c >> 4 * i & 15
            byte = source[selector & 7]
            result |= (255 * (byte >> 7) if selector & 8 else byte) << 8 * i
        return result

    check("prmt.b32 D, A, B, C", permute, "u4", *triples(words, words, control))

    def forward(a: int, b: int, c: int) -> int:
        source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
        return int.from_bytes(bytes(source[((c & 3) + i) % 8] for i in range(4)), "little")

    check("prmt.b32.f4e D, A, B, C", forward, "u4", *triples(words, words, control))
    for table in (0xE8, 0x96, 0x1B):

        def look_up(a: int, b: int, c: int, table: int = table) -> int:
            return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))

        check(f"lop3.b32 D, A, B, C, {table}", look_up, "u4", *triples(words, words, words))


def test_dot_products_of_bytes() -> None:
    words = np.array([0x01020304, 0x80FF7F01, 0xFFFFFFFF, 0x12345678], "u4")
    a, b, c = triples(words, words, np.array([0, 7, 1 << 31], "u4"))

    def parts(word: int, *, signed: bool) -> list[int]:
        return [int.from_bytes(bytes([byte]), "little", signed=signed) for byte in word.to_bytes(4, "little")]

    for left in (True, False):
        for right in (True, False):
            kinds = f"{'s' if left else 'u'}32.{'s' if right else 'u'}32"

            def dot(x: int, y: int, z: int, left: bool = left, right: bool = right) -> int:
                return z + sum(p * q for p, q in zip(parts(x, signed=left), parts(y, signed=right), strict=True))

            check(f"dp4a.{kinds} D, A, B, C", dot, "u4", a, b, c)


def test_carries_run_through_two_words() -> None:
    a, b = pairs(integer_edges("u8"), integer_edges("u8"))
    split = ".reg .b32 %x<4>; .reg .b32 %y<2>; mov.b64 {%x0, %x1}, A; mov.b64 {%x2, %x3}, B;"
    for first, second, function in (
        ("add.cc.u32", "addc.u32", lambda x, y: x + y),
        ("sub.cc.u32", "subc.u32", lambda x, y: x - y),
    ):
        code = f"{first} %y0, %x0, %x2; {second} %y1, %x1, %x3; mov.b64 D, {{%y0, %y1}}"
        check(f"{{ {split} {code}; }} //", function, "u8", a, b)


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", ["u8", "s8", *TYPES])
def test_conversions_between_integers(source: str, target: str) -> None:
    values = integer_edges(TYPES[source])
    dtype = {**TYPES, "u8": "u1", "s8": "i1"}[target]
    info = np.iinfo(dtype)
    check(f"cvt.{target}.{source} D, A", lambda x: x, dtype, values)
    check(f"cvt.sat.{target}.{source} D, A", lambda x: max(info.min, min(info.max, x)), dtype, values)


def test_narrow_values_in_wider_registers() -> None:
    values = integer_edges("u4")
    check("cvt.s32.s8 D, A", lambda x: (x & 0xFF ^ 0x80) - 0x80, "i4", values)
    check("cvt.u32.u16 D, A", lambda x: x & 0xFFFF, "u4", values)


@pytest.mark.parametrize("kind", TYPES)
def test_comparisons_and_selections(kind: str) -> None:
    dtype = TYPES[kind]
    a, b = pairs(integer_edges(dtype), integer_edges(dtype))
    names: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }
    for name, function in names.items():
        code = (
            f"{{ .reg .pred %q<2>; setp.{name}.{kind} %q0|%q1, A, B; selp.u32 D, 1, 2, %q0; @%q1 add.u32 D, D, 4; }} //"
        )
        check(code, lambda x, y, function=function: 1 if function(x, y) else 6, "u4", a, b)
        check(f"set.{name}.u32.{kind} D, A, B", lambda x, y, function=function: -int(function(x, y)), "u4", a, b)


def test_predicates_combine() -> None:
    a, b = pairs(np.array([0, 1], "u4"), np.array([0, 1], "u4"))
    for name, function in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
        code = (
            "{ .reg .pred %q<5>; setp.ne.u32 %q0, A, 0; setp.ne.u32 %q1, B, 0;"
            f"{name}.pred %q2, %q0, %q1; not.pred %q3, %q2; setp.eq.{name}.u32 %q4, A, 1, %q1;"
            "selp.u32 D, 1, 0, %q2; @%q3 add.u32 D, D, 2; @%q4 add.u32 D, D, 4; @!%q4 add.u32 D, D, 8; } //"
        )

        def expected(x: int, y: int, function: Callable[[int, int], int] = function) -> int:
            value = function(x, y)
            return value + 2 * (1 - value) + (4 if value else 8)

        check(code, expected, "u4", a, b)


def test_slct_takes_the_first_for_what_is_not_negative() -> None:
    a = np.array([1, 1, 1, 1, 1], "u4")
    b = np.array([2, 2, 2, 2, 2], "u4")
    whole = np.array([0, 5, -1, 1 << 30, -(1 << 31)], "i4")
    check("slct.u32.s32 D, A, B, C", lambda x, y, z: x if z >= 0 else y, "u4", a, b, whole)
    real = np.array([0.0, -0.0, -1.0, np.nan, np.inf], "f4")
    found = apply("slct.u32.f32 D, A, B, C", np.zeros(5, "u4"), a, b, real)
    np.testing.assert_array_equal(found, [1, 1, 2, 2, 1])
