"""Naturals as plain Python functions of ints, for builds that evaluate one natural very often.

The generated text holds only names made here, decimal numbers and operators; no name of a user's program gets into
it. Each opaque operation is one statement, so nesting costs no depth.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from cgraph.core.arithmetic import INT_OPERATIONS, Operation
from cgraph.core.polynomials import Atom, Monomial, Natural, Symbol, opaques_inside_out, symbols, terms_of

# Python's compiler recurses over chains of operators; a longer chain becomes one flat call instead.
LONGEST_CHAIN = 32

_GLOBALS: Mapping[str, object] = {
    "__builtins__": {},
    "sum": sum,
    "prod": prod,
    **{operation.value: function for operation, function in INT_OPERATIONS.items()},
}


def compile_natural(natural: Natural, parameters: Sequence[Symbol]) -> Callable[..., int]:
    """A function that takes one int for each symbol, in the order given, and returns the natural's value.

    The function raises DivisionByZero where the natural divides by 0.

    Raises:
        ValueError: the natural has a symbol that is not listed.
    """
    missing = symbols(natural).difference(parameters)
    if missing:
        raise ValueError(f"no argument for {', '.join(symbol.name for symbol in sorted(missing))}")
    names: dict[Atom, str] = {symbol: f"s{place}" for place, symbol in enumerate(parameters)}
    lines = [f"def evaluate({', '.join(f's{place}' for place in range(len(parameters)))}):"]
    for place, opaque in enumerate(opaques_inside_out(natural)):
        lines.append(
            f"  t{place} = {_operation(opaque.operation, _sum(opaque.left, names), _sum(opaque.right, names))}"
        )
        names[opaque] = f"t{place}"
    lines.append(f"  return {_sum(natural, names)}")
    scope: dict[str, object] = dict(_GLOBALS)
    exec("\n".join(lines), scope)  # noqa: S102  (the text is made above, see the module's docstring)
    function: Callable[..., int] = scope["evaluate"]  # type: ignore[assignment]  # the text defines it
    return function


def _operation(operation: Operation, left: str, right: str) -> str:
    if right.isdecimal() and int(right) > 0:
        if operation is Operation.DIVIDE:
            return f"({left}) // {right}"
        if operation is Operation.CEIL_DIVIDE:
            return f"-(-({left}) // {right})"
        if operation is Operation.MODULO:
            return f"({left}) % {right}"
    return f"{operation.value}({left}, {right})"


def _sum(natural: Natural, names: Mapping[Atom, str]) -> str:
    parts = [_product(coefficient, monomial, names) for monomial, coefficient in terms_of(natural).items()]
    if len(parts) > LONGEST_CHAIN:
        return f"sum(({', '.join(parts)}))"
    return " + ".join(parts) or "0"


def _product(coefficient: int, monomial: Monomial, names: Mapping[Atom, str]) -> str:
    factors = [names[atom] if power == 1 else f"{names[atom]}**{power}" for atom, power in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    if len(factors) > LONGEST_CHAIN:
        return f"prod(({', '.join(factors)}))"
    return "*".join(factors)
