"""Polynomials with integer coefficients over symbols and opaque operations, in normal form.

Guarantees: equal polynomials are equal values, whatever way they were computed; zero and constants are plain ints and
never a `Polynomial`; nothing here recurses over the nesting of opaque operations. It gives the ring operations only;
`naturals` adds the operations that stop at 0, round or choose.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from hashlib import blake2b
from typing import TypeAlias, Union

from attrs import field, frozen

from cgraph.core.arithmetic import Operation


class SymbolKind(Enum):
    """Who gives the symbol a value: the build, a binder of the program, or the launch that fills a slot."""

    PARAMETER = "parameter"
    VARIABLE = "variable"
    SLOT = "slot"


@frozen(cache_hash=True)
class Symbol:
    """A natural number without a value yet.

    Args:
        identity: tells two variables of one name apart.
        bound: exclusive upper bound, e.g. of a loop's variable; it is knowledge about the symbol, not part of it, so
            symbols that differ only in their bounds are equal.
    """

    kind: SymbolKind
    name: str
    identity: int = 0
    bound: "Natural | None" = field(default=None, eq=False)
    digest: bytes = field(init=False, eq=False, repr=False)

    @digest.default
    def _digest(self) -> bytes:
        return f"{self.kind.value} {self.name} {self.identity}".encode()

    def __lt__(self, other: "Symbol") -> bool:
        """By kind, name and identity; the same in every run."""
        return (self.kind.value, self.name, self.identity) < (other.kind.value, other.name, other.identity)


@frozen(eq=False)
class Opaque:
    """An operation that is no polynomial, treated as one atom; equal operations of equal arguments are equal."""

    operation: Operation
    left: "Natural"
    right: "Natural"
    # Compared instead of the arguments: operations may nest deeper than Python's stack, and may share arguments so
    # that a comparison of the written-out form would take exponential time. 128 bits do not collide by accident.
    digest: bytes = field(init=False, repr=False)

    @digest.default
    def _digest(self) -> bytes:
        parts = (self.operation.value.encode(), _digest_of(self.left), _digest_of(self.right))
        return b"(" + blake2b(b" ".join(parts), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Opaque) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)


Atom: TypeAlias = Symbol | Opaque
# Factors with their powers (at least 1), in the order of the atoms' digests; () is the constant term.
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]


@frozen(eq=False)
class Polynomial:
    """A sum of monomials with nonzero coefficients, at least one of them not constant. Made by this package only."""

    terms: Mapping[Monomial, int]

    def __eq__(self, other: object) -> bool:
        return self.terms == other.terms if isinstance(other, Polynomial) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))


Natural: TypeAlias = Union[int, Polynomial]  # noqa: UP007  (the quoted uses above need a plain alias)

CONSTANT: Monomial = ()


def _digest_of(natural: Natural) -> bytes:
    if isinstance(natural, int):
        return b"%d" % natural
    parts = sorted(
        b"%d" % coefficient
        + b"".join(b"*%d:%b^%d" % (len(atom.digest), atom.digest, power) for atom, power in monomial)
        for monomial, coefficient in natural.terms.items()
    )
    return blake2b(b"".join(b"%d:%b" % (len(part), part) for part in parts), digest_size=16).digest()


def of_atom(atom: Atom) -> Polynomial:
    """The atom itself."""
    return Polynomial({((atom, 1),): 1})


def terms_of(natural: Natural) -> Mapping[Monomial, int]:
    """Monomials and coefficients of any natural; none for 0."""
    if isinstance(natural, Polynomial):
        return natural.terms
    return {CONSTANT: natural} if natural else {}


def of_terms(terms: dict[Monomial, int]) -> Natural:
    """The normal form of a sum; takes the dictionary over. Coefficients may be 0."""
    if 0 in terms.values():
        terms = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
    if not terms:
        return 0
    if len(terms) == 1 and CONSTANT in terms:
        return terms[CONSTANT]
    return Polynomial(terms)


def accumulate(terms: dict[Monomial, int], natural: Natural, factor: int = 1) -> None:
    """Adds `factor * natural` to a sum in place."""
    if isinstance(natural, int):
        terms[CONSTANT] = terms.get(CONSTANT, 0) + factor * natural
        return
    for monomial, coefficient in natural.terms.items():
        terms[monomial] = terms.get(monomial, 0) + factor * coefficient


def add(left: Natural, right: Natural) -> Natural:
    """The sum of two; `total` adds many in linear time."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left == 0 or right == 0:
        return left or right
    terms = dict(terms_of(left))
    accumulate(terms, right)
    return of_terms(terms)


