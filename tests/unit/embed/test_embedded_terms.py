"""Terms built from Python, compared with the text that one would write by hand."""

# ruff: noqa: PLW0108, PLC2401  (the names of the lambdas' parameters are what is tested)

import pytest

from cgraph.core.quantities import Quantity
from cgraph.embed import (
    COMMAND,
    NAT,
    Expression,
    Program,
    cg_argument,
    cg_at,
    cg_copy,
    cg_each,
    cg_each_down,
    cg_fill,
    cg_float,
    cg_launch,
    cg_natural,
    cg_no_slots,
    cg_nothing,
    cg_phase,
    cg_pointer,
    cg_then,
    function,
    let,
    natural_add,
    natural_ceil_divide,
    natural_divide,
    natural_fold,
    natural_maximum,
    natural_minimum,
    natural_modulo,
    natural_multiply,
    natural_subtract,
    pi,
    plane_type,
    reference,
)

A, B, PLANE, SLOTS = (reference(name) for name in ("a", "b", "p", "s"))


def _text(value: Expression | float) -> str:
    """The text of a definition's value, on one line."""
    program = Program()
    program.define("main", value)
    head, _, text = program.source().text.partition("=")
    assert head == "def main "
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.5, "0.5"),
        (1e-05, "1e-05"),
        (1e300, "1e+300"),
        (-2.0, "-2.0"),
        (A + B, "(naturalAdd a b)"),
        (A + 1, "(naturalAdd a 1)"),
        (1 + A, "(naturalAdd 1 a)"),
        (2 * A * B, "(naturalMultiply (naturalMultiply 2 a) b)"),
        (A - 1, "(naturalSubtract a 1)"),
        (9 - A, "(naturalSubtract 9 a)"),
        (A // 2, "(naturalDivide a 2)"),
        (9 // A, "(naturalDivide 9 a)"),
        (A % 2, "(naturalModulo a 2)"),
        (9 % A, "(naturalModulo 9 a)"),
        (natural_add(1, 2), "(naturalAdd 1 2)"),
        (natural_multiply(A, 2), "(naturalMultiply a 2)"),
        (natural_subtract(A, 2), "(naturalSubtract a 2)"),
        (natural_divide(A, 2), "(naturalDivide a 2)"),
        (natural_ceil_divide(A, 32), "(naturalCeilDivide a 32)"),
        (natural_modulo(A, 2), "(naturalModulo a 2)"),
        (natural_minimum(A, B), "(naturalMinimum a b)"),
        (natural_maximum(A, 1), "(naturalMaximum a 1)"),
        (A(B, 1), "(a b 1)"),
        (A(), "a"),
        (cg_nothing, "cgNothing"),
        (cg_then(A), "a"),
        (cg_then(A, B), "(cgThen a b)"),
        (cg_then(A, B, A), "(cgThen a (cgThen b a))"),
        (cg_phase(A, B), "(cgPhase a b)"),
        (cg_launch(A, 1, B, 2, SLOTS), "(cgLaunch a 1 b 2 s)"),
        (cg_pointer(cg_argument(0), PLANE, cg_no_slots), "(cgPointer (cgArgument 0) p cgNoSlots)"),
        (cg_pointer(1, PLANE, SLOTS), "(cgPointer (cgArgument 1) p s)"),
        (cg_natural(2, A, SLOTS), "(cgNatural (cgArgument 2) a s)"),
        (cg_float(3, 1, SLOTS), "(cgFloat (cgArgument 3) 1.0 s)"),
        (cg_fill(PLANE, 0), "(cgFill p 0.0)"),
        (cg_copy(PLANE, cg_at(A, 4)), "(cgCopy p (cgAt a 4))"),
        (cg_each(A, B), "(cgEach a b)"),
        (cg_each(3, lambda row: B(row)), "(cgEach 3 (lambda unrestricted row : Nat . (b row)))"),
        (cg_each_down(A, lambda i: B(i)), "(cgEachDown a (lambda unrestricted i : Nat . (b i)))"),
        (
            natural_fold(3, 0, lambda i, sum_: sum_ + i),
            "(naturalFold 3 0 (lambda unrestricted i : Nat . (lambda unrestricted sum_ : Nat . (naturalAdd sum_ i))))",
        ),
        (let(7, lambda x: x * x), "(let unrestricted x = 7 in (naturalMultiply x x))"),
        (
            let(A, lambda x: x, quantity=Quantity.LINEAR, type_=NAT),
            "(let linear x : Nat = a in x)",
        ),
        (
            function([NAT, lambda n: plane_type("f32", [n, 2])], lambda n, p2: A(n, p2), Quantity.LINEAR),
            "(lambda linear n : Nat . (lambda linear p2 : Plane f32 [n, 2] . (a n p2)))",
        ),
    ],
)
def test_terms(value: Expression | float, text: str) -> None:
    assert _text(value) == text


