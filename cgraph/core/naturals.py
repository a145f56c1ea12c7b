"""Natural numbers that may contain symbols, in normal form.

A `Natural` is a plain int, or a `Polynomial` with integer coefficients over atoms. Atoms are parameters, variables
(perhaps with a known upper bound), slots of a signature, and opaque operations (difference that stops at 0, division,
modulo, minimum, maximum) over naturals; equal operations of equal arguments are the same atom. A polynomial without
atoms is always an int, so concrete builds compute with ints alone.

Every simplification here holds for all values of the symbols, 0 included; whatever needs more knowledge (a size is at
least 1, a loop's variable is below its bound) is left to `comparison`.
"""

from collections.abc import Callable, Iterable, Mapping
from math import gcd

from cgraph.core.arithmetic import INT_OPERATIONS, DivisionByZero, Operation
from cgraph.core.compiling import compile_natural
from cgraph.core.polynomials import (
    CONSTANT,
    Atom,
    Natural,
    Opaque,
    Polynomial,
    Symbol,
    SymbolKind,
    add,
    difference,
    multiply,
    of_atom,
    of_terms,
    opaques_inside_out,
    replace_atoms,
    symbols,
    terms_of,
    total,
)
from cgraph.core.rendering import render

__all__ = [
    "DivisionByZero",
    "Natural",
    "Opaque",
    "Operation",
    "Polynomial",
    "Symbol",
    "SymbolKind",
    "add",
    "ceil_divide",
    "compile_natural",
    "difference",
    "divide",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "product",
    "render",
    "substitute",
    "subtract",
    "symbol",
    "symbols",
    "total",
]


def symbol(kind: SymbolKind, name: str, identity: int = 0, bound: Natural | None = None) -> Polynomial:
    """A symbol as a natural."""
    return of_atom(Symbol(kind, name, identity, bound))


def product(naturals: Iterable[Natural]) -> Natural:
    """The product of all; 1 for none."""
    result: Natural = 1
    for natural in naturals:
        result = multiply(result, natural)
    return result


def subtract(left: Natural, right: Natural) -> Natural:
    """`left - right`, or 0 where that is negative."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right if left > right else 0
    factor, more, less = _apart(left, right)
    if less == 0:
        return multiply(factor, more)
    if more == 0:
        return 0
    return multiply(factor, of_atom(Opaque(Operation.SUBTRACT, more, less)))


def minimum(left: Natural, right: Natural) -> Natural:
    """The smaller of two."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return _choose(Operation.MINIMUM, left, right)


