"""Layouts written out by hand; that layout changes nothing else is shown in tests/laws/test_printer.py."""

import pytest

from cgraph.source import Source
from cgraph.syntax import tree
from cgraph.syntax.parser import parse
from cgraph.syntax.printer import WIDTH, print_module, print_term, print_type
from tests.support.seeds import seed_layer_text
from tests.support.trees import NOWHERE, plain

WIDE = "aNameOfThirtyFourCharactersInTotal"
assert len(WIDE) == 34


def formatted(text: str) -> str:
    return print_module(parse(Source("t.cg", text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("def  a=( f\n x )", "def a = (f x)\n"),
        ('import"a" phase p"p" phase q"x\\\\"', 'import "a"\nphase p\nphase q "x\\\\"\n'),
        ("def a = 1 -- one\n\n\n\ndef b = 2", "def a = 1 -- one\n\ndef b = 2\n"),
        ("def a = -1.50E3", "def a = -1.50E3\n"),
        ("plane p(i:Nat<2):f32[2,3]gradient of x", "plane p (i : Nat < 2) : f32 [2, 3] gradient of x\n"),
        ("def a = (f x -- why\n y)", "def a =\n  (f x -- why\n    y)\n"),
        ("def a = (f {- short -} x)", "def a = (f {- short -} x)\n"),
        ("-- end", "-- end\n"),
    ],
)
def test_small_texts(text: str, expected: str) -> None:
    assert formatted(text) == expected


def test_images_and_what_stands_around_them() -> None:
    text = 'def z = 1\n-- The image.\nimage i = kernel "f" "e" {slot 0 a:read f32[n] -- in\n\n\nblock[64]}\ndef y = 2'
    assert (
        formatted(text)
        == """def z = 1

-- The image.
image i = kernel "f" "e" {
  slot 0 a : read f32 [n] -- in

  block 64
}

def y = 2
"""
    )


def test_a_chain_is_a_list_without_growing_indentation() -> None:
    steps = [f"(cgFill {WIDE}{number} 0.0)" for number in range(4)]
    text = f"def a = (cgThen {steps[0]} (cgThen {steps[1]}\n\n (cgThen {steps[2]} {steps[3]})))"
    assert formatted(text) == (
        f"def a =\n  (cgThen {steps[0]}\n  (cgThen {steps[1]}\n\n  (cgThen {steps[2]}\n    {steps[3]})))\n"
    )


def test_binders_chain_and_long_values_stand_apart() -> None:
    value = f"(f {WIDE} {WIDE} {WIDE})"
    text = f"def a = (lambda linear x : Nat . (let erased y = {value} in (let erased z = 1 in (g x {WIDE}))))"
    assert formatted(text) == (
        "def a =\n  (lambda linear x : Nat .\n  (let erased y =\n"
        f"      {value}\n    in\n  (let erased z = 1 in\n    (g x {WIDE}))))\n"
    )


def test_arguments_hang_or_stand_in_lines() -> None:
    assert formatted(f"def a = (f {WIDE} {WIDE} {WIDE} (g 1 2 3 {WIDE}))") == (
        f"def a =\n  (f {WIDE} {WIDE} {WIDE}\n    (g 1 2 3 {WIDE}))\n"
    )
    assert formatted(f"def a = (f {WIDE} {WIDE} {WIDE} {WIDE} x)") == (
        "def a =\n  (f\n" + f"    {WIDE}\n" * 4 + "    x)\n"
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("(cgThen x ", ")"),
        ("(f{} x ", ")"),
        ("(", " x)"),
        ("(lambda unrestricted x : Nat . ", ")"),
        ("(let linear x = ", " in y)"),
    ],
)
def test_depth_costs_no_stack_and_no_width(left: str, right: str) -> None:
    depth = 30_000
    opened = "".join(left.format(number % 3) for number in range(depth))
    printed = formatted(f"def a = {opened}x{right * depth}")
    lines = printed.split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert len(printed) < 60 * len(opened + right * depth)
    assert print_module(parse(Source("again", printed))) == printed


def test_trees_that_no_text_stands_behind() -> None:
    one = tree.Definition(tree.Name("a", NOWHERE), None, tree.FloatLiteral(1e16, NOWHERE), "Two\n\nlines.", NOWHERE)
    assert print_module(tree.Module(Source("<made>", ""), (one, one), ())) == (
        "-- Two\n--\n-- lines.\ndef a = 1e+16\n" * 2
    )


def test_messages_show_terms_on_one_line() -> None:
    module = parse(Source("t", "def a : (pi linear x : Plane f32 [m, 2] . Nat) = (f\n -- no\n (g 1 2))"))
    (definition,) = module.declarations
    assert isinstance(definition, tree.Definition)
    assert definition.type is not None
    assert print_term(definition.value) == "(f (g 1 2))"
    assert print_type(definition.type) == "(pi linear x : Plane f32 [m, 2] . Nat)"
    assert print_term(definition.value, 6) == "(f (g…"


def test_the_seed_is_laid_out_and_stays_what_it_is() -> None:
    text = seed_layer_text()
    module = parse(Source("seed", text))
    (definition,) = module.declarations
    assert isinstance(definition, tree.Definition)
    assert definition.name.text == "cgLayerBackward"
    printed = print_module(module)
    assert plain(parse(Source("again", printed)).declarations) == plain(module.declarations)
    assert max(map(len, printed.split("\n"))) <= WIDTH
