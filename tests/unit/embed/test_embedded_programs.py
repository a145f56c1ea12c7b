"""Whole programs built from Python."""

import pytest

from cgraph.core.roles import Role
from cgraph.embed import (
    COMMAND,
    FLOAT,
    NAT,
    Program,
    block,
    cg_each,
    cg_launch,
    cg_natural,
    cg_no_slots,
    cg_phase,
    cg_pointer,
    constant,
    float_slot,
    function,
    grid,
    natural_ceil_divide,
    natural_slot,
    plane_type,
    pointer_slot,
    reference,
    require_at_most,
    require_equal,
    shared,
)
from cgraph.syntax import tree
from cgraph.syntax.parser import parse

EXPECTED = """\
import "sizes.cg"
-- Rows of the table.
parameter rows : Nat = 8
parameter scale : Float = 0.5
parameter layers : Nat
phase first "The first \\"part\\""
phase second
plane x : f32 [rows, (naturalMultiply 4 rows)] weight
plane dx : f32 [rows, (naturalMultiply 4 rows)] gradient of x
-- What each layer
-- leaves.
plane kept (l : Nat < layers) (part : Nat < 2) : half [rows, l] saved

-- Doubles.
image double = kernel "double.cu" "doubleF32" {
  slot 0 out : write f32 [n, 4] aliases in
  slot 1 in : read f32 [n, 4] optional
  slot 2 n : natural
  slot 3 factor : float
  constant ROWS = rows
  grid [(naturalCeilDivide n 256), 1]
  block 256
  shared (naturalMultiply 4 n)
  require (naturalModulo n 2) = 0
  require n <= 1024
}

def twice =
  (lambda unrestricted n : Nat .
  (lambda unrestricted p : Plane f32 [n] .
    (cgLaunch double 1 1 1 (cgPointer (cgArgument 0) p (cgNatural (cgArgument 2) n cgNoSlots)))))

-- All of it.
def main : Command = (cgPhase first (cgEach layers (lambda unrestricted l : Nat . (twice rows (kept l 0)))))
"""


def _program() -> Program:
    program = Program(imports=["sizes.cg"])
    rows = program.parameter("rows", default=8, documentation="Rows of the table.")
    program.parameter("scale", FLOAT, default=0.5)
    layers = program.parameter("layers")
    first = program.phase("first", 'The first "part"')
    program.phase("second")
    x = program.plane("x", "f32", [rows, 4 * rows], "weight")
    program.plane("dx", "f32", [rows, 4 * rows], gradient_of=x)
    kept = program.plane(
        "kept",
        "half",
        [rows, reference("l")],
        Role.SAVED,
        indices=[("l", layers), ("part", 2)],
        documentation="What each layer\nleaves.",
    )
    n = reference("n")
    double = program.image(
        "double",
        "double.cu",
        "doubleF32",
        [
            pointer_slot("out", "write", "f32", [n, 4], aliases=["in"]),
            pointer_slot("in", "read", "f32", [n, 4], optional=True),
            natural_slot("n"),
            float_slot("factor"),
            constant("ROWS", rows),
            grid([natural_ceil_divide(n, 256), 1]),
            block(256),
            shared(4 * n),
            require_equal(n % 2, 0),
            require_at_most(n, 1024),
        ],
        documentation="Doubles.",
    )
    twice = program.define(
        "twice",
        function(
            [NAT, lambda n: plane_type("f32", [n])],
            lambda n, p: cg_launch(double, 1, 1, 1, cg_pointer(0, p, cg_natural(2, n, cg_no_slots))),
        ),
    )
    main = cg_phase(first, cg_each(layers, lambda l: twice(rows, kept(l, 0))))  # noqa: E741  (the language's usual name)
    program.define("main", main, COMMAND, documentation="All of it.")
    return program


def test_a_program_prints_as_one_would_write_it() -> None:
    assert _program().source().text == EXPECTED
    assert _program().source("mine.cg").name == "mine.cg"


def test_a_printed_program_is_read_with_places_in_its_text() -> None:
    source = _program().source()
    module = parse(source)
    assert [type(declaration) for declaration in module.declarations[:2]] == [tree.Import, tree.ParameterDeclaration]
    assert all(declaration.span.source is source for declaration in module.declarations)
    assert module.declarations[-1].span.text.startswith("def main")


def test_the_text_is_the_same_every_time() -> None:
    program = _program()
    assert program.source().text == program.source().text


def test_a_plane_has_a_role_or_is_a_gradient() -> None:
    program = Program()
    for role, gradient_of in ((None, None), ("input", "x"), ("gradient", None)):
        with pytest.raises(ValueError, match="give a role, or gradient_of"):
            program.plane("p", "f32", [1], role, gradient_of=gradient_of)


def test_what_the_language_cannot_write() -> None:
    program = Program()
    with pytest.raises(ValueError, match="a word of the language"):
        program.define("lambda", 1)
    with pytest.raises(ValueError, match="line end"):
        program.phase("work", "two\nlines")
    with pytest.raises(ValueError, match="f99"):
        program.plane("p", "f99", [1], "input")
    with pytest.raises(ValueError, match="names its element type"):
        plane_type(None, [1])
    with pytest.raises(TypeError, match="without indices"):
        program.plane("p", "f32", [1], gradient_of=reference("x")(1))
