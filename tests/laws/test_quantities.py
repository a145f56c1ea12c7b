"""Quantities form an ordered semiring with 0 erased and 1 linear; proven by going through all cases."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgraph.core.quantities import Quantity

ERASED, LINEAR, UNRESTRICTED = Quantity.ERASED, Quantity.LINEAR, Quantity.UNRESTRICTED
TRIPLES = list(product(Quantity, repeat=3))


@pytest.mark.parametrize(("a", "b", "c"), TRIPLES)
def test_semiring_laws(a: Quantity, b: Quantity, c: Quantity) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ERASED == a
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * LINEAR == a
    assert a * ERASED == ERASED
    assert a * (b + c) == a * b + a * c


def test_two_linear_uses_are_not_linear_and_no_sum_of_uses_is_erased() -> None:
    assert LINEAR + LINEAR == UNRESTRICTED
    assert all(ERASED not in {a + b, b + a} for a in (LINEAR, UNRESTRICTED) for b in Quantity)


def test_a_binder_allows_exactly_these_usages() -> None:
    allowed = {(binder, usage) for binder, usage in product(Quantity, repeat=2) if binder.allows(usage)}
    assert allowed == {
        (ERASED, ERASED),
        (LINEAR, LINEAR),
        (UNRESTRICTED, ERASED),
        (UNRESTRICTED, LINEAR),
        (UNRESTRICTED, UNRESTRICTED),
    }


def _quantity_of(count: int) -> Quantity:
    return (ERASED, LINEAR, UNRESTRICTED)[min(count, 2)]


@given(st.integers(0, 50), st.integers(0, 50))
def test_quantities_count_uses(first: int, second: int) -> None:
    assert _quantity_of(first) + _quantity_of(second) == _quantity_of(first + second)
    assert _quantity_of(first) * _quantity_of(second) == _quantity_of(first * second)
