"""Sizes of signatures as plain data: an int, or a sum of products of atoms.

Receives naturals in normal form; guarantees, when reading, naturals that are again in normal form, whatever the data
said, because they are computed by the ring operations of `core.naturals`. Atoms stand in a table: a slot by its name,
an operation by its sides, whose atoms stand before it, so nothing nests.

    natural: 12, or [[coefficient, [[row of an atom, power], …]], …]
    atom:    ["m"], or ["divide", natural, natural]
"""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from attrs import define, field

from cgraph.capture.codec import fields
from cgraph.check.limits import MOST_DEGREE, MOST_NATURAL, MOST_TERMS, excess
from cgraph.core import naturals
from cgraph.core.arithmetic import DivisionByZero, Operation
from cgraph.core.naturals import Natural, Symbol, SymbolKind
from cgraph.core.polynomials import Atom, opaques_inside_out, terms_of

MOST_ATOMS = 10_000  # of one signature
_OPERATIONS: Mapping[Operation, Callable[[Natural, Natural], Natural]] = {
    Operation.SUBTRACT: naturals.subtract,
    Operation.DIVIDE: naturals.divide,
    Operation.CEIL_DIVIDE: naturals.ceil_divide,
    Operation.MODULO: naturals.modulo,
    Operation.MINIMUM: naturals.minimum,
    Operation.MAXIMUM: naturals.maximum,
}


@define(eq=False)
class NaturalsWriter:
    """Writes the naturals of one signature; `atoms` is their table."""

    atoms: list[list[Any]] = field(factory=list)
    _rows: dict[Atom, int] = field(factory=dict)

    def data(self, natural: Natural) -> int | list[Any]:
        """A natural as plain data; its atoms join the table."""
        if isinstance(natural, int):
            return natural
        for opaque in opaques_inside_out(natural):
            if opaque not in self._rows:
                sides = [self._sum(side) for side in (opaque.left, opaque.right)]
                self._add(opaque, [opaque.operation.value, *sides])
        return self._sum(natural)

    def _sum(self, natural: Natural) -> int | list[Any]:
        if isinstance(natural, int):
            return natural
        return [
            [coefficient, [[self._row(atom), power] for atom, power in monomial]]
            for monomial, coefficient in natural.terms.items()
        ]

    def _row(self, atom: Atom) -> int:
        if atom not in self._rows:
            if not isinstance(atom, Symbol):
                raise TypeError("an operation gets its row before what holds it")
            if atom.kind is not SymbolKind.SLOT:
                raise ValueError(f"a graph's signature still depends on {atom.kind.value} {atom.name}")
            self._add(atom, [atom.name])
        return self._rows[atom]

    def _add(self, atom: Atom, data: list[Any]) -> None:
        self._rows[atom] = len(self.atoms)
        self.atoms.append(data)


def read_atoms(value: object, place: str, slots: Container[str]) -> list[Natural]:
    """The atoms of a table as naturals.

    Args:
        value: plain data.
        place: where it stands.
        slots: names of the signature's natural slots.

    Raises:
        FieldError: an atom is none, or names what does not stand before it.
    """
    atoms: list[Natural] = []
    for row, item in enumerate(fields.listing(value, place, most=MOST_ATOMS)):
        here = f"{place}.{row}"
        if not isinstance(item, list) or len(item) not in (1, 3):
            raise fields.wrong(here, "[slot] or [operation, natural, natural]", item)
        if len(item) == 1:
            name = fields.name(item[0], here)
            if name not in slots:
                raise fields.wrong(here, "the name of a natural slot", name)
            atoms.append(naturals.symbol(SymbolKind.SLOT, name))
            continue
        operation = fields.choice(Operation, item[0], here)
        left, right = (read_natural(side, here, atoms) for side in item[1:])
        try:
            result = _OPERATIONS[operation](left, right)
        except DivisionByZero as error:
            raise fields.wrong(here, "a divisor other than 0", right) from error
        if not _is_atom(result):
            raise fields.FieldError(here, "an operation in normal form", "one that can be simplified")
        atoms.append(result)
    return atoms


def read_natural(value: object, place: str, atoms: Sequence[Natural]) -> Natural:
    """A natural over atoms that were read. Raises FieldError."""
    if type(value) is int:
        return fields.integer(value, place, 0, MOST_NATURAL - 1)
    terms = []
    for term in fields.listing(value, place, most=MOST_TERMS):
        coefficient, factors = fields.listing(term, place, 2)
        fields.integer(coefficient, place, 1, MOST_NATURAL - 1)
        powers = []
        for factor in fields.listing(factors, place, most=MOST_DEGREE):
            row, power = fields.listing(factor, place, 2)
            atom = atoms[fields.integer(row, place, 0, len(atoms) - 1)]
            powers += [atom] * fields.integer(power, place, 1, MOST_DEGREE)
        if len(powers) > MOST_DEGREE:
            raise fields.wrong(place, f"a degree of at most {MOST_DEGREE}", len(powers))
        terms.append(naturals.product((coefficient, *powers)))
    return _bounded(naturals.total(terms), place)


def _is_atom(natural: Natural) -> bool:
    """Whether it is one atom alone, so that products of atoms stay one term each."""
    terms = [(monomial, coefficient) for monomial, coefficient in terms_of(natural).items()]
    return len(terms) == 1 and terms[0][1] == 1 and [power for _, power in terms[0][0]] == [1]


def _bounded(natural: Natural, place: str) -> Natural:
    found = excess(natural)
    if found:
        raise fields.FieldError(place, "a size that is not too large", found)
    return natural
