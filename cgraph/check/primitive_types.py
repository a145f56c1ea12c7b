"""The types of the primitives.

Every argument is used once, so that linear values can be handed on, except the bodies of loops and folds. The types of
`cgAt` and `naturalFold` depend on their arguments; the rules for them stand in `applications`.
"""

from cgraph.check.terms import Primitive
from cgraph.core.naturals import Natural, Symbol, SymbolKind, symbol
from cgraph.core.quantities import Quantity
from cgraph.core.types import BaseType, PiType, PlaneType, Type

_NAT = BaseType.NAT
_COMMAND = BaseType.COMMAND
_SLOTS = BaseType.SLOTS
_PLANE = PlaneType()


def _function(*domains_and_result: tuple[str, Type] | Type) -> Type:
    *domains, result = domains_and_result
    type_: Type = result  # type: ignore[assignment]  # the last one is a type
    for position, (name, domain) in reversed(list(enumerate(domains))):  # type: ignore[misc]  # the others are pairs
        type_ = PiType(Quantity.LINEAR, Symbol(SymbolKind.VARIABLE, name, -1 - position), domain, type_)
    return type_


def _each() -> Type:
    count = Symbol(SymbolKind.VARIABLE, "count", -1)
    bound: Natural = symbol(count.kind, count.name, count.identity)
    index = Symbol(SymbolKind.VARIABLE, "index", -2, bound)
    body = PiType(Quantity.UNRESTRICTED, index, _NAT, _COMMAND)
    body_symbol = Symbol(SymbolKind.VARIABLE, "body", -3)
    return PiType(Quantity.LINEAR, count, _NAT, PiType(Quantity.UNRESTRICTED, body_symbol, body, _COMMAND))


_BINARY = _function(("left", _NAT), ("right", _NAT), _NAT)

_TYPES: dict[Primitive, Type] = {
    Primitive.THEN: _function(("first", _COMMAND), ("second", _COMMAND), _COMMAND),
    Primitive.PHASE: _function(("phase", BaseType.PHASE), ("command", _COMMAND), _COMMAND),
    Primitive.LAUNCH: _function(
        ("image", BaseType.IMAGE), ("x", _NAT), ("y", _NAT), ("z", _NAT), ("slots", _SLOTS), _COMMAND
    ),
    Primitive.ARGUMENT: _function(("number", _NAT), BaseType.ARGUMENT),
    Primitive.POINTER: _function(("argument", BaseType.ARGUMENT), ("plane", _PLANE), ("slots", _SLOTS), _SLOTS),
    Primitive.NATURAL: _function(("argument", BaseType.ARGUMENT), ("value", _NAT), ("slots", _SLOTS), _SLOTS),
    Primitive.FLOAT: _function(("argument", BaseType.ARGUMENT), ("value", BaseType.FLOAT), ("slots", _SLOTS), _SLOTS),
    Primitive.NO_SLOTS: _SLOTS,
    Primitive.FILL: _function(("plane", _PLANE), ("value", BaseType.FLOAT), _COMMAND),
    Primitive.COPY: _function(("destination", _PLANE), ("source", _PLANE), _COMMAND),
    Primitive.NOTHING: _COMMAND,
    Primitive.AT: _function(("plane", _PLANE), ("offset", _NAT), _PLANE),
    Primitive.EACH: _each(),
    Primitive.EACH_DOWN: _each(),
    Primitive.ADD: _BINARY,
    Primitive.MULTIPLY: _BINARY,
    Primitive.SUBTRACT: _BINARY,
    Primitive.DIVIDE: _BINARY,
    Primitive.CEIL_DIVIDE: _BINARY,
    Primitive.MODULO: _BINARY,
    Primitive.MINIMUM: _BINARY,
    Primitive.MAXIMUM: _BINARY,
}

# By name, for an enumeration's members hash slowly.
PRIMITIVE_TYPES = {primitive.text: type_ for primitive, type_ in _TYPES.items()}
