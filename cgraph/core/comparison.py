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
from cgraph.core.naturals import Natural, Symbol, add, difference
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


@lru_cache(maxsize=MOST_KEPT)
def compare_at_least(left: Natural, right: Natural) -> Verdict:
    """Whether `left >= right` for all values."""
    if is_never_negative(difference(left, right)):
        return Holds()
    return _search(left, right, int.__ge__)


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
