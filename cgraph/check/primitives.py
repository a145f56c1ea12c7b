"""What each primitive computes from values, `naturalFold` excepted: the machine runs that one.

Sizes may be ints or symbols. A problem is reported and gives an unknown value, so that the rest can be looked at.
"""

from collections.abc import Callable

from cgraph.check.explain import describe_counterexample
from cgraph.check.problems_values import (
    DivisionByZeroProblem,
    IndexOutsideFamily,
    OffsetOutsidePlane,
    PlaneIsNoNumber,
)
from cgraph.check.terms import Primitive
from cgraph.check.values import (
    ArgumentValue,
    CopyCommand,
    EachCommand,
    FillCommand,
    InPhase,
    LaunchCommand,
    NoSlots,
    Nothing,
    PlaneFamily,
    PlaneValue,
    SlotValue,
    Then,
    Unknown,
    Value,
)
from cgraph.check.world import UNKNOWN, World
from cgraph.core import naturals
from cgraph.core.comparison import Fails, compare_at_least, compare_less
from cgraph.core.naturals import DivisionByZero, Natural, Polynomial
from cgraph.core.origins import Origin
from cgraph.core.signatures import SlotKind
from cgraph.core.types import POISON, BaseType, PlaneType, Type, render_type
from cgraph.source import Span

ARITY = {
    Primitive.THEN: 2,
    Primitive.PHASE: 2,
    Primitive.LAUNCH: 5,
    Primitive.ARGUMENT: 1,
    Primitive.POINTER: 3,
    Primitive.NATURAL: 3,
    Primitive.FLOAT: 3,
    Primitive.NO_SLOTS: 0,
    Primitive.FILL: 2,
    Primitive.COPY: 2,
    Primitive.NOTHING: 0,
    Primitive.AT: 2,
    Primitive.EACH: 2,
    Primitive.EACH_DOWN: 2,
    Primitive.ADD: 2,
    Primitive.MULTIPLY: 2,
    Primitive.SUBTRACT: 2,
    Primitive.DIVIDE: 2,
    Primitive.CEIL_DIVIDE: 2,
    Primitive.MODULO: 2,
    Primitive.MINIMUM: 2,
    Primitive.MAXIMUM: 2,
    Primitive.FOLD: 3,
}

_ARITHMETIC: dict[Primitive, Callable[[Natural, Natural], Natural]] = {
    Primitive.ADD: naturals.add,
    Primitive.MULTIPLY: naturals.multiply,
    Primitive.SUBTRACT: naturals.subtract,
    Primitive.DIVIDE: naturals.divide,
    Primitive.CEIL_DIVIDE: naturals.ceil_divide,
    Primitive.MODULO: naturals.modulo,
    Primitive.MINIMUM: naturals.minimum,
    Primitive.MAXIMUM: naturals.maximum,
}

_SLOT_KINDS = {
    Primitive.POINTER: SlotKind.POINTER,
    Primitive.NATURAL: SlotKind.NATURAL,
    Primitive.FLOAT: SlotKind.FLOAT,
}

NO_SLOTS = NoSlots()
NOTHING = Nothing()


def compute(  # noqa: C901  (one case for each primitive)
    world: World, primitive: Primitive, arguments: tuple[Value, ...], span: Span, origin: Origin | None
) -> Value:
    """The primitive's value for as many arguments as it takes."""
    match primitive:
        case Primitive.THEN:
            return Then(*arguments)
        case Primitive.POINTER | Primitive.NATURAL | Primitive.FLOAT:
            argument, value, rest = arguments
            return SlotValue(_SLOT_KINDS[primitive], argument, value, rest, span)
        case Primitive.ARGUMENT:
            number = _natural(world, "cgArgument", arguments[0], span)
            return UNKNOWN if number is None else ArgumentValue(number, span)
        case Primitive.LAUNCH:
            image, x, y, z, slots = arguments
            return LaunchCommand(image, (x, y, z), slots, Origin(span, "launch", origin))
        case Primitive.PHASE:
            return InPhase(*arguments)
        case Primitive.FILL:
            return FillCommand(arguments[0], arguments[1], Origin(span, "fill", origin))
        case Primitive.COPY:
            return CopyCommand(arguments[0], arguments[1], Origin(span, "copy", origin))
        case Primitive.EACH | Primitive.EACH_DOWN:
            down = primitive is Primitive.EACH_DOWN
            return EachCommand(arguments[0], arguments[1], down, Origin(span, "loop", origin))
        case Primitive.AT:
            return _at(world, arguments[0], arguments[1], span)
        case Primitive.NO_SLOTS:
            return NO_SLOTS
        case Primitive.NOTHING:
            return NOTHING
    return _arithmetic(world, primitive, arguments[0], arguments[1], span)


