"""The rules of launches: what is given, held against the image's signature. One rule, one function.

The same rules run while checking, with symbols for sizes, and while building, with ints. Whatever is unknown while
checking (an image or slots that a caller gives, a gradual address) is left to the build.
"""

from collections.abc import Iterator, Sequence

from attrs import frozen

from cgraph.check.explain import describe_counterexample, explain_sizes
from cgraph.check.names import may_be_address
from cgraph.check.primitives import plane_name
from cgraph.check.problems_launches import (
    MissingSlot,
    NoPlaneInSlot,
    NoSuchSlot,
    PlaneTooSmall,
    RequirementFails,
    SizeDividesByZero,
    SlotGivenTwice,
    WrongGrid,
    WrongSlotElement,
    WrongSlotKind,
)
from cgraph.check.values import (
    ArgumentValue,
    ImageValue,
    LaunchCommand,
    LaunchSizes,
    NoSlots,
    PlaneValue,
    SlotValue,
    Unknown,
    Value,
)
from cgraph.core.comparison import Fails, compare_at_least, compare_equal
from cgraph.core.elements import Element
from cgraph.core.naturals import DivisionByZero, Natural, Polynomial, render
from cgraph.core.origins import Origin
from cgraph.core.signatures import Relation, Signature, SlotKind
from cgraph.core.types import PlaneType
from cgraph.diagnostics import Problem
from cgraph.source import Span

AXES = "xyz"


@frozen(eq=False)
class ReadLaunch:
    """A launch beside its signature.

    Args:
        filled: what is given for each slot of the signature; None where nothing is, or nothing known.
        unexpected: given for numbers that the signature does not have. repeated: given again.
        complete: whether all that is given is known.
        sizes: None where a natural slot has no value yet.
    """

    launch: LaunchCommand
    signature: Signature
    filled: tuple[SlotValue | None, ...]
    unexpected: tuple[SlotValue, ...]
    repeated: tuple[SlotValue, ...]
    complete: bool
    sizes: LaunchSizes | None

    @property
    def common(self) -> tuple[Origin, str, Span]:
        """What every problem of a launch is told."""
        return self.launch.origin, self.signature.name, self.signature.span


def check_launch(launch: LaunchCommand) -> tuple[ReadLaunch | None, tuple[Problem, ...]]:
    """Applies all rules; the launch as read is None where its image is not known, or its sizes make no sense."""
    if not isinstance(launch.image, ImageValue):
        return None, ()
    try:
        read = read_launch(launch, launch.image)
    except DivisionByZero:
        signature = launch.image.signature
        return None, (SizeDividesByZero(launch.origin.span, launch.origin, signature.name, signature.span),)
    problems = tuple(problem for rule in _SLOT_RULES for problem in rule(read))
    if not problems and read.sizes is not None:
        problems = tuple(problem for rule in _SIZE_RULES for problem in rule(read, read.sizes))
    return read, problems


def read_launch(launch: LaunchCommand, image: ImageValue) -> ReadLaunch:
    """Follows the slots to their end. Raises DivisionByZero where a size divides by a natural that is 0."""
    signature = image.signature
    filled: list[SlotValue | None] = [None] * len(signature.slots)
    unexpected = []
    repeated = []
    complete = True
    rest = launch.slots
    while isinstance(rest, SlotValue):
        argument = rest.argument
        number = argument.number if isinstance(argument, ArgumentValue) else None
        if not isinstance(number, int):
            complete = False
        elif number >= len(filled):
            unexpected.append(rest)
        elif filled[number] is None:
            filled[number] = rest
        else:
            repeated.append(rest)
        rest = rest.rest
    complete = complete and isinstance(rest, NoSlots)
    sizes = _sizes(image, filled)
    return ReadLaunch(launch, signature, tuple(filled), tuple(unexpected), tuple(repeated), complete, sizes)


def _sizes(image: ImageValue, filled: Sequence[SlotValue | None]) -> LaunchSizes | None:
    naturals: list[Natural] = []
    for slot, given in zip(image.signature.slots, filled, strict=True):
        if slot.kind is SlotKind.NATURAL:
            value = None if given is None else given.value
            if not isinstance(value, int | Polynomial):
                return None
            naturals.append(value)
    return image.sizes(*naturals)


def rule_slots_exist(read: ReadLaunch) -> Iterator[Problem]:
    """Every slot given is one of the image's."""
    last = len(read.signature.slots) - 1
    count = f"slots 0 to {last}" if last > 0 else "slot 0 alone" if last == 0 else "no slots"
    for given in read.unexpected:
        yield NoSuchSlot(given.span, *read.common, _number(given), count)


def rule_slots_once(read: ReadLaunch) -> Iterator[Problem]:
    """No slot is given twice."""
    for given in read.repeated:
        number = _number(given)
        first = read.filled[number]
        if first is not None:
            yield SlotGivenTwice(given.span, *read.common, number, first.span)


