"""The operations on natural numbers that are no polynomials, on plain ints.

They define what the same operations mean on naturals with symbols: replacing the symbols by numbers and computing
here gives the value.
"""

from collections.abc import Callable, Mapping
from enum import Enum


class Operation(Enum):
    """An operation that stays opaque where its arguments have symbols. `SUBTRACT` stops at 0."""

    SUBTRACT = "subtract"
    DIVIDE = "divide"
    CEIL_DIVIDE = "ceil_divide"
    MODULO = "modulo"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"


class DivisionByZero(Exception):  # noqa: N818  (an event of the user's program, reported by the stage that meets it)
    """A division, rounded up or down, or a modulo has the divisor 0."""


def subtract_ints(left: int, right: int) -> int:
    """`left - right`, or 0 where that is negative."""
    return left - right if left > right else 0


def divide_ints(left: int, right: int) -> int:
    """The quotient, rounded down. Raises DivisionByZero."""
    if right == 0:
        raise DivisionByZero
    return left // right


def ceil_divide_ints(left: int, right: int) -> int:
    """The quotient, rounded up. Raises DivisionByZero."""
    if right == 0:
        raise DivisionByZero
    return -(-left // right)


def modulo_ints(left: int, right: int) -> int:
    """What the division leaves. Raises DivisionByZero."""
    if right == 0:
        raise DivisionByZero
    return left % right


INT_OPERATIONS: Mapping[Operation, Callable[[int, int], int]] = {
    Operation.SUBTRACT: subtract_ints,
    Operation.DIVIDE: divide_ints,
    Operation.CEIL_DIVIDE: ceil_divide_ints,
    Operation.MODULO: modulo_ints,
    Operation.MINIMUM: min,
    Operation.MAXIMUM: max,
}
