"""Compares naturals for all values of their symbols.

Parameters are at least 1 (degenerate sizes are checked when a graph is built); a variable with a bound runs below it;
slots and variables without a bound may be any natural. An answer is certain or `Unknown`: `Holds` comes from a proof
(`proving`), `Fails` from values that were tried. Where a symbol may be anything, `Fails` is never answered: what the
symbol really stands for may exclude the values that fail.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from attrs import frozen

from cgraph.core.counterexamples import find_counterexample
from cgraph.core.naturals import Natural, Symbol, add, difference, symbols
from cgraph.core.proving import is_never_negative


@frozen
class Holds:
    """True for all values."""


@frozen
class Fails:
    """False for at least these values; `left` and `right` are what the two sides are then."""

    counterexample: Mapping[Symbol, int]
    left: int
    right: int


@frozen
class Unknown:
    """Neither proven nor refuted."""


Verdict: TypeAlias = Holds | Fails | Unknown

# Verdicts that are kept: a definition's launches are looked at again, with the same sizes, in each one that uses it.
MOST_KEPT = 1024


def compare_at_least(left: Natural, right: Natural) -> Verdict:
    """Whether `left >= right` for all values."""
    if isinstance(left, int) and isinstance(right, int):
        return Holds() if left >= right else Fails({}, left, right)
    return _compare_at_least(left, right, _bounds(left, right))


@lru_cache(maxsize=MOST_KEPT)
def _compare_at_least(left: Natural, right: Natural, _bounds: frozenset[tuple[Symbol, Natural]]) -> Verdict:
    """Symbols are equal whatever their bounds, so the bounds, on which the answer depends, are part of the key."""
    if is_never_negative(difference(left, right)):
        return Holds()
    return _search(left, right, int.__ge__)


def _bounds(*naturals: Natural) -> frozenset[tuple[Symbol, Natural]]:
    """The bounds of all symbols in the naturals, and of the symbols in these bounds."""
    found: dict[Symbol, Natural] = {}
    waiting = list(naturals)
    while waiting:
        for symbol in symbols(waiting.pop()):
            if symbol.bound is not None and symbol not in found:
                found[symbol] = symbol.bound
                waiting.append(symbol.bound)
    return frozenset(found.items())


def compare_less(left: Natural, right: Natural) -> Verdict:
    """Whether `left < right` for all values."""
    if is_never_negative(difference(right, add(left, 1))):
        return Holds()
    return _search(left, right, int.__lt__)


def compare_equal(left: Natural, right: Natural) -> Verdict:
    """Whether `left = right` for all values."""
    if left == right:
        return Holds()
    if is_never_negative(difference(left, right)) and is_never_negative(difference(right, left)):
        return Holds()
    return _search(left, right, int.__eq__)


def _search(left: Natural, right: Natural, relation: Callable[[int, int], bool]) -> Verdict:
    found = find_counterexample(left, right, relation)
    return Fails(*found) if found is not None else Unknown()
