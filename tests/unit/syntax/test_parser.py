"""Texts and the trees that a reader of the grammar would draw for them."""

import gc

import pytest
from lark import Lark
from lark.exceptions import LarkError

from cgraph.core.elements import Element
from cgraph.core.quantities import Quantity
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Relation, SlotKind
from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.syntax import tree
from cgraph.syntax.parser import parse
from cgraph.syntax.tables import read_grammar
from tests.support.trees import RESERVED, SIMPLE_TYPES, SOFT, plain


def declarations(text: str) -> tuple[tree.Declaration, ...]:
    return parse(Source("t.cg", text)).declarations


def term(text: str) -> object:
    (definition,) = declarations(f"def it = {text}")
    assert isinstance(definition, tree.Definition)
    return plain(definition.value)


def type_of(text: str) -> object:
    (definition,) = declarations(f"def it : {text} = 0")
    assert isinstance(definition, tree.Definition)
    return plain(definition.type)


def name(text: str) -> tuple[str, str]:
    return ("Name", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x'", name("x'")),
        ("_a1", name("_a1")),
        ("0064", ("NaturalLiteral", 64)),
        ("1.0e-5", ("FloatLiteral", 0.00001)),
        ("-2.5", ("FloatLiteral", -2.5)),
        ("3E+2", ("FloatLiteral", 300.0)),
        ("((x))", name("x")),
        ("(f 1 -2.0)", ("Apply", name("f"), (("NaturalLiteral", 1), ("FloatLiteral", -2.0)))),
        ("((f x) y)", ("Apply", ("Apply", name("f"), (name("x"),)), (name("y"),))),
        (
            "(lambda linear x : Nat . x)",
            ("Lambda", Quantity.LINEAR, name("x"), ("SimpleTypeExpression", "Nat"), name("x")),
        ),
        ("(let erased x = 1 in y)", ("Let", Quantity.ERASED, name("x"), None, ("NaturalLiteral", 1), name("y"))),
        (
            "(let unrestricted x : Float = 1.0 in x)",
            (
                "Let",
                Quantity.UNRESTRICTED,
                name("x"),
                ("SimpleTypeExpression", "Float"),
                ("FloatLiteral", 1.0),
                name("x"),
            ),
        ),
        ("{- a {- nested -} comment -} x -- and the rest", name("x")),
    ],
)
def test_terms(text: str, expected: object) -> None:
    assert term(text) == expected


@pytest.mark.parametrize("word", SIMPLE_TYPES)
def test_simple_types(word: str) -> None:
    assert type_of(f"({word})") == ("SimpleTypeExpression", word)


def test_plane_and_function_types() -> None:
    assert type_of("Plane") == ("PlaneTypeExpression", None, None)
    assert type_of("Plane bf16") == ("PlaneTypeExpression", Element.BF16, None)
    extent = (name("m"), ("NaturalLiteral", 3))
    assert type_of("Plane half [m, 3]") == ("PlaneTypeExpression", Element.HALF, extent)
    nat = ("SimpleTypeExpression", "Nat")
    assert type_of("(pi unrestricted n : Nat . Nat)") == (
        "PiTypeExpression",
        Quantity.UNRESTRICTED,
        name("n"),
        nat,
        nat,
    )


def test_declarations() -> None:
    text = r"""
    import "a/b.cg"
    parameter n : Nat
    parameter eps : Float = 1.0e-5
    phase p
    phase q "Part \"two\" \\"
    plane x : f32 [n, 2] input
    plane g (l : Nat < n) (h : Nat < 2) : half [n] gradient of x
    def f : Nat = n
    """
    nat, n, two = ("SimpleTypeExpression", "Nat"), name("n"), ("NaturalLiteral", 2)
    families = (("IndexBinder", name("l"), n), ("IndexBinder", name("h"), two))
    assert plain(declarations(text)) == (
        ("Import", "a/b.cg"),
        ("ParameterDeclaration", n, nat, None, ""),
        ("ParameterDeclaration", name("eps"), ("SimpleTypeExpression", "Float"), ("FloatLiteral", 0.00001), ""),
        ("PhaseDeclaration", name("p"), "p", ""),
        ("PhaseDeclaration", name("q"), 'Part "two" \\', ""),
        ("PlaneDeclaration", name("x"), (), Element.F32, (n, two), Role.INPUT, None, ""),
        ("PlaneDeclaration", name("g"), families, Element.HALF, (n,), Role.GRADIENT, name("x"), ""),
        ("Definition", name("f"), nat, n, ""),
    )