def rule_slots_complete(read: ReadLaunch) -> Iterator[Problem]:
    """Every slot that may not be left out is given."""
    if not read.complete:
        return
    for slot, given in zip(read.signature.slots, read.filled, strict=True):
        if given is None and not slot.optional:
            yield MissingSlot(read.launch.origin.span, *read.common, slot.number, slot.name, slot.kind.value)


def rule_slot_kinds(read: ReadLaunch) -> Iterator[Problem]:
    """A pointer slot gets a plane, a natural slot a natural, a float slot a float."""
    for slot, given in zip(read.signature.slots, read.filled, strict=True):
        if given is None:
            continue
        value = given.value
        if given.kind is not slot.kind:
            yield WrongSlotKind(given.span, *read.common, slot.number, slot.name, slot.kind.value, given.kind.value)
        elif slot.kind is SlotKind.POINTER and isinstance(value, int | Polynomial) and not may_be_address(value):
            yield NoPlaneInSlot(given.span, *read.common, slot.number, slot.name, render(value))


def rule_slot_elements(read: ReadLaunch) -> Iterator[Problem]:
    """A plane holds the element type that its slot declares."""
    for slot, given in zip(read.signature.slots, read.filled, strict=True):
        if given is None or slot.element is None:
            continue
        element, _ = _element_and_count(given.value)
        if element is not None and element is not slot.element:
            yield WrongSlotElement(
                given.span,
                *read.common,
                slot.number,
                slot.name,
                slot.element.value,
                _name(given.value),
                element.value,
            )


def rule_extents(read: ReadLaunch, sizes: LaunchSizes) -> Iterator[Problem]:
    """A plane has at least as many elements as the kernel touches."""
    for slot, given, needed in zip(read.signature.slots, read.filled, sizes.elements, strict=True):
        if given is None or slot.kind is not SlotKind.POINTER:
            continue
        _, elements = _element_and_count(given.value)
        if elements is None or elements is needed:
            continue
        verdict = compare_at_least(elements, needed)
        if isinstance(verdict, Fails):
            yield PlaneTooSmall(
                given.span,
                *read.common,
                slot.number,
                slot.name,
                render(needed),
                _name(given.value),
                render(elements),
                explain_sizes(verdict),
            )


def rule_grid(read: ReadLaunch, sizes: LaunchSizes) -> Iterator[Problem]:
    """The grid is the one that the image declares, where it declares one."""
    if sizes.grid is None:
        return
    for axis, found, expected in zip(AXES, read.launch.grid, sizes.grid, strict=True):
        if found is expected or not isinstance(found, int | Polynomial):
            continue
        verdict = compare_equal(found, expected)
        if isinstance(verdict, Fails):
            yield WrongGrid(
                read.launch.origin.span,
                *read.common,
                axis,
                render(found),
                render(expected),
                _grid_where(verdict),
            )


def rule_requirements(read: ReadLaunch, sizes: LaunchSizes) -> Iterator[Problem]:
    """What the kernel relies on holds. A size that only some builds choose wrong is for those builds to refuse."""
    for requirement, (left, right) in zip(read.signature.requirements, sizes.requirements, strict=True):
        if not isinstance(left, int) or not isinstance(right, int):
            continue
        if left != right if requirement.relation is Relation.EQUAL else left > right:
            text = " ".join(requirement.span.text.split()[1:])
            yield RequirementFails(
                read.launch.origin.span,
                *read.common,
                text,
                render(left),
                requirement.relation.value,
                render(right),
                requirement.span,
            )


_SLOT_RULES = (rule_slots_exist, rule_slots_once, rule_slots_complete, rule_slot_kinds, rule_slot_elements)
_SIZE_RULES = (rule_extents, rule_grid, rule_requirements)


def _number(given: SlotValue) -> int:
    number = given.argument.number if isinstance(given.argument, ArgumentValue) else None
    return number if isinstance(number, int) else -1


def _element_and_count(value: Value) -> tuple[Element | None, Natural | None]:
    """What is known of a plane: its element type and how many elements there are from its offset on."""
    if isinstance(value, PlaneValue):
        return value.family.element, value.elements
    if isinstance(value, Unknown) and isinstance(value.type, PlaneType):
        return value.type.element, value.type.elements
    return None, None


def _name(value: Value) -> str:
    if not isinstance(value, PlaneValue):
        return "the plane given"
    name = f"`{plane_name(value)}`"
    return name if value.offset == 0 else f"this part of {name}"


def _grid_where(verdict: Fails) -> str:
    where = describe_counterexample(verdict)
    return where and f"{where}: it is {verdict.left}, and {verdict.right} is asked for"
