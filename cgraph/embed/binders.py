"""Functions, lets and types made from Python functions: `lambda l: …` becomes `(lambda unrestricted l : Nat . …)`.

The Python parameter's name is kept where the program can have it; see `naming`.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from cgraph.core.elements import Element
from cgraph.core.quantities import Quantity
from cgraph.embed.expressions import BOUND, UNPLACED, Expression, Natural, Value, natural, term_of
from cgraph.syntax import tree

NAT = tree.SimpleTypeExpression("Nat", UNPLACED)
FLOAT = tree.SimpleTypeExpression("Float", UNPLACED)
PHASE = tree.SimpleTypeExpression("Phase", UNPLACED)
IMAGE = tree.SimpleTypeExpression("Image", UNPLACED)
ARGUMENT = tree.SimpleTypeExpression("Argument", UNPLACED)
SLOTS = tree.SimpleTypeExpression("Slots", UNPLACED)
COMMAND = tree.SimpleTypeExpression("Command", UNPLACED)

# One type for each parameter; a type may depend on earlier parameters, then it is a function of them.
DependentType = tree.TypeExpression | Callable[..., tree.TypeExpression]


def plane_type(element: Element | str | None = None, extent: Sequence[Natural] | None = None) -> tree.TypeExpression:
    """`Plane`, `Plane f32` or `Plane f32 [m, n]`.

    Raises:
        ValueError: an extent without an element type, or an unknown element type.
    """
    if element is None and extent is not None:
        raise ValueError("a plane type with an extent names its element type too")
    return tree.PlaneTypeExpression(
        None if element is None else Element(element),
        None if extent is None else tuple(natural(size).term for size in extent),
        UNPLACED,
    )


def pi(
    domain: tree.TypeExpression,
    codomain: Callable[[Expression], tree.TypeExpression],
    quantity: Quantity = Quantity.UNRESTRICTED,
) -> tree.TypeExpression:
    """The type of functions, `(pi quantity name : domain . codomain)`."""
    (name,) = _fresh_names(codomain, 1)
    return tree.PiTypeExpression(quantity, name, domain, codomain(Expression(name)), UNPLACED)


def function(
    types: Sequence[DependentType], body: Callable[..., Value], quantity: Quantity = Quantity.UNRESTRICTED
) -> Expression:
    """A function of one parameter for each type, each bound with the quantity.

    A type that depends on earlier parameters is given as a Python function of all of them, e.g. `lambda n:
    plane_type("f32", [n])` for the second.
    """
    names = _fresh_names(body, len(types))
    variables = [Expression(name) for name in names]
    term = term_of(body(*variables))
    for place in reversed(range(len(types))):
        given = types[place]
        type_ = given(*variables[:place]) if callable(given) else given
        term = tree.Lambda(quantity, names[place], type_, term, UNPLACED)
    return Expression(term)


def let(
    value: Value,
    body: Callable[[Expression], Value],
    quantity: Quantity = Quantity.UNRESTRICTED,
    type_: tree.TypeExpression | None = None,
) -> Expression:
    """`(let quantity name [: type] = value in body)`: the value has a name and is written once."""
    (name,) = _fresh_names(body, 1)
    return Expression(tree.Let(quantity, name, type_, term_of(value), term_of(body(Expression(name))), UNPLACED))


def _fresh_names(body: Callable[..., Any], count: int) -> list[tree.Name]:
    """New bound variables, called as the Python function calls its parameters where it has as many."""
    try:
        hints = list(inspect.signature(body).parameters)
    except (TypeError, ValueError):
        hints = []
    if len(hints) != count:
        hints = ["x"] * count
    return [tree.Name(hint, BOUND) for hint in hints]
