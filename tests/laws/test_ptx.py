"""Laws of the emulator: random straight-line programs against Python's integers; broken texts end in clear problems."""

import struct

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.emulator.machine import DeviceMemory, launch, place_variables
from cgraph.emulator.ptx import read_module
from tests.support.instructions import HEADER, kernel_text, run_text

LANES = 8
REGISTERS = 6
MASK = (1 << 32) - 1


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


# Each operation on 32-bit words, by Python's integers.
OPERATIONS = {
    "add.u32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "mul.hi.s32": lambda a, b: signed(a) * signed(b) >> 32,
    "min.s32": lambda a, b: min(signed(a), signed(b)),
    "max.u32": max,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "shl.b32": lambda a, b: a << b if b < 32 else 0,
    "shr.u32": lambda a, b: a >> b if b < 32 else 0,
    "shr.s32": lambda a, b: signed(a) >> min(b, 31),
    "rem.u32": lambda a, b: a % b if b else a,
    "add.sat.s32": lambda a, b: max(-(1 << 31), min((1 << 31) - 1, signed(a) + signed(b))),
}

register = st.integers(0, REGISTERS - 1)
constant = st.one_of(st.integers(0, 40), st.integers(0, MASK))
source = st.one_of(st.tuples(st.just("r"), register), st.tuples(st.just("c"), constant))
guard = st.one_of(st.none(), st.tuples(register, st.booleans()))
statement = st.tuples(st.sampled_from(sorted(OPERATIONS)), register, source, source, guard)
words = st.lists(st.integers(0, MASK), min_size=LANES * REGISTERS, max_size=LANES * REGISTERS)


def text_of(statements: list) -> str:
    lines = [
        f".reg .b32 %r<{REGISTERS}>; .reg .b64 %d<2>; .reg .b32 %t; .reg .pred %p;",
        "ld.param.u64 %d0, [p0]; mov.u32 %t, %tid.x; mad.wide.u32 %d0, %t, 24, %d0;",
        *(f"ld.global.u32 %r{number}, [%d0+{4 * number}];" for number in range(REGISTERS)),
    ]
    for name, target, first, second, test in statements:
        a, b = (f"%r{value}" if kind == "r" else f"{value}" for kind, value in (first, second))
        if test is None:
            lines.append(f"{name} %r{target}, {a}, {b};")
        else:
            lines.append(f"setp.lt.s32 %p, %r{test[0]}, 0;")
            lines.append(f"@{'!' if test[1] else ''}%p {name} %r{target}, {a}, {b};")
    lines += [f"st.global.u32 [%d0+{4 * number}], %r{number};" for number in range(REGISTERS)]
    return kernel_text("\n".join([*lines, "ret;"]), 1)


@given(st.lists(statement, max_size=25), words)
@settings(deadline=None, suppress_health_check=[HealthCheck.large_base_example, HealthCheck.data_too_large])
def test_straight_line_programs_of_integers(statements: list, values: list[int]) -> None:
    memory = np.array(values, "u4").reshape(LANES, REGISTERS)
    expected = []
    for row in memory:
        registers = [int(value) for value in row]
        for name, target, first, second, test in statements:
            a, b = (registers[value] if kind == "r" else value for kind, value in (first, second))
            if test is None or (signed(registers[test[0]]) < 0) != test[1]:
                registers[target] = OPERATIONS[name](a, b) & MASK
        expected.append(registers)
    run_text(text_of(statements), [memory], block=LANES)
    assert memory.tolist() == expected


