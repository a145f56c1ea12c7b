"""Normal forms and texts of naturals, worked out by hand."""

import pytest

from cgraph.core.naturals import (
    DivisionByZero,
    Natural,
    Opaque,
    Operation,
    Polynomial,
    Symbol,
    SymbolKind,
    add,
    ceil_divide,
    compile_natural,
    difference,
    divide,
    maximum,
    minimum,
    modulo,
    multiply,
    product,
    render,
    substitute,
    subtract,
    symbol,
    symbols,
    total,
)

SEQ, HEADS, HEAD_WIDTH, WIDTH, FFN = (
    symbol(SymbolKind.PARAMETER, name) for name in ("cgSeq", "cgHeads", "cgHeadWidth", "cgWidth", "cgFfn")
)
DEEP = 10_000


def test_heads_times_head_width_is_one_value_in_any_order() -> None:
    width = multiply(HEADS, HEAD_WIDTH)
    assert multiply(multiply(SEQ, HEAD_WIDTH), HEADS) == multiply(SEQ, width)
    assert multiply(3, width) == add(width, add(width, width))


@pytest.mark.parametrize(
    ("natural", "text"),
    [
        (add(multiply(SEQ, WIDTH), multiply(2, FFN)), "cgSeq*cgWidth + 2*cgFfn"),
        (add(multiply(2, FFN), multiply(WIDTH, SEQ)), "cgSeq*cgWidth + 2*cgFfn"),
        (add(1, SEQ), "cgSeq + 1"),
        (multiply(SEQ, SEQ), "cgSeq^2"),
        (subtract(SEQ, 1), "(cgSeq ∸ 1)"),
        (multiply(WIDTH, subtract(SEQ, 1)), "(cgSeq ∸ 1)*cgWidth"),
        (ceil_divide(SEQ, 32), "ceil(cgSeq / 32)"),
        (divide(add(SEQ, WIDTH), 32), "floor((cgSeq + cgWidth) / 32)"),
        (divide(SEQ, multiply(WIDTH, FFN)), "floor(cgSeq / (cgFfn*cgWidth))"),
        (ceil_divide(subtract(SEQ, 1), 32), "ceil((cgSeq ∸ 1) / 32)"),
        (modulo(HEAD_WIDTH, 2), "(cgHeadWidth mod 2)"),
        (minimum(WIDTH, SEQ), "min(cgSeq, cgWidth)"),
        (maximum(WIDTH, add(SEQ, FFN)), "max(cgFfn + cgSeq, cgWidth)"),
        (difference(1, multiply(2, SEQ)), "-2*cgSeq + 1"),
        (difference(SEQ, WIDTH), "cgSeq - cgWidth"),
        (0, "0"),
        (12, "12"),
    ],
)
def test_text(natural: Natural, text: str) -> None:
    assert render(natural) == text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (subtract(add(SEQ, 3), 3), SEQ),
        (subtract(SEQ, add(SEQ, WIDTH)), 0),
        (subtract(add(SEQ, 5), add(WIDTH, 5)), subtract(SEQ, WIDTH)),
        (subtract(multiply(2, SEQ), 2), multiply(2, subtract(SEQ, 1))),
        (subtract(SEQ, 0), SEQ),
        (minimum(SEQ, SEQ), SEQ),
        (minimum(SEQ, add(SEQ, 1)), SEQ),
        (maximum(SEQ, add(SEQ, 1)), add(SEQ, 1)),
        (minimum(0, SEQ), 0),
        (maximum(SEQ, 0), SEQ),
        (minimum(add(SEQ, 1), add(WIDTH, 1)), add(1, minimum(WIDTH, SEQ))),
        (divide(SEQ, 1), SEQ),
        (ceil_divide(SEQ, 1), SEQ),
        (modulo(SEQ, 1), 0),
        (divide(add(multiply(64, SEQ), 63), 64), SEQ),
        (ceil_divide(add(multiply(64, SEQ), 1), 64), add(SEQ, 1)),
        (modulo(add(multiply(64, SEQ), 70), 64), 6),
        (divide(add(multiply(2, SEQ), 1), 4), divide(SEQ, 2)),
        (ceil_divide(add(multiply(2, SEQ), 1), 4), ceil_divide(add(SEQ, 1), 2)),
        (ceil_divide(add(multiply(2, SEQ), 3), 4), add(1, ceil_divide(SEQ, 2))),
        (modulo(multiply(2, SEQ), 4), multiply(2, modulo(SEQ, 2))),
        (modulo(add(multiply(2, SEQ), 1), 4), add(1, multiply(2, modulo(SEQ, 2)))),
        (divide(0, 7), 0),
    ],
)
def test_simplification(left: Natural, right: Natural) -> None:
    assert left == right


