"""What the reader finds in a module: parameters, variables, layout, places; and what it refuses, by name and line."""

import pytest

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.machine.program import decode
from cgraph.emulator.ptx import Module, read_module
from cgraph.emulator.ptx.forms import Form, all_forms
from cgraph.emulator.ptx.model import Immediate, Register, Vector
from cgraph.emulator.ptx.problems import UnknownInstruction, UnknownName, UnreadablePtx, UnsupportedPtx, WrongOperand
from tests.support.instructions import HEADER, kernel_text
from tests.support.machine import compile_module


def refused(text: str) -> Problem:
    with pytest.raises(ProblemsFound) as stopped:
        read_module(text, name="bad.ptx")
    (problem,) = stopped.value.problems
    return problem


def in_kernel(statement: str) -> str:
    registers = ".reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<5>;"
    return kernel_text(f"{registers}\n{statement}\nret;", 1)


def first_instruction(statement: str) -> tuple[object, ...]:
    return read_module(in_kernel(statement)).functions["k"].instructions[0].operands


def test_parameters_lie_where_their_alignment_puts_them() -> None:
    text = """struct Odd { double d; char c; };
    extern "C" __global__ void __launch_bounds__(96) k(char a, double b, short c, Odd d, int* e) {
        *e = a + b + c + d.c;
    }"""
    function = compile_module(text).functions["k"]
    assert [each.offset for each in function.parameters] == [0, 8, 16, 24, 40]
    assert [each.size_bytes for each in function.parameters] == [1, 8, 2, 16, 8]
    assert [each.align for each in function.parameters] == [1, 8, 2, 8, 8]
    assert function.parameter_bytes == 48
    assert function.max_threads == 96


def test_shared_and_local_memory_is_laid_out() -> None:
    text = """extern "C" __global__ void k(int* out, int n) {
        __shared__ char a[3]; __shared__ double b[5]; extern __shared__ float c[];
        int local[10];
        for (int i = 0; i < 10; ++i) local[i] = i * n;
        a[n % 3] = 1; b[n % 5] = 2; c[n] = local[n % 10];
        __syncthreads();
        *out = a[0] + b[0] + c[0];
    }"""
    function = compile_module(text).functions["k"]
    assert function.shared_bytes in {43, 48}  # 40 and 3, in either order
    assert function.dynamic_shared_offset == 48
    assert function.local_bytes >= 40
    offsets = sorted(offset for name, offset in function.offsets.items() if name.startswith("_ZZ"))
    assert offsets[0] == 0


def test_variables_and_their_first_values() -> None:
    text = (
        HEADER
        + """
    .const .align 8 .b8 mixed[12] = {1, 2, 0xFF};
    .global .f32 half = 0f3F000000;
    .global .f64 third = 0d3FD5555555555555;
    .global .s16 numbers[3] = {-1, 2};
    .visible .global .align 8 .u64 there = generic(numbers)+4;
    .extern .shared .align 16 .b8 dynamic[];
    """
    )
    variables = read_module(text).variables
    assert variables["mixed"].data == bytes([1, 2, 255]) + bytes(9)
    assert (variables["mixed"].space, variables["mixed"].align, variables["mixed"].size_bytes) == ("const", 8, 12)
    assert variables["half"].data == b"\0\0\0\x3f"
    assert variables["third"].data == bytes.fromhex("3FD5555555555555")[::-1]
    assert variables["numbers"].data == b"\xff\xff\2\0\0\0"
    assert variables["there"].references == ((0, "numbers", 4),)
    assert variables["dynamic"].size_bytes is None


def test_instructions_know_their_line_in_the_cu_file() -> None:
    text = """__device__ __forceinline__ float square(float x) {
        return x * x;
    }
    extern "C" __global__ void k(float* out) {
        out[0] = square(out[1])
            + 1.0f;
        out[2] = __expf(out[3]);
    }"""
    instructions = compile_module(text).functions["k"].instructions
    lines = {each.opcode: each.place.line for each in instructions if each.place is not None}
    assert lines["fma"] in {2, 5, 6} or lines["mul"] == 2
    assert lines["ex2"] == 7  # not a line of the toolkit's header
    assert all(str(each.place).startswith("test.cu:") for each in instructions if each.place is not None)


def test_names_in_braces_are_names_of_their_own() -> None:
    module = read_module(in_kernel("""{ .reg .b32 x; mov.b32 x, 1; { .reg .b16 x; mov.b16 x, 2; } add.u32 %r0, x, x; }
    { .reg .b64 x; mov.b64 x, 3; bra OUT; OUT: } { bra OUT; OUT: }"""))  # fmt: skip
    instructions = module.functions["k"].instructions
    registers = [each.operands[0] for each in instructions if each.opcode == "mov"]
    assert all(isinstance(each, Register) for each in registers)
    assert len({each.name for each in registers if isinstance(each, Register)}) == 3
    assert instructions[2].operands[1] == registers[0]
    assert len(module.functions["k"].labels) == 2


def test_constants_keep_their_bits() -> None:
    assert first_instruction("mov.f32 %f0, 0f3F800000;")[1] == Immediate(1.0, 32)
    assert first_instruction("mov.u32 %r0, 0xFFU;")[1] == Immediate(255)
    assert first_instruction("add.s32 %r0, %r1, -5;")[2] == Immediate(-5)
    assert first_instruction("mov.b32 {%h0, _}, %r1;")[0] == Vector((Register("%h0", "b16"), None))


