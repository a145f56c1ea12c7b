"""Proves that a difference of naturals is never negative.

One symbol or opaque operation after the other is eliminated, those first that no other one mentions. Where the
difference is linear in an atom that lies between two ends, it is never negative if it is never negative at both ends,
or at one of them where it rises or falls towards the other. At last parameters `p`, which are at least 1, become
`1 + p`, and the proof is done if no coefficient is negative. All of this is sound and, being cheap, incomplete; the
work is bounded by a budget that does not depend on the machine.
"""

from attrs import Factory, define

from cgraph.core.intervals import End, Interval, interval_of
from cgraph.core.polynomials import (
    Atom,
    Monomial,
    Natural,
    Opaque,
    Polynomial,
    Symbol,
    SymbolKind,
    add,
    atoms,
    difference,
    multiply,
    of_atom,
    of_terms,
    replace_atoms,
    total,
)

MOST_STEPS = 400
MOST_DEPTH = 60
MOST_TERMS = 2000
MOST_MENTIONED = 64


def is_never_negative(natural: Natural) -> bool:
    """Whether a difference is proven to be at least 0 for all values of its symbols; False means not proven."""
    if _has_no_negative_coefficient(natural):
        return True
    try:
        return _Proof().holds(natural, frozenset(), 0)
    except _GivenUpError:
        return False


class _GivenUpError(Exception):
    """The budget is used up."""


def _has_no_negative_coefficient(natural: Natural) -> bool:
    if isinstance(natural, int):
        return natural >= 0
    return min(natural.terms.values()) >= 0


@define
class _Proof:
    """One attempt and its budget. `free` holds atoms of which nothing is used but that they are naturals."""

    steps: int = 0
    known: dict[tuple[Natural, frozenset[Atom]], bool] = Factory(dict)
    mentioned: dict[Atom, frozenset[Atom]] = Factory(dict)

    def holds(self, natural: Natural, free: frozenset[Atom], depth: int) -> bool:
        """Whether the natural is never negative."""
        if _has_no_negative_coefficient(natural):
            return True
        if isinstance(natural, int):
            return False
        key = (natural, free)
        if key not in self.known:
            self.steps += 1
            if self.steps > MOST_STEPS or depth > MOST_DEPTH or len(natural.terms) > MOST_TERMS:
                raise _GivenUpError
            self.known[key] = self._holds(natural, free, depth + 1)
        return self.known[key]

    def _holds(self, natural: Polynomial, free: frozenset[Atom], depth: int) -> bool:
        atom = self._next_atom(natural, free)
        if atom is None:
            return _has_no_negative_coefficient(_with_sizes_from_zero(natural))
        interval = interval_of(atom, lambda other: self.holds(other, frozenset(), depth))
        if interval is None:
            return self.holds(natural, free | {atom}, depth)
        if interval.values and all(
            self.holds(replace_atoms(natural, {atom: value}), free, depth) for value in interval.values
        ):
            return True
        split = _linear_in(natural, atom)
        if split is not None:
            return self._holds_between(split, interval, free, depth)
        rest = self._with_slack(natural, atom, free) if isinstance(atom, Symbol) else natural
        return self.holds(rest, free | {atom}, depth)

    def _next_atom(self, natural: Polynomial, free: frozenset[Atom]) -> Atom | None:
        """An atom with more to know about it that no other one mentions."""
        left = {atom for atom in atoms(natural) if atom not in free and not _is_unbounded(atom)}
        within = frozenset[Atom]().union(*(self._mentioned(atom) for atom in left))
        return min(left - within, key=lambda atom: atom.digest, default=None)

    def _mentioned(self, atom: Atom) -> frozenset[Atom]:
        """All atoms inside the atom's arguments and bounds, at any depth."""
        if atom not in self.mentioned:
            found: set[Atom] = set()
            waiting = [atom]
            while waiting:
                inner = waiting.pop()
                sides = (inner.left, inner.right) if isinstance(inner, Opaque) else (inner.bound or 0,)
                new = {other for side in sides for other in atoms(side)} - found
                found |= new
                waiting += new
                if len(found) > MOST_MENTIONED:
                    raise _GivenUpError
            self.mentioned[atom] = frozenset(found)
        return self.mentioned[atom]

    def _holds_between(
        self, split: tuple[Natural, Natural], interval: Interval, free: frozenset[Atom], depth: int
    ) -> bool:
        factor, rest = split

        def holds_at(end: End) -> bool:
            numerator, denominator = end
            return self.holds(add(multiply(factor, numerator), multiply(denominator, rest)), free, depth)

        if self.holds(factor, free, depth):
            return any(holds_at(low) for low in interval.lows)
        if not any(holds_at(high) for high in interval.highs):
            return False
        return self.holds(difference(0, factor), free, depth) or any(holds_at(low) for low in interval.lows)

    def _with_slack(self, natural: Polynomial, variable: Symbol, free: frozenset[Atom]) -> Natural:
        """For `variable < p + rest` with a parameter p that is nowhere else: p = variable + 1 + slack - rest."""
        bound = variable.bound or 0
        others = {atom for atom in atoms(natural) if atom not in free and atom != variable}
        within = frozenset[Atom]().union(*(self._mentioned(atom) for atom in others))
        for atom in sorted(set(atoms(bound)), key=lambda atom: atom.digest):
            rest = difference(bound, of_atom(atom))
            if _is_parameter(atom) and atom not in within and atom not in atoms(rest):
                slack = of_atom(Symbol(SymbolKind.VARIABLE, f"slack below {variable.name}", variable.identity))
                return replace_atoms(natural, {atom: difference(total((of_atom(variable), slack, 1)), rest)})
        return natural


def _is_parameter(atom: Atom) -> bool:
    return isinstance(atom, Symbol) and atom.kind is SymbolKind.PARAMETER


def _is_unbounded(atom: Atom) -> bool:
    return isinstance(atom, Symbol) and atom.bound is None


def _linear_in(natural: Polynomial, atom: Atom) -> tuple[Natural, Natural] | None:
    """`factor, rest` with `natural = factor * atom + rest`; None where a higher power occurs."""
    factor: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in natural.terms.items():
        power = dict(monomial).get(atom, 0)
        if power > 1:
            return None
        if power:
            factor[tuple(pair for pair in monomial if pair[0] != atom)] = coefficient
        else:
            rest[monomial] = coefficient
    return of_terms(factor), of_terms(rest)


def _with_sizes_from_zero(natural: Polynomial) -> Natural:
    """Every parameter p replaced by 1 + p."""
    expanded = 0
    for monomial in natural.terms:
        count = 1
        for atom, power in monomial:
            count *= power + 1 if _is_parameter(atom) else 1
        expanded += count
    if expanded > MOST_TERMS:
        raise _GivenUpError
    return replace_atoms(natural, {atom: add(of_atom(atom), 1) for atom in atoms(natural) if _is_parameter(atom)})
