"""Naturals obey the laws of numbers: whatever way they are computed, they mean what arithmetic says."""

from hypothesis import assume, given
from hypothesis import strategies as st

from cgraph.core import naturals
from cgraph.core.naturals import Natural, Polynomial, Symbol, SymbolKind
from tests.support.naturals import (
    OPERATIONS,
    PARAMETERS,
    Meant,
    combine,
    meant_naturals,
    of_int,
    of_symbol,
    values_of,
)

ATOMS = st.sampled_from([of_symbol(symbol) for symbol in PARAMETERS]) | st.integers(0, 5).map(of_int)


@given(meant_naturals(), values_of())
def test_replacing_every_symbol_by_a_number_gives_the_value(meant: Meant, values: dict[Symbol, int]) -> None:
    expected = meant.value(values)
    assume(expected is not None)
    assert naturals.substitute(meant.natural, values) == expected


@given(meant_naturals(), values_of())
def test_the_compiled_function_gives_the_value(meant: Meant, values: dict[Symbol, int]) -> None:
    expected = meant.value(values)
    assume(expected is not None)
    compiled = naturals.compile_natural(meant.natural, PARAMETERS)
    assert compiled(*(values[symbol] for symbol in PARAMETERS)) == expected


@given(meant_naturals(), st.tuples(meant_naturals(), meant_naturals(), meant_naturals()), values_of())
def test_replacing_symbols_by_naturals_is_composition(
    meant: Meant, replacements: tuple[Meant, Meant, Meant], values: dict[Symbol, int]
) -> None:
    inner = [replacement.value(values) for replacement in replacements]
    inner_values = {symbol: value for symbol, value in zip(PARAMETERS, inner, strict=True) if value is not None}
    assume(len(inner_values) == len(PARAMETERS))
    expected = meant.value(inner_values)
    assume(expected is not None)
    mapping = {symbol: other.natural for symbol, other in zip(PARAMETERS, replacements, strict=True)}
    try:
        replaced = naturals.substitute(meant.natural, mapping)
    except naturals.DivisionByZero:
        # A divisor may be 0 in a part that the value does not need, e.g. a factor of 0.
        return
    assert naturals.substitute(replaced, values) == expected


@given(meant_naturals())
def test_a_natural_without_symbols_is_an_int_and_others_are_in_normal_form(meant: Meant) -> None:
    natural = meant.natural
    assert isinstance(natural, int) == (not naturals.symbols(natural))
    if isinstance(natural, Polynomial):
        assert all(coefficient > 0 for coefficient in natural.terms.values())
        assert any(monomial for monomial in natural.terms)


@given(ATOMS, ATOMS, ATOMS)
def test_sums_and_products_form_a_commutative_semiring_of_equal_values(a: Meant, b: Meant, c: Meant) -> None:
    x, y, z = a.natural, b.natural, c.natural
    add, multiply = naturals.add, naturals.multiply
    pairs: list[tuple[Natural, Natural]] = [
        (add(x, y), add(y, x)),
        (add(x, add(y, z)), add(add(x, y), z)),
        (add(x, 0), x),
        (multiply(x, y), multiply(y, x)),
        (multiply(x, multiply(y, z)), multiply(multiply(x, y), z)),
        (multiply(x, 1), x),
        (multiply(x, 0), 0),
        (multiply(x, add(y, z)), add(multiply(x, y), multiply(x, z))),
        (naturals.minimum(x, y), naturals.minimum(y, x)),
        (naturals.maximum(x, y), naturals.maximum(y, x)),
        (naturals.total([x, y, z]), add(x, add(y, z))),
        (naturals.product([x, y, z]), multiply(x, multiply(y, z))),
    ]
    for left, right in pairs:
        assert left == right
        assert hash(left) == hash(right)
        assert naturals.render(left) == naturals.render(right)


@given(meant_naturals(), meant_naturals(), values_of())
def test_a_difference_keeps_its_sign(a: Meant, b: Meant, values: dict[Symbol, int]) -> None:
    left, right = a.value(values), b.value(values)
    assume(left is not None and right is not None)
    signed = naturals.difference(a.natural, b.natural)
    assert naturals.substitute(signed, values) == (left or 0) - (right or 0)


@given(st.sampled_from(list(OPERATIONS)), meant_naturals(), meant_naturals())
def test_the_same_operation_on_equal_naturals_is_equal(operation: object, a: Meant, b: Meant) -> None:
    first, second = (combine(operation, a, b) for _ in range(2))  # type: ignore[arg-type]  # keys of OPERATIONS
    assert first.natural == second.natural
    assert hash(first.natural) == hash(second.natural)


@given(meant_naturals(), st.permutations([Symbol(SymbolKind.SLOT, name) for name in "xyz"]))
def test_renaming_and_renaming_back_changes_nothing(meant: Meant, others: list[Symbol]) -> None:
    there = {symbol: naturals.symbol(other.kind, other.name) for symbol, other in zip(PARAMETERS, others, strict=True)}
    back = {other: naturals.symbol(symbol.kind, symbol.name) for symbol, other in zip(PARAMETERS, others, strict=True)}
    assert naturals.substitute(naturals.substitute(meant.natural, there), back) == meant.natural