@pytest.mark.parametrize("natural", [divide(SEQ, SEQ), divide(0, SEQ), modulo(SEQ, SEQ), subtract(SEQ, 1)])
def test_what_is_not_true_for_0_is_not_simplified(natural: Natural) -> None:
    assert isinstance(natural, Polynomial)


@pytest.mark.parametrize("operation", [divide, ceil_divide, modulo])
@pytest.mark.parametrize("left", [0, 7, SEQ])
def test_the_divisor_0_is_an_error(operation: object, left: Natural) -> None:
    with pytest.raises(DivisionByZero):
        operation(left, 0)  # type: ignore[operator]  # one of the functions above


def test_replacing_a_divisor_by_0_is_an_error_in_both_ways_to_compute() -> None:
    sizes = [Symbol(SymbolKind.PARAMETER, "cgSeq"), Symbol(SymbolKind.PARAMETER, "cgWidth")]
    natural = divide(SEQ, WIDTH)
    with pytest.raises(DivisionByZero):
        substitute(natural, {sizes[1]: 0})
    with pytest.raises(DivisionByZero):
        compile_natural(natural, sizes)(8, 0)


def test_a_symbol_is_its_kind_name_and_identity_not_its_bound() -> None:
    loop = Symbol(SymbolKind.VARIABLE, "l", 1, 4)
    assert loop == Symbol(SymbolKind.VARIABLE, "l", 1, SEQ)
    assert loop != Symbol(SymbolKind.VARIABLE, "l", 2, 4)
    assert loop != Symbol(SymbolKind.SLOT, "l", 1, 4)
    assert min([Symbol(SymbolKind.SLOT, "a"), loop, Symbol(SymbolKind.PARAMETER, "z")]).name == "z"


def test_symbols_are_found_inside_operations_and_not_inside_bounds() -> None:
    loop = symbol(SymbolKind.VARIABLE, "l", 1, FFN)
    natural = add(loop, ceil_divide(add(SEQ, minimum(WIDTH, loop)), 32))
    assert sorted(found.name for found in symbols(natural)) == ["cgSeq", "cgWidth", "l"]


def test_equal_operations_are_equal_atoms() -> None:
    left, right = (Opaque(Operation.DIVIDE, add(SEQ, WIDTH), 3) for _ in range(2))
    assert left == right
    assert hash(left) == hash(right)
    assert left != Opaque(Operation.CEIL_DIVIDE, add(SEQ, WIDTH), 3)
    assert left != Opaque(Operation.DIVIDE, 3, add(SEQ, WIDTH))


def test_compiling_asks_for_every_symbol() -> None:
    with pytest.raises(ValueError, match="cgWidth"):
        compile_natural(multiply(SEQ, WIDTH), [Symbol(SymbolKind.PARAMETER, "cgSeq")])


def test_operations_nest_deeper_than_the_stack_of_python() -> None:
    natural: Natural = SEQ
    again: Natural = SEQ
    value = 5
    for step in range(DEEP):
        if step % 2:
            natural, again, value = modulo(natural, 1000), modulo(again, 1000), value % 1000
        else:
            natural, again = subtract(multiply(7, natural), 1), subtract(multiply(7, again), 1)
            value = max(7 * value - 1, 0)
    size = Symbol(SymbolKind.PARAMETER, "cgSeq")
    assert natural == again
    assert symbols(natural) == {size}
    assert substitute(natural, {size: 5}) == value
    assert compile_natural(natural, [size])(5) == value
    assert len(render(natural)) < 1000


def test_shared_arguments_cost_no_exponential_time() -> None:
    natural: Natural = SEQ
    again: Natural = SEQ
    for _ in range(200):
        natural = maximum(modulo(natural, 7), divide(natural, 3))
        again = maximum(modulo(again, 7), divide(again, 3))
    assert natural == again
    assert symbols(natural) == {Symbol(SymbolKind.PARAMETER, "cgSeq")}
    assert len(render(natural)) < 1000


def test_sums_and_products_of_many_terms() -> None:
    many = [Symbol(SymbolKind.PARAMETER, f"p{number}") for number in range(20_000)]
    natural = total(symbol(each.kind, each.name) for each in many)
    assert compile_natural(natural, many)(*range(20_000)) == 20_000 * 19_999 // 2
    assert substitute(natural, dict.fromkeys(many, 3)) == 60_000
    power = product(symbol(each.kind, each.name) for each in many[:100])
    assert compile_natural(power, many[:100])(*[2] * 100) == 2**100
