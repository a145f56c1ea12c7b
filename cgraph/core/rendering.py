"""Naturals as text for messages: `cgSeq*cgWidth + 2*cgFfn`, `(cgSeq ∸ 1)`, `ceil(cgSeq / 32)`; `∸` stops at 0.

The text is the same in every run. It grows with the polynomial, not with the nesting of opaque operations: an
operation whose text would be very long is shown as `…`.
"""

from collections.abc import Mapping

from cgraph.core.arithmetic import Operation
from cgraph.core.polynomials import Atom, Monomial, Natural, Opaque, Symbol, opaques_inside_out, terms_of

LONGEST_OPERATION = 400

_FORMS: Mapping[Operation, str] = {
    Operation.SUBTRACT: "({} ∸ {})",
    Operation.DIVIDE: "floor({} / {})",
    Operation.CEIL_DIVIDE: "ceil({} / {})",
    Operation.MODULO: "({} mod {})",
    Operation.MINIMUM: "min({}, {})",
    Operation.MAXIMUM: "max({}, {})",
}
_COMMUTATIVE = frozenset({Operation.MINIMUM, Operation.MAXIMUM})


def render(natural: Natural) -> str:
    """The text of a natural or of a signed difference of naturals."""
    texts: dict[Opaque, str] = {}
    for opaque in opaques_inside_out(natural):
        text = _operation(opaque, texts)
        texts[opaque] = text if len(text) <= LONGEST_OPERATION else "…"
    return _sum(natural, texts)


def _operation(opaque: Opaque, texts: Mapping[Opaque, str]) -> str:
    sides = [_sum(side, texts) for side in (opaque.left, opaque.right)]
    if opaque.operation in _COMMUTATIVE:
        sides.sort()
    else:
        left, right = (_outermost(side) for side in sides)
        sides = [
            f"({sides[0]})" if " " in left else sides[0],
            f"({sides[1]})"
            if " " in right or ("*" in right and opaque.operation is not Operation.SUBTRACT)
            else sides[1],
        ]
    return _FORMS[opaque.operation].format(*sides)


def _outermost(text: str) -> str:
    """The text without its parenthesised parts: what is left shows whether the whole needs parentheses."""
    depth = 0
    kept = []
    for character in text:
        depth -= character == ")"
        if depth == 0:
            kept.append(character)
        depth += character == "("
    return "".join(kept)


def _sum(natural: Natural, texts: Mapping[Opaque, str]) -> str:
    parts = []
    for monomial, coefficient in terms_of(natural).items():
        factors = _product(monomial, texts)
        size = str(abs(coefficient))
        text = size if not factors else factors if size == "1" else f"{size}*{factors}"
        degree = sum(power for _, power in monomial)
        parts.append((-degree, factors, text, coefficient < 0))
    parts.sort()
    if not parts:
        return "0"
    first, *rest = parts
    text = "-" + first[2] if first[3] else first[2]
    return text + "".join((" - " if negative else " + ") + part for _, _, part, negative in rest)


def _product(monomial: Monomial, texts: Mapping[Opaque, str]) -> str:
    factors = sorted((_atom(atom, texts), power) for atom, power in monomial)
    return "*".join(text if power == 1 else f"{text}^{power}" for text, power in factors)


def _atom(atom: Atom, texts: Mapping[Opaque, str]) -> str:
    return atom.name if isinstance(atom, Symbol) else texts[atom]
