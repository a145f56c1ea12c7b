"""Random naturals beside an evaluator that shares no code with cgraph: every natural is kept with what it means."""

from collections.abc import Callable, Mapping

from attrs import frozen
from hypothesis import strategies as st

from cgraph.core import naturals
from cgraph.core.naturals import Natural, Symbol, SymbolKind

Values = Mapping[Symbol, int]


@frozen
class Meant:
    """A natural, and how to compute it from values of its symbols; `value` is None where it divides by 0."""

    natural: Natural
    value: Callable[[Values], int | None]


PARAMETERS = tuple(Symbol(SymbolKind.PARAMETER, name) for name in ("a", "b", "c"))
LOOPS = (
    Symbol(SymbolKind.VARIABLE, "i", 1, naturals.symbol(SymbolKind.PARAMETER, "a")),
    Symbol(
        SymbolKind.VARIABLE,
        "j",
        2,
        naturals.multiply(
            naturals.symbol(SymbolKind.PARAMETER, "a"),
            naturals.symbol(SymbolKind.PARAMETER, "b"),
        ),
    ),
)


def _floor(left: int, right: int) -> int | None:
    return left // right if right else None


def _ceil(left: int, right: int) -> int | None:
    return left // right + (1 if left % right else 0) if right else None


def _rest(left: int, right: int) -> int | None:
    return left - left // right * right if right else None


OPERATIONS: Mapping[Callable[[Natural, Natural], Natural], Callable[[int, int], int | None]] = {
    naturals.add: lambda left, right: left + right,
    naturals.multiply: lambda left, right: left * right,
    naturals.subtract: lambda left, right: left - right if left >= right else 0,
    naturals.divide: _floor,
    naturals.ceil_divide: _ceil,
    naturals.modulo: _rest,
    naturals.minimum: min,
    naturals.maximum: max,
}


def combine(operation: Callable[[Natural, Natural], Natural], left: Meant, right: Meant) -> Meant:
    """The operation on both sides of the meaning. The natural divides by 0 wherever the meaning has no value."""

    def value(values: Values) -> int | None:
        left_value, right_value = left.value(values), right.value(values)
        if left_value is None or right_value is None:
            return None
        return OPERATIONS[operation](left_value, right_value)

    try:
        return Meant(operation(left.natural, right.natural), value)
    except naturals.DivisionByZero:
        return left


def of_symbol(symbol: Symbol) -> Meant:
    """A symbol alone."""
    return Meant(
        naturals.symbol(symbol.kind, symbol.name, symbol.identity, symbol.bound), lambda values: values[symbol]
    )


def of_int(number: int) -> Meant:
    """A number alone."""
    return Meant(number, lambda _: number)


def meant_naturals(atoms: tuple[Symbol, ...] = PARAMETERS) -> st.SearchStrategy[Meant]:
    """Naturals over the symbols, up to about a dozen operations."""
    leaves = st.sampled_from([of_symbol(atom) for atom in atoms]) | st.integers(0, 9).map(of_int)
    return st.recursive(
        leaves,
        lambda inner: st.builds(combine, st.sampled_from(list(OPERATIONS)), inner, inner),
        max_leaves=12,
    )


def values_of(atoms: tuple[Symbol, ...] = PARAMETERS, least: int = 0) -> st.SearchStrategy[dict[Symbol, int]]:
    """Small values and some large ones."""
    return st.fixed_dictionaries({atom: st.integers(least, 12) | st.integers(least, 5000) for atom in atoms})
