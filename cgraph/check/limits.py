"""How large naturals may grow while a program is evaluated.

Receives naturals as they are computed; tells what is too large about one. Numbers and formulas beyond these limits are
of no use as sizes, and repeated multiplication would need more memory than there is.
"""

from cgraph.core.naturals import Natural, Polynomial

MOST_BITS = 256
MOST_NATURAL = 1 << MOST_BITS
MOST_TERMS = 1000
MOST_DEGREE = 64


def excess(natural: Natural) -> str:
    """What is too large about a natural, or ""."""
    if not isinstance(natural, Polynomial):
        return f"a number of more than {MOST_BITS} bits" if natural >= MOST_NATURAL else ""
    if len(natural.terms) > MOST_TERMS:
        return _TOO_MANY_TERMS
    if any(sum(power for _, power in monomial) > MOST_DEGREE for monomial in natural.terms):
        return f"a formula of a degree above {MOST_DEGREE}"
    if max(natural.terms.values()) >= MOST_NATURAL:
        return f"a formula with a number of more than {MOST_BITS} bits"
    return ""


def excess_of_product(left: Natural, right: Natural) -> str:
    """What would be too large about a product, told before it is computed; a product that passes may still be."""
    if isinstance(left, Polynomial) and isinstance(right, Polynomial):
        return _TOO_MANY_TERMS if len(left.terms) * len(right.terms) > MOST_TERMS else ""
    return ""


_TOO_MANY_TERMS = f"a formula of more than {MOST_TERMS} terms"
