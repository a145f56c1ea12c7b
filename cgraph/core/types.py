"""Types as the checker compares them: sizes are naturals in normal form, bound names are symbols.

A function type binds a symbol that may stand in the sizes of its codomain; applying the function substitutes the
argument's value for it. Types say nothing about places in the text.
"""

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

from attrs import evolve, field, frozen

from cgraph.core.elements import Element
from cgraph.core.naturals import Natural, Polynomial, Symbol, product, render, substitute
from cgraph.core.quantities import Quantity


class BaseType(Enum):
    """The types without parts."""

    NAT = "Nat"
    FLOAT = "Float"
    PHASE = "Phase"
    IMAGE = "Image"
    ARGUMENT = "Argument"
    SLOTS = "Slots"
    COMMAND = "Command"


@frozen
class PlaneType:
    """`Plane`, `Plane f32` or `Plane f32 [m, n]`; None where the type does not say."""

    element: Element | None = None
    extent: tuple[Natural, ...] | None = None

    @property
    def elements(self) -> Natural | None:
        """How many elements there are at least, or None where the type does not say."""
        return None if self.extent is None else product(self.extent)


@frozen
class PiType:
    """`(pi quantity name : domain . codomain)`; `symbol` stands for the argument in the codomain's sizes.

    A bound of the symbol is a fact about every argument the function will be given, e.g. a loop's index. `sized` tells
    whether sizes stand anywhere in the type: only then can an argument's value matter to it.
    """

    quantity: Quantity
    symbol: Symbol
    domain: "Type"
    codomain: "Type"
    sized: bool = field(init=False, eq=False, repr=False)

    @sized.default
    def _sized(self) -> bool:
        return isinstance(self.symbol.bound, Polynomial) or is_sized(self.domain) or is_sized(self.codomain)


@frozen
class PoisonType:
    """The type of a term that has an error; it fits everywhere, so that one error does not cause others."""


Type: TypeAlias = BaseType | PlaneType | PiType | PoisonType

POISON = PoisonType()


def is_sized(type_: Type) -> bool:
    """Whether sizes stand in the type, for which symbols could be replaced."""
    if isinstance(type_, PiType):
        return type_.sized
    return isinstance(type_, PlaneType) and type_.extent is not None


def substitute_type(type_: Type, values: Mapping[Symbol, Natural]) -> Type:
    """The type with naturals put in for symbols. Domains nest only as deep as a type expression may.

    Raises:
        DivisionByZero: a size divides by what became 0.
    """
    if not values or not is_sized(type_) or isinstance(type_, BaseType | PoisonType):
        return type_
    if isinstance(type_, PlaneType):
        if type_.extent is None:
            return type_
        return evolve(type_, extent=tuple(substitute(size, values) for size in type_.extent))
    binders: list[tuple[Quantity, Symbol, Type]] = []
    values = dict(values)
    while isinstance(type_, PiType):
        symbol = type_.symbol
        if symbol.bound is not None:
            symbol = evolve(symbol, bound=substitute(symbol.bound, values))
        binders.append((type_.quantity, symbol, substitute_type(type_.domain, values)))
        type_ = type_.codomain
    result = substitute_type(type_, values)
    for quantity, symbol, domain in reversed(binders):
        result = PiType(quantity, symbol, domain, result)
    return result


def render_type(type_: Type) -> str:
    """The type as a user would write it; long types are cut."""
    text = _render(type_)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"


def _render(type_: Type) -> str:
    if isinstance(type_, BaseType):
        return type_.value
    if isinstance(type_, PoisonType):
        return "(unknown)"
    if isinstance(type_, PlaneType):
        words = ["Plane"]
        if type_.element is not None:
            words.append(type_.element.value)
        if type_.extent is not None:
            words.append("[" + ", ".join(render(size) for size in type_.extent) + "]")
        return " ".join(words)
    parts: list[str] = []
    while isinstance(type_, PiType) and len(parts) < _MOST_BINDERS_SHOWN:
        parts.append(f"(pi {type_.quantity.value} {type_.symbol.name} : {_render(type_.domain)} . ")
        type_ = type_.codomain
    rest = "…" if isinstance(type_, PiType) else _render(type_)
    return "".join(parts) + rest + ")" * len(parts)


_MOST_BINDERS_SHOWN = 8
_LONGEST_TEXT = 300
