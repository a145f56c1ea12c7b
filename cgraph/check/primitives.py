"""What each primitive computes from values, `naturalFold` excepted: the machine runs that one.

Sizes may be ints or symbols. A problem is reported and gives an unknown value, so that the rest can be looked at.
"""

from collections.abc import Callable, Sequence

from cgraph.check.explain import describe_counterexample
from cgraph.check.limits import MOST_NATURAL, excess, excess_of_product
from cgraph.check.problems_values import (
    DivisionByZeroProblem,
    IndexOutsideFamily,
    NumberTooLarge,
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

NO_SLOTS = NoSlots()
NOTHING = Nothing()


def compute(world: World, primitive: Primitive, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    """The primitive's value for as many arguments as it takes."""
    return _COMPUTERS[primitive.text](world, arguments, span, origin)


def choose_plane(
    world: World, family: PlaneFamily, indices: tuple[Value, ...], span: Span, origin: Origin | None
) -> Value:
    """The plane of a family at the indices."""
    numbers = []
    for value in indices:
        number = to_natural(world, family.name, value, span, origin)
        if number is None:
            return UNKNOWN
        numbers.append(number)
    mapping = dict(zip(family.symbols, numbers, strict=True))
    try:
        bounds = [naturals.substitute(bound, mapping) for bound in family.bounds]
        extent = tuple(naturals.substitute(size, mapping) for size in family.extent)
    except DivisionByZero:
        world.report(DivisionByZeroProblem(span, Origin(span, "index", origin), family.name))
        return UNKNOWN
    for symbol, number, bound in zip(family.symbols, numbers, bounds, strict=True):
        verdict = compare_less(number, bound)
        if isinstance(verdict, Fails):
            world.report(
                IndexOutsideFamily(
                    span,
                    Origin(span, "index", origin),
                    family.name,
                    symbol.name,
                    naturals.render(number),
                    naturals.render(bound),
                    family.span,
                    describe_counterexample(verdict),
                )
            )
            return UNKNOWN
    return whole_plane(family, tuple(numbers), extent)


def whole_plane(family: PlaneFamily, indices: tuple[Natural, ...], extent: tuple[Natural, ...]) -> PlaneValue:
    """A plane from its first element on."""
    return PlaneValue(family, indices, extent, 0, naturals.product(extent))


def type_of_value(value: Value) -> Type:
    """The most precise type of a value, as far as planes and unknown values go."""
    if isinstance(value, PlaneValue):
        extent = value.extent if value.offset == 0 else (value.elements,)
        return PlaneType(value.family.element, extent)
    if isinstance(value, Unknown):
        return value.type
    return BaseType.NAT if isinstance(value, int | Polynomial) else POISON


def plane_name(plane: PlaneValue) -> str:
    """Family and indices, e.g. `cgQkvWeight 0`."""
    return " ".join([plane.family.name, *(naturals.render(index) for index in plane.indices)])


def to_natural(world: World, operation: str, value: Value, span: Span, origin: Origin | None) -> Natural | None:
    """The value where it is a natural; a plane is reported, for it may stand where a natural is expected."""
    if isinstance(value, int | Polynomial):
        return value
    found = ""
    if isinstance(value, PlaneValue):
        found = f"the plane `{plane_name(value)}`"
    elif isinstance(value, Unknown) and isinstance(value.type, PlaneType):
        found = f"a `{render_type(value.type)}`"
    if found:
        world.report(PlaneIsNoNumber(span, Origin(span, operation, origin), operation, found))
    return None


def _arithmetic(primitive: Primitive, operation: Callable[[Natural, Natural], Natural]) -> "_Computer":
    name = primitive.text

    def computer(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
        left, right = arguments
        if type(left) is int and type(right) is int and right:
            result = operation(left, right)
            if result < MOST_NATURAL:  # type: ignore[operator]  # of two ints
                return result
            problem = excess(result)
        else:
            first = to_natural(world, name, left, span, origin)
            second = to_natural(world, name, right, span, origin)
            if first is None or second is None:
                return UNKNOWN
            problem = excess_of_product(first, second) if primitive is Primitive.MULTIPLY else ""
            if not problem:
                try:
                    result = operation(first, second)
                except DivisionByZero:
                    world.report(DivisionByZeroProblem(span, Origin(span, name, origin), name))
                    return UNKNOWN
                problem = excess(result)
                if not problem:
                    return result
        world.report(NumberTooLarge(span, Origin(span, name, origin), "the result", problem))
        return UNKNOWN

    return computer


def _at(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    plane, offset_value = arguments
    offset = to_natural(world, Primitive.AT.text, offset_value, span, origin)
    if isinstance(plane, Unknown) and isinstance(plane.type, PlaneType) and offset is not None:
        elements = plane.type.elements
        extent = None if elements is None else (naturals.subtract(elements, offset),)
        return Unknown(PlaneType(plane.type.element, extent))
    if not isinstance(plane, PlaneValue) or offset is None:
        return UNKNOWN
    verdict = compare_at_least(plane.elements, offset)
    if isinstance(verdict, Fails):
        world.report(
            OffsetOutsidePlane(
                span,
                Origin(span, Primitive.AT.text, origin),
                plane_name(plane),
                naturals.render(plane.elements),
                naturals.render(offset),
                describe_counterexample(verdict),
            )
        )
        return UNKNOWN
    start = naturals.add(plane.offset, offset)
    return PlaneValue(plane.family, plane.indices, plane.extent, start, naturals.subtract(plane.elements, offset))


def _then(_world: World, arguments: Sequence[Value], _span: Span, _origin: Origin | None) -> Value:
    return Then(arguments[0], arguments[1])


def _slot(kind: SlotKind) -> "_Computer":
    def computer(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
        argument, value, rest = arguments
        if kind is SlotKind.NATURAL and type(value) is not int:
            number = to_natural(world, Primitive.NATURAL.text, value, span, origin)
            value = UNKNOWN if number is None else number
        return SlotValue(kind, argument, value, rest, span)

    return computer


def _argument(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    number = to_natural(world, Primitive.ARGUMENT.text, arguments[0], span, origin)
    return UNKNOWN if number is None else ArgumentValue(number)


def _launch(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    image, *grid, slots = arguments
    for size in grid:
        if type(size) is not int and to_natural(world, Primitive.LAUNCH.text, size, span, origin) is None:
            return UNKNOWN
    return LaunchCommand(image, (grid[0], grid[1], grid[2]), slots, Origin(span, "launch", origin))


def _phase(_world: World, arguments: Sequence[Value], _span: Span, _origin: Origin | None) -> Value:
    return InPhase(arguments[0], arguments[1])


def _fill(_world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    return FillCommand(arguments[0], arguments[1], Origin(span, "fill", origin))


def _copy(_world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
    return CopyCommand(arguments[0], arguments[1], Origin(span, "copy", origin))


def _each(*, down: bool) -> "_Computer":
    name = Primitive.EACH_DOWN.text if down else Primitive.EACH.text

    def computer(world: World, arguments: Sequence[Value], span: Span, origin: Origin | None) -> Value:
        count = to_natural(world, name, arguments[0], span, origin)
        return UNKNOWN if count is None else EachCommand(count, arguments[1], down, Origin(span, "loop", origin))

    return computer


_Computer = Callable[[World, Sequence[Value], Span, Origin | None], Value]

_COMPUTERS: dict[str, _Computer] = {
    primitive.text: computer
    for primitive, computer in (
        (Primitive.THEN, _then),
        (Primitive.PHASE, _phase),
        (Primitive.LAUNCH, _launch),
        (Primitive.ARGUMENT, _argument),
        (Primitive.POINTER, _slot(SlotKind.POINTER)),
        (Primitive.NATURAL, _slot(SlotKind.NATURAL)),
        (Primitive.FLOAT, _slot(SlotKind.FLOAT)),
        (Primitive.FILL, _fill),
        (Primitive.COPY, _copy),
        (Primitive.AT, _at),
        (Primitive.EACH, _each(down=False)),
        (Primitive.EACH_DOWN, _each(down=True)),
        (Primitive.ADD, _arithmetic(Primitive.ADD, naturals.add)),
        (Primitive.MULTIPLY, _arithmetic(Primitive.MULTIPLY, naturals.multiply)),
        (Primitive.SUBTRACT, _arithmetic(Primitive.SUBTRACT, naturals.subtract)),
        (Primitive.DIVIDE, _arithmetic(Primitive.DIVIDE, naturals.divide)),
        (Primitive.CEIL_DIVIDE, _arithmetic(Primitive.CEIL_DIVIDE, naturals.ceil_divide)),
        (Primitive.MODULO, _arithmetic(Primitive.MODULO, naturals.modulo)),
        (Primitive.MINIMUM, _arithmetic(Primitive.MINIMUM, naturals.minimum)),
        (Primitive.MAXIMUM, _arithmetic(Primitive.MAXIMUM, naturals.maximum)),
    )
}
