"""Comparisons of the kind that programs lead to, with answers worked out by hand."""

import pytest

from cgraph.core.comparison import Fails, Holds, Unknown, compare_at_least, compare_equal, compare_less
from cgraph.core.naturals import (
    Natural,
    Symbol,
    SymbolKind,
    add,
    ceil_divide,
    divide,
    maximum,
    minimum,
    modulo,
    multiply,
    subtract,
    symbol,
)

S, W, LAYERS = (symbol(SymbolKind.PARAMETER, name) for name in ("S", "W", "L"))
SLOT = symbol(SymbolKind.SLOT, "n")
ROW = symbol(SymbolKind.VARIABLE, "row", 1, S)
LAYER = symbol(SymbolKind.VARIABLE, "layer", 2, LAYERS)
EARLIER = symbol(SymbolKind.VARIABLE, "earlier", 3, ROW)
BLOCK = symbol(SymbolKind.VARIABLE, "block", 4, ceil_divide(S, 32))
FREE = symbol(SymbolKind.VARIABLE, "free", 5)
BLOCKS = ceil_divide(S, 32)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (multiply(S, W), add(multiply(ROW, W), W)),
        (subtract(multiply(S, W), multiply(ROW, W)), W),
        (LAYERS, add(LAYER, 1)),
        (add(LAYERS, 1), add(LAYER, 2)),
        (multiply(multiply(LAYERS, S), W), add(multiply(multiply(LAYER, S), W), add(multiply(ROW, W), W))),
        (S, add(EARLIER, 2)),
        (multiply(S, S), multiply(add(ROW, 1), add(ROW, 1))),
        (multiply(32, BLOCKS), S),
        (add(S, 31), multiply(32, BLOCKS)),
        (BLOCKS, 1),
        (add(S, 31), multiply(32, add(BLOCK, 1))),
        (S, multiply(2, divide(S, 2))),
        (multiply(W, ceil_divide(S, W)), S),
        (W, add(modulo(S, W), 1)),
        (S, modulo(S, W)),
        (S, minimum(S, W)),
        (maximum(S, W), S),
        (add(S, W), maximum(S, W)),
        (add(S, W), add(1, minimum(S, W))),
        (S, add(subtract(S, 1), 1)),
        (add(multiply(S, S), 1), multiply(2, S)),
        (multiply(SLOT, S), SLOT),
        (add(FREE, SLOT), FREE),
        (multiply(64, ceil_divide(SLOT, 64)), SLOT),
    ],
)
def test_at_least_holds(left: Natural, right: Natural) -> None:
    assert compare_at_least(left, right) == Holds()
    assert compare_less(right, add(left, 1)) == Holds()


def _fails(values: dict[Natural, int], left: int, right: int) -> Fails:
    return Fails({_only_symbol(natural): value for natural, value in values.items()}, left, right)


def _only_symbol(natural: Natural) -> Symbol:
    assert not isinstance(natural, int)
    (((atom, _),),) = natural.terms
    assert isinstance(atom, Symbol)
    return atom


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (LAYERS, add(LAYER, 2), _fails({LAYERS: 1, LAYER: 0}, 1, 2)),
        (S, W, _fails({S: 1, W: 2}, 1, 2)),
        (S, add(EARLIER, 3), _fails({S: 2, ROW: 1, EARLIER: 0}, 2, 3)),
        (divide(S, 32), 1, _fails({S: 1}, 0, 1)),
        (1024, S, _fails({S: 1025}, 1024, 1025)),
        (subtract(S, 1), 1, _fails({S: 1}, 0, 1)),
        (3, 4, Fails({}, 3, 4)),
    ],
)
def test_at_least_fails_with_small_values(left: Natural, right: Natural, expected: Fails) -> None:
    assert compare_at_least(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [(S, SLOT), (SLOT, 1), (FREE, S), (multiply(ROW, ROW), subtract(multiply(3, ROW), 2))],
)
def test_neither_proven_nor_refuted(left: Natural, right: Natural) -> None:
    assert compare_at_least(left, right) == Unknown()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (add(modulo(S, 32), multiply(32, divide(S, 32))), S),
        (add(modulo(S, W), multiply(W, divide(S, W))), S),
        (divide(multiply(S, W), S), W),
        (modulo(multiply(S, W), W), 0),
        (maximum(S, 1), S),
        (subtract(multiply(S, W), multiply(ROW, W)), multiply(W, subtract(S, ROW))),
    ],
)
def test_equal_holds(left: Natural, right: Natural) -> None:
    assert compare_equal(left, right) == Holds()


def test_equal_fails_with_small_values() -> None:
    assert compare_equal(modulo(W, 2), 0) == _fails({W: 1}, 1, 0)
    assert compare_equal(multiply(3, S), add(S, 4)) == _fails({S: 1}, 3, 5)


def test_less() -> None:
    assert compare_less(0, add(LAYERS, 1)) == Holds()
    assert compare_less(LAYER, LAYERS) == Holds()
    assert compare_less(LAYERS, LAYER) == _fails({LAYERS: 1, LAYER: 0}, 1, 0)
    assert compare_less(S, S) == _fails({S: 1}, 1, 1)


def test_a_division_by_zero_is_no_counterexample() -> None:
    natural = divide(S, subtract(W, 1))
    assert compare_at_least(natural, 1) == _fails({S: 1, W: 3}, 0, 1)


def test_large_and_deep_naturals_end_without_an_answer() -> None:
    deep: Natural = SLOT
    for step in range(5000):
        deep = modulo(multiply(deep, 3), 1000 + step)
    assert compare_at_least(1, deep) == Unknown()
    wide: Natural = 0
    for number in range(300):
        wide = add(wide, modulo(multiply(W, S), 1000 + number))
    assert isinstance(compare_at_least(multiply(S, W), wide), Fails | Unknown)


def test_an_answer_is_not_that_of_a_symbol_with_another_bound() -> None:
    below = [symbol(SymbolKind.VARIABLE, "i", 1, bound) for bound in (3, 5)]
    assert compare_at_least(4, add(below[0], 2)) == Holds()
    assert isinstance(compare_at_least(4, add(below[1], 2)), Fails)