def test_image_items() -> None:
    text = """image i = kernel "a.cu" "entry" {
      slot 0 out : accumulate f64 [m, n] optional aliases in kernel
      slot 1 in : natural   slot 2 grid : float
      constant C = 4  grid n  block [32, 8, 1]  shared (f n)
      require n = 2  require n <= m
    }
    image bare = kernel "b.cu" "b" {}"""
    m, n = name("m"), name("n")
    four, two = ("NaturalLiteral", 4), ("NaturalLiteral", 2)
    block = (("NaturalLiteral", 32), ("NaturalLiteral", 8), ("NaturalLiteral", 1))
    aliases = (name("in"), name("kernel"))
    assert plain(declarations(text)) == (
        (
            "ImageDeclaration",
            name("i"),
            "a.cu",
            "entry",
            (
                (
                    "SlotItem",
                    0,
                    name("out"),
                    SlotKind.POINTER,
                    AccessMode.ACCUMULATE,
                    Element.F64,
                    (m, n),
                    True,
                    aliases,
                ),
                ("SlotItem", 1, name("in"), SlotKind.NATURAL, None, None, (), False, ()),
                ("SlotItem", 2, name("grid"), SlotKind.FLOAT, None, None, (), False, ()),
                ("ConstantItem", name("C"), four),
                ("GridItem", (n,)),
                ("BlockItem", block),
                ("SharedItem", ("Apply", name("f"), (n,))),
                ("RequireItem", n, Relation.EQUAL, two),
                ("RequireItem", n, Relation.AT_MOST, m),
            ),
            "",
        ),
        ("ImageDeclaration", name("bare"), "b.cu", "b", (), ""),
    )


@pytest.mark.parametrize("word", SOFT)
def test_words_that_are_names_too(word: str) -> None:
    assert plain(declarations(f"def {word} = ({word} {word})")) == (
        ("Definition", name(word), None, ("Apply", name(word), (name(word),)), ""),
    )


@pytest.mark.parametrize("word", RESERVED)
def test_reserved_words_are_no_names(word: str) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        declarations(f"def {word} = 1")
    assert [problem.code for problem in stopped.value.problems] == ["CG009"]


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ("-- One line.\n", "One line."),
        ("--  Indented.  \r\n--\n-- Two.\n", " Indented.\n\nTwo."),
        ("{- A block. -}\n", "A block."),
        ("{- First\n   second\n     third -}\n", "First\nsecond\n  third"),
        ("-- Far away.\n\n", ""),
        ("-- Far away.\n\n-- Near.\n", "Near."),
        ("def z = 1 -- Of another one.\n", ""),
        ("def z = 1 -- Of another one.\n-- Ours.\n", "Ours."),
    ],
)
def test_documentation(above: str, expected: str) -> None:
    last = declarations(f"{above}def it = 1")[-1]
    assert isinstance(last, tree.Definition)
    assert last.documentation == expected


def test_spans_cover_the_text_of_their_node() -> None:
    text = "-- doc\ndef f = (lambda linear x : Nat . (g x 1.5)) -- end\n"
    (definition,) = declarations(text)
    assert isinstance(definition, tree.Definition)
    function = definition.value
    assert isinstance(function, tree.Lambda)
    assert definition.span.text == "def f = (lambda linear x : Nat . (g x 1.5))"
    assert function.body.span.text == "(g x 1.5)"
    assert [function.name.span.text, function.type.span.text] == ["x", "Nat"]
    assert [comment.span.text for comment in parse(Source("t", text)).comments] == ["-- doc", "-- end"]


def test_depth_needs_no_stack_and_the_collector_comes_back() -> None:
    depth = 100_000
    before = gc.isenabled()
    (definition,) = declarations("def a = " + "(cgThen x " * depth + "y" + ")" * depth)
    assert gc.isenabled() == before
    assert isinstance(definition, tree.Definition)
    node, found = definition.value, 0
    while isinstance(node, tree.Apply):
        node, found = node.arguments[1], found + 1
    assert found == depth
    assert plain(node) == name("y")


ACCEPTED = [
    "",
    'import "a" def x = (f 1) plane p : f32 [1, (f x)] gradient of gradient',
    'image i = kernel "a" "b" { slot 0 slot : read f32 [slot] aliases in slot 1 x : float grid grid block block }',
    "parameter p : (pi erased x : Plane . Plane f32 [x]) = (let linear y : Nat = 1 in (lambda linear z : Nat . y))",
]
REJECTED = ["def", "def x = ()", "plane x : f32 [] input", "def x = f y", "phase p : Nat", "def x = (f [1])"]


@pytest.mark.parametrize("text", ACCEPTED + REJECTED)
def test_the_loop_accepts_what_larks_own_parser_accepts(text: str) -> None:
    lark = Lark(read_grammar(), parser="lalr", lexer="basic", maybe_placeholders=False)
    if text in ACCEPTED:
        lark.parse(text)
        declarations(text)
    else:
        with pytest.raises(LarkError):
            lark.parse(text)
        with pytest.raises(ProblemsFound):
            declarations(text)