def total(naturals: Iterable[Natural]) -> Natural:
    """The sum of all, in time linear in their terms."""
    terms: dict[Monomial, int] = {}
    for natural in naturals:
        accumulate(terms, natural)
    return of_terms(terms)


def difference(left: Natural, right: Natural) -> Natural:
    """`left - right` with its sign: the only function whose result may have negative coefficients."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    terms = dict(terms_of(left))
    accumulate(terms, right, -1)
    return of_terms(terms)


def _multiply_monomials(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=_atom_digest))


def _atom_digest(factor: tuple[Atom, int]) -> bytes:
    return factor[0].digest


def multiply(left: Natural, right: Natural) -> Natural:
    """The product."""
    if isinstance(left, int):
        return left * right if isinstance(right, int) else _scale(right, left)
    if isinstance(right, int):
        return _scale(left, right)
    terms: dict[Monomial, int] = {}
    for left_monomial, left_coefficient in left.terms.items():
        for right_monomial, right_coefficient in right.terms.items():
            monomial = _multiply_monomials(left_monomial, right_monomial)
            terms[monomial] = terms.get(monomial, 0) + left_coefficient * right_coefficient
    return of_terms(terms)


def _scale(natural: Polynomial, factor: int) -> Natural:
    if factor == 0:
        return 0
    if factor == 1:
        return natural
    return Polynomial({monomial: factor * coefficient for monomial, coefficient in natural.terms.items()})


def atoms(natural: Natural) -> Iterator[Atom]:
    """The atoms of its monomials, perhaps several times; not those inside opaque operations."""
    if isinstance(natural, Polynomial):
        for monomial in natural.terms:
            for atom, _ in monomial:
                yield atom


def replace_atoms(natural: Natural, values: Mapping[Atom, Natural]) -> Natural:
    """The natural with atoms of its monomials replaced; opaque operations are left as they are inside."""
    if isinstance(natural, int):
        return natural
    if len(natural.terms) == 1:
        # Most sizes are a symbol alone.
        ((monomial, coefficient),) = natural.terms.items()
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return values.get(monomial[0][0], natural)
    if not any(atom in values for atom in atoms(natural)):
        return natural
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in natural.terms.items():
        accumulate(terms, _replace_in_monomial(monomial, values), coefficient)
    return of_terms(terms)


def _replace_in_monomial(monomial: Monomial, values: Mapping[Atom, Natural]) -> Natural:
    kept = tuple(factor for factor in monomial if factor[0] not in values)
    result = of_terms({kept: 1})
    for atom, power in monomial:
        if atom in values:
            value = values[atom]
            for _ in range(power):
                result = multiply(result, value)
    return result


def opaques_inside_out(natural: Natural) -> tuple[Opaque, ...]:
    """Every opaque operation in it, once each; those inside another come before it."""
    found: dict[Opaque, None] = {}
    stack = [(atom, False) for atom in atoms(natural) if isinstance(atom, Opaque)]
    while stack:
        opaque, inside_done = stack.pop()
        if opaque in found:
            continue
        if inside_done:
            found[opaque] = None
            continue
        stack.append((opaque, True))
        stack.extend(
            (atom, False)
            for side in (opaque.left, opaque.right)
            for atom in atoms(side)
            if isinstance(atom, Opaque) and atom not in found
        )
    return tuple(found)


def symbols(natural: Natural) -> frozenset[Symbol]:
    """Every symbol in it, also inside opaque operations; not those in the bounds of symbols."""
    sides = [natural]
    for opaque in opaques_inside_out(natural):
        sides += (opaque.left, opaque.right)
    return frozenset(atom for side in sides for atom in atoms(side) if isinstance(atom, Symbol))