def maximum(left: Natural, right: Natural) -> Natural:
    """The larger of two."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return _choose(Operation.MAXIMUM, left, right)


def divide(left: Natural, right: Natural) -> Natural:
    """The quotient, rounded down. Raises DivisionByZero for the divisor 0."""
    if isinstance(right, int):
        if isinstance(left, int) or right == 0:
            return INT_OPERATIONS[Operation.DIVIDE](0 if isinstance(left, Polynomial) else left, right)
        quotient, rest = _split(left, right)
        return add(quotient, _divide_rest(Operation.DIVIDE, rest, right))
    return of_atom(Opaque(Operation.DIVIDE, left, right))


def ceil_divide(left: Natural, right: Natural) -> Natural:
    """The quotient, rounded up. Raises DivisionByZero for the divisor 0."""
    if isinstance(right, int):
        if isinstance(left, int) or right == 0:
            return INT_OPERATIONS[Operation.CEIL_DIVIDE](0 if isinstance(left, Polynomial) else left, right)
        quotient, rest = _split(left, right)
        return add(quotient, _divide_rest(Operation.CEIL_DIVIDE, rest, right))
    return of_atom(Opaque(Operation.CEIL_DIVIDE, left, right))


def modulo(left: Natural, right: Natural) -> Natural:
    """What the division leaves. Raises DivisionByZero for the divisor 0."""
    if isinstance(right, int):
        if isinstance(left, int) or right == 0:
            return INT_OPERATIONS[Operation.MODULO](0 if isinstance(left, Polynomial) else left, right)
        _, rest = _split(left, right)
        return _divide_rest(Operation.MODULO, rest, right)
    return of_atom(Opaque(Operation.MODULO, left, right))


def substitute(natural: Natural, mapping: Mapping[Symbol, Natural]) -> Natural:
    """The natural with symbols replaced, opaque operations computed again. Raises DivisionByZero as they do."""
    if isinstance(natural, int):
        return natural
    opaques = opaques_inside_out(natural)
    if not opaques:
        return replace_atoms(natural, mapping)  # type: ignore[arg-type]  # symbols are atoms
    values: dict[Atom, Natural] = {found: mapping[found] for found in symbols(natural) if found in mapping}
    for opaque in opaques:
        left = replace_atoms(opaque.left, values)
        right = replace_atoms(opaque.right, values)
        if left is not opaque.left or right is not opaque.right:
            values[opaque] = _OPERATIONS[opaque.operation](left, right)
    return replace_atoms(natural, values)


def _apart(left: Natural, right: Natural) -> tuple[int, Natural, Natural]:
    """`factor, more, less` with `left - right = factor * (more - less)`, nothing common left in more and less."""
    terms = terms_of(difference(left, right))
    factor = gcd(*terms.values()) or 1
    more = {monomial: coefficient // factor for monomial, coefficient in terms.items() if coefficient > 0}
    less = {monomial: -coefficient // factor for monomial, coefficient in terms.items() if coefficient < 0}
    return factor, of_terms(more), of_terms(less)


def _choose(operation: Operation, left: Natural, right: Natural) -> Natural:
    factor, more, less = _apart(left, right)
    common = difference(left, multiply(factor, more))
    smaller = operation is Operation.MINIMUM
    if more == 0 or less == 0:
        chosen = less if (more == 0) is not smaller else more
    else:
        # Minimum and maximum do not depend on the order of their arguments, so one order is made the normal one.
        first, second = (Opaque(operation, more, less), Opaque(operation, less, more))
        chosen = of_atom(min(first, second, key=lambda opaque: opaque.digest))
    return add(common, multiply(factor, chosen))


def _split(natural: Polynomial, divisor: int) -> tuple[Natural, Natural]:
    """`quotient, rest` with `natural = divisor * quotient + rest`, coefficients of rest below the divisor."""
    if max(natural.terms.values()) < divisor:
        return 0, natural
    quotient = {monomial: coefficient // divisor for monomial, coefficient in natural.terms.items()}
    rest = {monomial: coefficient % divisor for monomial, coefficient in natural.terms.items()}
    return of_terms(quotient), of_terms(rest)


def _divide_rest(operation: Operation, rest: Natural, divisor: int) -> Natural:
    """The operation on a rest of `_split`: what all terms with symbols and the divisor have in common is taken out."""
    if isinstance(rest, int):
        return INT_OPERATIONS[operation](rest, divisor)
    terms = dict(rest.terms)
    number = terms.pop(CONSTANT, 0)
    common = gcd(divisor, *terms.values())
    if common == 1:
        return of_atom(Opaque(operation, rest, divisor))
    reduced = {monomial: coefficient // common for monomial, coefficient in terms.items()}
    # The number is common * whole + part with part < common: part never reaches the next multiple of common.
    whole, part = divmod(number, common)
    reduced[CONSTANT] = whole + 1 if part and operation is Operation.CEIL_DIVIDE else whole
    result = _OPERATIONS[operation](of_terms(reduced), divisor // common)
    return add(multiply(common, result), part) if operation is Operation.MODULO else result


_OPERATIONS: Mapping[Operation, Callable[[Natural, Natural], Natural]] = {
    Operation.SUBTRACT: subtract,
    Operation.DIVIDE: divide,
    Operation.CEIL_DIVIDE: ceil_divide,
    Operation.MODULO: modulo,
    Operation.MINIMUM: minimum,
    Operation.MAXIMUM: maximum,
}