def test_what_is_unknown_is_named_with_its_line() -> None:
    problem = refused(in_kernel("wgmma.fence.sync.aligned;"))
    assert isinstance(problem, UnknownInstruction)
    assert problem.mnemonic == "wgmma.fence.sync.aligned"
    assert problem.span is not None
    assert problem.span.text == "wgmma.fence.sync.aligned;"
    assert problem.span.source.name == "bad.ptx"
    near = refused(in_kernel("cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;"))
    assert isinstance(near, UnknownInstruction)
    assert any("cvt" in note for note in near.notes())


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("add.s32 %r0, %r1;", WrongOperand),
        ("add.s32 %r0, %r1, %d1;", WrongOperand),
        ("add.s32 5, %r1, %r2;", WrongOperand),
        ("add.f32 %f0, %f1, 1;", WrongOperand),
        ("add.s32 %r0, %r1, %p1;", WrongOperand),
        ("mov.pred %r0, %p1;", WrongOperand),
        ("ld.global.f32 %f0, %d0;", WrongOperand),
        ("ld.global.v4.f32 {%f0, %f1}, [%d0];", WrongOperand),
        ("ld.global.f32 %f0, [%h0];", WrongOperand),
        ("st.global.u32 [%d0], {%r0, %r1};", WrongOperand),
        ("bra 5;", WrongOperand),
        ("cp.async.wait_group %r0;", WrongOperand),
        ("add.s32 %r0, %r1, %r99;", UnknownName),
        ("bra NOWHERE;", UnknownName),
        ("ld.global.f32 %f0, [nothing];", UnknownName),
        ("call.uni missing;", UnknownName),
        ("@%r0 add.s32 %r0, %r1, %r2;", UnreadablePtx),
        ("add.s32 %r0, %r1, %r2", UnreadablePtx),
        ("add.s32 %r0 %r1, %r2;", UnreadablePtx),
        (".weird 5;", UnsupportedPtx),
        ("call.uni k;", UnsupportedPtx),
    ],
)
def test_what_does_not_fit_is_refused(statement: str, kind: type[Problem]) -> None:
    problem = refused(in_kernel(statement))
    assert isinstance(problem, kind), problem.render_title()
    assert problem.span is not None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", UnreadablePtx),
        ("\x7fELF", UnreadablePtx),
        (".version 8.0\n.target sm_80\n.address_size 32\n", UnsupportedPtx),
        (HEADER + ".global .u32 x = 5, y", UnreadablePtx),
        (HEADER + ".global .u64 x = nothing;", UnknownName),
        (HEADER + ".global .b8 x[4] = {1, 2, 3, 4, 5};", UnreadablePtx),
        (HEADER + ".global .b8 x[99999999999];", UnreadablePtx),
        (HEADER + ".entry k() { ret; ", UnreadablePtx),
        (HEADER + ".func f() { call.uni f; ret; } .entry k() { call.uni f; ret; }", UnsupportedPtx),
        (HEADER + ".func (.param .b64 r) f() { ret; } .entry k() { call.uni f; ret; }", WrongOperand),
        (HEADER + ".extern .func f(); .entry k() { call.uni f; ret; }", UnsupportedPtx),
    ],
)
def test_modules_that_are_refused(text: str, kind: type[Problem]) -> None:
    problem = refused(text)
    assert isinstance(problem, kind), problem.render_title()


def written(form: Form) -> str:
    """An instruction of a form, with a register of the right size for each operand."""
    chosen = [(part.letter, min(part.choices)) for part in form.parts if not part.optional]
    letters = {letter: choice for letter, choice in chosen if letter}
    words = ".".join([form.opcode, *(choice for _, choice in chosen)])
    return f"{words} {', '.join(operand(each, letters, words) for each in form.operands if each[0] != '?')};"


def operand(wanted: str, letters: dict[str, str], words: str) -> str:
    kind = wanted.lstrip("=~")
    if kind == "M":
        return "[%d0]"
    if kind in {"L", "I"}:
        return {"L": "END", "I": "16"}[kind]
    if "|" in kind:
        first, _, second = kind.partition("|")
        return f"{operand(first, letters, words)}|{operand(second, letters, words).replace('0', '1')}"
    if kind.startswith("*") or kind[1:2] == "x":
        count = (2 if "v2" in words else 4) if kind[0] == "*" else int(kind[0])
        return "{" + ", ".join([operand(kind.lstrip("*")[0 if kind[0] == "*" else 2 :], letters, words)] * count) + "}"
    if kind == "any":
        kind = "T"
    double = kind.startswith("2")
    name = letters.get(kind.removeprefix("2"), kind)
    if name == "pred":
        return "%p0"
    bits = int(name.removeprefix("bf").lstrip("usbtf").removesuffix("x2")) * (2 if name.endswith("x2") else 1)
    size = bits * (2 if double else 1)
    return {8: "%h0", 16: "%h0", 32: "%r0", 64: "%d1"}[size]


@pytest.mark.parametrize("form", tuple(all_forms()), ids=lambda form: form.text)
def test_every_form_that_is_read_can_be_executed(form: Form) -> None:
    """The table of forms and the machine's families know the same instructions."""
    if form.opcode == "brx":
        pytest.skip("its list of targets is read apart")
    module: Module = read_module(in_kernel(written(form) + "\nEND:"))
    assert decode(module.functions["k"]).segments