def test_types() -> None:
    program = Program()
    type_ = pi(NAT, lambda n: pi(plane_type("half", [n * 2]), lambda _: pi(plane_type(), lambda _: COMMAND)))
    program.define("f", A, type_)
    assert " ".join(program.source().text.split()) == (
        "def f : (pi unrestricted n : Nat . (pi unrestricted _ : Plane half [(naturalMultiply n 2)] ."
        " (pi unrestricted _2 : Plane . Command))) = a"
    )


def test_variables_never_mean_another_binder() -> None:
    inner = cg_each(2, lambda i: cg_then(A(i), cg_each(3, lambda i: B(i))))
    assert "(cgThen (a i) (cgEach 3 (lambda unrestricted i2 : Nat . (b i2))))" in _text(inner)
    outer = cg_each(2, lambda i: cg_each(3, lambda j: cg_each(4, lambda i2: A(i, j, i2))))
    assert "(a i j i2)" in _text(outer)
    mixed = cg_each(2, lambda x: _each_of_another(x))
    assert "(cgEach 3 (lambda unrestricted x2 : Nat . (a x x2)))" in _text(mixed)


def _each_of_another(outer: Expression) -> Expression:
    return cg_each(3, lambda x: A(outer, x))


def test_variables_never_hide_names_of_the_program_or_words_of_the_language() -> None:
    assert "(lambda unrestricted a2 : Nat . (a a2))" in _text(cg_each(2, lambda a: A(a)))
    assert "(lambda unrestricted plane2 : Nat . (a plane2))" in _text(cg_each(2, lambda plane: A(plane)))
    assert "(lambda unrestricted main2 : Nat . (a main2))" in _text(cg_each(2, lambda main: A(main)))
    assert "(lambda unrestricted gre : Nat . (a gre))" in _text(cg_each(2, lambda größe: A(größe)))
    assert "(lambda unrestricted x : Nat . (a x))" in _text(cg_each(2, lambda ß: A(ß)))


def test_variables_may_be_called_as_names_that_their_declaration_does_not_use() -> None:
    program = Program()
    program.define("first", A(reference("free")))
    program.define("second", cg_each(2, lambda free: A(free)))
    assert "lambda unrestricted free : Nat . (a free)" in program.source().text


def test_a_variable_may_not_leave_its_function() -> None:
    leaked: list[Expression] = []

    def body(row: Expression) -> Expression:
        leaked.append(row)
        return A(row)

    _text(cg_each(2, body))
    with pytest.raises(ValueError, match="row is used outside"):
        _text(A(leaked[0]))


@pytest.mark.parametrize("value", [-1, -5])
def test_naturals_start_at_0(value: int) -> None:
    with pytest.raises(ValueError, match="start at 0"):
        A + value


@pytest.mark.parametrize("value", [True, 0.5, "3", None])
def test_what_is_no_natural(value: object) -> None:
    with pytest.raises(TypeError, match="natural"):
        natural_add(A, value)  # type: ignore[arg-type]  # that is the test


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_float_of_the_language(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        cg_fill(PLANE, value)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "größe"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="a name is"):
        reference(name)


def test_chains_may_be_longer_than_the_stack_of_python_is_deep() -> None:
    program = Program()
    program.define("main", cg_then(*[A] * 20_000))
    assert program.source().text.count("cgThen") == 19_999