def choose_plane(world: World, family: PlaneFamily, indices: tuple[Value, ...], span: Span) -> Value:
    """The plane of a family at the indices."""
    numbers = []
    for value in indices:
        number = _natural(world, family.name, value, span)
        if number is None:
            return UNKNOWN
        numbers.append(number)
    mapping = dict(zip(family.symbols, numbers, strict=True))
    for symbol, number, declared_bound in zip(family.symbols, numbers, family.bounds, strict=True):
        bound = naturals.substitute(declared_bound, mapping)
        verdict = compare_less(number, bound)
        if isinstance(verdict, Fails):
            world.report(
                IndexOutsideFamily(
                    span,
                    family.name,
                    symbol.name,
                    naturals.render(number),
                    naturals.render(bound),
                    family.span,
                    describe_counterexample(verdict),
                )
            )
            return UNKNOWN
    extent = tuple(naturals.substitute(size, mapping) for size in family.extent)
    return PlaneValue(family, tuple(numbers), extent, 0)


def type_of_value(value: Value) -> Type:
    """The most precise type of a value, as far as planes and unknown values go."""
    if isinstance(value, PlaneValue):
        if value.offset == 0:
            return PlaneType(value.family.element, value.extent)
        left = naturals.subtract(naturals.product(value.extent), value.offset)
        return PlaneType(value.family.element, (left,))
    if isinstance(value, Unknown):
        return value.type
    return BaseType.NAT if isinstance(value, int | Polynomial) else POISON


def plane_name(plane: PlaneValue) -> str:
    """Family and indices, e.g. `cgQkvWeight 0`."""
    return " ".join([plane.family.name, *(naturals.render(index) for index in plane.indices)])


def _arithmetic(world: World, primitive: Primitive, left: Value, right: Value, span: Span) -> Value:
    first = _natural(world, primitive.value, left, span)
    second = _natural(world, primitive.value, right, span)
    if first is None or second is None:
        return UNKNOWN
    try:
        return _ARITHMETIC[primitive](first, second)
    except DivisionByZero:
        world.report(DivisionByZeroProblem(span, primitive.value))
        return UNKNOWN


def _natural(world: World, operation: str, value: Value, span: Span) -> Natural | None:
    if isinstance(value, int | Polynomial):
        return value
    if isinstance(value, PlaneValue):
        world.report(PlaneIsNoNumber(span, operation, f"the plane `{plane_name(value)}`"))
    elif isinstance(value, Unknown) and isinstance(value.type, PlaneType):
        world.report(PlaneIsNoNumber(span, operation, f"a `{render_type(value.type)}`"))
    return None


def _at(world: World, plane: Value, offset_value: Value, span: Span) -> Value:
    offset = _natural(world, "cgAt", offset_value, span)
    if isinstance(plane, Unknown) and isinstance(plane.type, PlaneType) and offset is not None:
        elements = plane.type.elements
        extent = None if elements is None else (naturals.subtract(elements, offset),)
        return Unknown(PlaneType(plane.type.element, extent))
    if not isinstance(plane, PlaneValue) or offset is None:
        return UNKNOWN
    available = naturals.product(plane.extent)
    start = naturals.add(plane.offset, offset)
    verdict = compare_at_least(available, start)
    if isinstance(verdict, Fails):
        world.report(
            OffsetOutsidePlane(
                span,
                plane_name(plane),
                naturals.render(naturals.subtract(available, plane.offset)),
                naturals.render(offset),
                describe_counterexample(verdict),
            )
        )
        return UNKNOWN
    return PlaneValue(plane.family, plane.indices, plane.extent, start)
