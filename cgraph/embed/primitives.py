"""The primitives of the language as Python functions.

They check nothing but the kinds of numbers: the checker reads the printed program and reports in its text. Where an
argument slot is expected, an int may stand for `cg_argument` of it.
"""

from collections.abc import Callable

from cgraph.embed.binders import NAT, function
from cgraph.embed.expressions import Expression, Natural, Value, floating, natural, reference
from cgraph.syntax import tree

Body = Expression | Callable[[Expression], Expression]


def cg_then(first: Expression, *others: Expression) -> Expression:
    """The commands in order."""
    *before, result = (first, *others)
    for command in reversed(before):
        result = reference("cgThen")(command, result)
    return result


def cg_phase(phase: Expression, command: Expression) -> Expression:
    """The command as a part with a name."""
    return reference("cgPhase")(phase, command)


def cg_launch(image: Expression, x: Natural, y: Natural, z: Natural, slots: Expression) -> Expression:
    """Runs a kernel on a grid of x · y · z blocks."""
    return reference("cgLaunch")(image, x, y, z, slots)


def cg_argument(number: Natural) -> Expression:
    """The slot with this number, from 0."""
    return reference("cgArgument")(natural(number))


def cg_pointer(argument: Natural, plane: Expression, slots: Expression) -> Expression:
    """The slots with a plane in one more."""
    return reference("cgPointer")(_slot(argument), plane, slots)


def cg_natural(argument: Natural, value: Natural, slots: Expression) -> Expression:
    """The slots with a natural in one more."""
    return reference("cgNatural")(_slot(argument), natural(value), slots)


def cg_float(argument: Natural, value: Value, slots: Expression) -> Expression:
    """The slots with a float in one more."""
    return reference("cgFloat")(_slot(argument), floating(value), slots)


cg_no_slots = reference("cgNoSlots")
cg_nothing = reference("cgNothing")


def cg_fill(plane: Expression, value: Value) -> Expression:
    """Sets every element of a plane."""
    return reference("cgFill")(plane, floating(value))


def cg_copy(destination: Expression, source: Expression) -> Expression:
    """Copies a plane."""
    return reference("cgCopy")(destination, source)


def cg_at(plane: Expression, offset: Natural) -> Expression:
    """The part of a plane from an offset on, in elements."""
    return reference("cgAt")(plane, natural(offset))


def cg_each(count: Natural, body: Body) -> Expression:
    """The body for 0 … count-1, in this order."""
    return reference("cgEach")(natural(count), _function_of_index(body))


def cg_each_down(count: Natural, body: Body) -> Expression:
    """The body for count-1 … 0, in this order."""
    return reference("cgEachDown")(natural(count), _function_of_index(body))


def natural_add(left: Natural, right: Natural) -> Expression:
    """The sum."""
    return natural(left) + right


def natural_multiply(left: Natural, right: Natural) -> Expression:
    """The product."""
    return natural(left) * right


def natural_subtract(left: Natural, right: Natural) -> Expression:
    """The difference, or 0 where it is negative."""
    return natural(left) - right


def natural_divide(left: Natural, right: Natural) -> Expression:
    """The quotient, rounded down."""
    return natural(left) // right


def natural_ceil_divide(left: Natural, right: Natural) -> Expression:
    """The quotient, rounded up."""
    return reference("naturalCeilDivide")(natural(left), natural(right))


def natural_modulo(left: Natural, right: Natural) -> Expression:
    """What the division leaves."""
    return natural(left) % right


def natural_minimum(left: Natural, right: Natural) -> Expression:
    """The smaller of two."""
    return reference("naturalMinimum")(natural(left), natural(right))


def natural_maximum(left: Natural, right: Natural) -> Expression:
    """The larger of two."""
    return reference("naturalMaximum")(natural(left), natural(right))


def natural_fold(
    count: Natural, start: Value, step: Callable[[Expression, Expression], Value], type_: tree.TypeExpression = NAT
) -> Expression:
    """`start` after `count` steps; a step gets the index, from 0, and the result so far, whose type is given."""
    return reference("naturalFold")(natural(count), start, function([NAT, type_], step))


def _slot(argument: Natural) -> Expression:
    return argument if isinstance(argument, Expression) else cg_argument(argument)


def _function_of_index(body: Body) -> Expression:
    return body if isinstance(body, Expression) else function([NAT], body)