# A text with most of what modules have, so that alterations of it reach most of the reader.
SAMPLE = (
    HEADER
    + """.file 1 "sample.cu"
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.global .align 8 .u64 where = table;
.global .f32 half = 0f3F000000;
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) twice(.param .b32 value) {
    .reg .b32 %r<3>;
    ld.param.b32 %r0, [value]; add.s32 %r1, %r0, %r0; st.param.b32 [result], %r1; ret;
}
.visible .entry k(.param .u64 p0, .param .u32 p1) .maxntid 64, 1, 1 {
    .local .align 8 .b8 depot[16];
    .shared .align 4 .b8 tile[256];
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %d<8>;
    .loc 1 3 5
    ld.param.u64 %d0, [p0]; ld.param.u32 %r0, [p1];
    cvta.to.global.u64 %d0, %d0;
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;
    setp.ge.u32 %p0, %r1, %r0; @%p0 bra $DONE;
    ld.global.f32 %f0, [%d2]; fma.rn.f32 %f1, %f0, 0f40000000, 0f3F800000; ex2.approx.ftz.f32 %f2, %f1;
    mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4; st.shared.f32 [%r5], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [%r5]; mov.b32 %r6, %f3;
    shfl.sync.bfly.b32 %r7|%p1, %r6, 1, 31, -1;
    { .reg .b16 low, high; mov.b32 {low, high}, %r7; cvt.u32.u16 %r8, high; }
    { .param .b32 a; st.param.b32 [a], %r8; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %r9, [b]; }
    ld.const.u32 %r10, [table+4]; selp.b32 %r11, %r9, %r10, %p1; atom.global.add.u32 %r12, [%d2], %r11;
    mov.u64 %d3, depot; st.local.v2.u32 [%d3], {%r11, %r12}; ld.local.v2.u32 {%r13, _}, [%d3];
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r1,%r1}, {%r1}, {%f0,%f0,%f0,%f0};
    st.global.u32 [%d2], %r13;
$DONE:
    ret;
}
"""
)


def try_to_run(text: str) -> None:
    """Reads a text and, if that succeeds, executes its kernels; problems must be printable."""
    try:
        module = read_module(text)
        memory = DeviceMemory()
        symbols = place_variables(module, memory)
        for function in module.functions.values():
            plane = memory.allocate(256)
            memory.write(plane, bytes(256))
            arguments = struct.pack("<QI", plane, 64).ljust(min(max(function.parameter_bytes, 12), 4096), b"\0")
            launch(function, grid=(1, 1, 1), block=(64, 1, 1), shared_bytes=64, arguments=arguments, memory=memory,
                   symbols=symbols)  # fmt: skip
    except ProblemsFound as stopped:
        for problem in stopped.problems:
            assert problem.code.startswith("CG7")
            assert render([problem], colour=False)


def test_the_sample_itself_runs() -> None:
    module = read_module(SAMPLE)
    assert set(module.functions) == {"twice", "k"}
    memory = DeviceMemory()
    symbols = place_variables(module, memory)
    assert memory.read(symbols["where"], 8) == symbols["table"].to_bytes(8, "little")
    plane = memory.allocate(256)
    memory.write(plane, bytes(256))
    launch(module.functions["k"], grid=(1, 1, 1), block=(64, 1, 1), shared_bytes=0,
           arguments=struct.pack("<QI", plane, 64), memory=memory, symbols=symbols)  # fmt: skip


@given(st.integers(0, len(SAMPLE)))
@settings(deadline=None)
def test_cut_texts_end_in_problems(length: int) -> None:
    try_to_run(SAMPLE[:length])


PIECES = sorted(
    {*SAMPLE.split(), ";", "{", "}", "[", "]", ",", "-1", "0", "%r1", "%p0", "%d0", "0x", '"', "/*", "<", "é"}
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=3
    )
)
@settings(deadline=None, max_examples=300)
@example([(SAMPLE.index("bra $DONE"), 9, "bra $NOWHERE")])
@example([(SAMPLE.index("tile[256]"), 9, "tile[0]")])
def test_altered_texts_end_in_problems(changes: list[tuple[int, int, str]]) -> None:
    text = SAMPLE
    for start, length, piece in changes:
        text = f"{text[:start]} {piece} {text[start + length :]}"
    try_to_run(text)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_words_that_change_places_end_in_problems(data: st.DataObject) -> None:
    parts = SAMPLE.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        a, b = data.draw(st.integers(0, len(parts) - 1)), data.draw(st.integers(0, len(parts) - 1))
        parts[a], parts[b] = parts[b], parts[a]
    try_to_run(" ".join(parts))
