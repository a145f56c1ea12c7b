"""What is known about an atom from what it is: ends between which it lies, or the values of which it takes one.

Every fact holds for all values of the symbols for which the natural has a value at all.
"""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from cgraph.core.arithmetic import Operation
from cgraph.core.naturals import divide
from cgraph.core.polynomials import Atom, Monomial, Natural, Opaque, add, difference, multiply, of_terms, terms_of

# Numerator and denominator; the denominator is at least 1 for all values of its symbols.
End: TypeAlias = tuple[Natural, Natural]
Prover: TypeAlias = Callable[[Natural], bool]


@frozen
class Interval:
    """Where an atom lies.

    Args:
        lows, highs: each low is at most the atom, each high at least; all may be rational, and negative.
        values: the atom equals one of them; () where nothing is known.
    """

    lows: tuple[End, ...] = ((0, 1),)
    highs: tuple[End, ...] = ()
    values: tuple[Natural, ...] = ()


def interval_of(atom: Atom, is_never_negative: Prover) -> Interval | None:
    """What is known about an atom beyond its being a natural; None if nothing.

    `is_never_negative` proves what is needed of the arguments of an operation.
    """
    if isinstance(atom, Opaque):
        return _of_operation(atom.operation, atom.left, atom.right, is_never_negative)
    if atom.bound is not None:
        return Interval(highs=((difference(atom.bound, 1), 1),))
    return None


def _of_operation(operation: Operation, left: Natural, right: Natural, is_never_negative: Prover) -> Interval:
    if operation in {Operation.DIVIDE, Operation.CEIL_DIVIDE, Operation.MODULO}:
        if not is_never_negative(difference(right, 1)):
            return Interval(highs=((left, 1),))
        return _of_division(operation, left, right, is_never_negative)
    left_is_larger = is_never_negative(difference(left, right))
    right_is_larger = not left_is_larger and is_never_negative(difference(right, left))
    if operation is Operation.SUBTRACT:
        rest = difference(left, right)
        values = (rest,) if left_is_larger else (0,) if right_is_larger else (0, rest)
        return Interval(lows=((0, 1), (rest, 1)), highs=((left, 1),), values=values)
    larger = (left,) if left_is_larger else (right,) if right_is_larger else (left, right)
    if operation is Operation.MAXIMUM:
        return Interval(lows=((left, 1), (right, 1)), highs=((add(left, right), 1),), values=larger)
    smaller = (right,) if left_is_larger else (left,) if right_is_larger else (left, right)
    return Interval(highs=((left, 1), (right, 1)), values=smaller)


def _of_division(operation: Operation, left: Natural, right: Natural, is_never_negative: Prover) -> Interval:
    """The divisor is known to be at least 1."""
    quotient = _exact_quotient(left, right)
    if operation is Operation.MODULO:
        if quotient is not None:
            return Interval(values=(0,))
        return Interval(values=(difference(left, multiply(right, divide(left, right))),))
    if quotient is not None:
        return Interval(values=(quotient,))
    # floor(a / b) > a/b - 1 and ceil(a / b) < a/b + 1; both sides are multiples of 1/b.
    if operation is Operation.DIVIDE:
        return Interval(
            lows=((0, 1), (difference(add(left, 1), right), right)),
            highs=((left, right),),
        )
    lows: tuple[End, ...] = ((left, right),)
    if is_never_negative(difference(left, 1)):
        lows = ((1, 1), *lows)
    return Interval(lows=lows, highs=((difference(add(left, right), 1), right),))


def _exact_quotient(dividend: Natural, divisor: Natural) -> Natural | None:
    """The quotient where the divisor is one monomial that every monomial of the dividend contains."""
    terms = terms_of(divisor)
    if len(terms) != 1:
        return None
    ((factors, number),) = terms.items()
    quotient: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(dividend).items():
        powers = dict(monomial)
        for atom, power in factors:
            powers[atom] = powers.get(atom, 0) - power
        if coefficient % number or min(powers.values(), default=0) < 0:
            return None
        quotient[tuple((atom, power) for atom, power in powers.items() if power)] = coefficient // number
    return of_terms(quotient)
