"""The rules of launches: what is given, held against the image's signature. One rule, one function.

The same rules run while checking, with symbols for sizes, and while building, with ints. Whatever is unknown while
checking (an image or slots that a caller gives, a gradual address) is left to the build.
"""

from collections.abc import Iterator

from attrs import frozen

from cgraph.check.explain import describe_counterexample
from cgraph.check.primitives import plane_name, type_of_value
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
from cgraph.check.rules import may_be_address
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
from cgraph.core.comparison import Fails, Verdict, compare_at_least, compare_equal
from cgraph.core.naturals import DivisionByZero, Natural, Polynomial, product, render
from cgraph.core.origins import Origin
from cgraph.core.signatures import Relation, Signature, Slot, SlotKind
from cgraph.core.types import PlaneType
from cgraph.diagnostics import Problem
from cgraph.source import Span

AXES = "xyz"


@frozen(eq=False)
class GivenSlots:
    """The slots of a launch by number, the first value given for each; `complete` when all of them are known."""

    values: dict[int, SlotValue]
    repeated: tuple[SlotValue, ...]
    complete: bool


def given_slots(slots: Value) -> GivenSlots:
    """Follows the slots to their end."""
    values: dict[int, SlotValue] = {}
    repeated = []
    complete = True
    while isinstance(slots, SlotValue):
        argument = slots.argument
        if isinstance(argument, ArgumentValue) and isinstance(argument.number, int):
            if argument.number in values:
                repeated.append(slots)
            else:
                values[argument.number] = slots
        else:
            complete = False
        slots = slots.rest
    return GivenSlots(values, tuple(repeated), complete and isinstance(slots, NoSlots))


def launch_sizes(image: ImageValue, given: GivenSlots) -> LaunchSizes | None:
    """The sizes that follow from the naturals given, or None where one of them is missing or unknown."""
    naturals: list[Natural] = []
    for slot in image.signature.slots:
        if slot.kind is SlotKind.NATURAL:
            filled = given.values.get(slot.number)
            value = None if filled is None else filled.value
            if not isinstance(value, int | Polynomial):
                return None
            naturals.append(value)
    return image.sizes(*naturals)


def check_launch(launch: LaunchCommand) -> Iterator[Problem]:
    """All rules, for a launch whose image is known."""
    if not isinstance(launch.image, ImageValue):
        return
    given = given_slots(launch.slots)
    signature = launch.image.signature
    problems = [
        *rule_slots_exist(launch, signature, given),
        *rule_slots_once(launch, signature, given),
        *rule_slots_complete(launch, signature, given),
        *rule_slot_kinds(launch, signature, given),
        *rule_slot_elements(launch, signature, given),
    ]
    yield from problems
    if problems:
        return
    try:
        sizes = launch_sizes(launch.image, given)
    except DivisionByZero:
        yield SizeDividesByZero(launch.origin.span, *_common(launch, signature))
        return
    if sizes is not None:
        yield from rule_extents(launch, signature, given, sizes)
        yield from rule_grid(launch, signature, sizes)
        yield from rule_requirements(launch, signature, sizes)


def rule_slots_exist(launch: LaunchCommand, signature: Signature, given: GivenSlots) -> Iterator[Problem]:
    """Every slot given is one of the image's."""
    for number, slot in given.values.items():
        if number >= len(signature.slots):
            yield NoSuchSlot(place_of(slot), *_common(launch, signature), number, len(signature.slots) - 1)


def rule_slots_once(launch: LaunchCommand, signature: Signature, given: GivenSlots) -> Iterator[Problem]:
    """No slot is given twice."""
    for slot in given.repeated:
        number: int = slot.argument.number  # type: ignore[union-attr, assignment]  # repeated ones have a number
        yield SlotGivenTwice(place_of(slot), *_common(launch, signature), number, place_of(given.values[number]))


def rule_slots_complete(launch: LaunchCommand, signature: Signature, given: GivenSlots) -> Iterator[Problem]:
    """Every slot that may not be left out is given."""
    if not given.complete:
        return
    for slot in signature.slots:
        if slot.number not in given.values and not slot.optional:
            yield MissingSlot(launch.origin.span, *_common(launch, signature), slot.number, slot.name, slot.kind.value)


def rule_slot_kinds(launch: LaunchCommand, signature: Signature, given: GivenSlots) -> Iterator[Problem]:
    """A pointer slot gets a plane, a natural slot a natural, a float slot a float."""
    for slot, filled in _filled(signature, given):
        if filled.kind is not slot.kind:
            yield WrongSlotKind(
                place_of(filled),
                *_common(launch, signature),
                slot.number,
                slot.name,
                slot.kind.value,
                filled.kind.value,
            )
        elif slot.kind is SlotKind.POINTER:
            value = filled.value
            if isinstance(value, int) or (isinstance(value, Polynomial) and not may_be_address(value)):
                yield NoPlaneInSlot(
                    place_of(filled), *_common(launch, signature), slot.number, slot.name, render(value)
                )


def rule_slot_elements(launch: LaunchCommand, signature: Signature, given: GivenSlots) -> Iterator[Problem]:
    """A plane holds the element type that its slot declares."""
    for slot, filled, type_ in _planes(signature, given):
        if type_.element is not None and slot.element is not None and type_.element is not slot.element:
            yield WrongSlotElement(
                place_of(filled),
                *_common(launch, signature),
                slot.number,
                slot.name,
                slot.element.value,
                _name(filled.value),
                type_.element.value,
            )


def rule_extents(
    launch: LaunchCommand, signature: Signature, given: GivenSlots, sizes: LaunchSizes
) -> Iterator[Problem]:
    """A plane has at least as many elements as the kernel touches."""
    for slot, filled, type_ in _planes(signature, given):
        if type_.elements is None:
            continue
        needed = product(sizes.extents[slot.number])
        verdict = compare_at_least(type_.elements, needed)
        if isinstance(verdict, Fails):
            yield PlaneTooSmall(
                place_of(filled),
                *_common(launch, signature),
                slot.number,
                slot.name,
                render(needed),
                _name(filled.value),
                render(type_.elements),
                _where(verdict, "elements there are", "are needed"),
            )


def rule_grid(launch: LaunchCommand, signature: Signature, sizes: LaunchSizes) -> Iterator[Problem]:
    """The grid is the one that the image declares, where it declares one."""
    if sizes.grid is None:
        return
    for axis, found, expected in zip(AXES, launch.grid, sizes.grid, strict=True):
        if not isinstance(found, int | Polynomial):
            continue
        verdict = compare_equal(found, expected)
        if isinstance(verdict, Fails):
            yield WrongGrid(
                launch.origin.span,
                *_common(launch, signature),
                axis,
                render(found),
                render(expected),
                _where(verdict, "it is", "is asked for"),
            )


def rule_requirements(launch: LaunchCommand, signature: Signature, sizes: LaunchSizes) -> Iterator[Problem]:
    """What the kernel relies on holds."""
    for requirement, (left, right) in zip(signature.requirements, sizes.requirements, strict=True):
        equal = requirement.relation is Relation.EQUAL
        # A size that only some builds choose, e.g. an odd head width, is for the build to refuse.
        if not isinstance(left, int) or not isinstance(right, int):
            continue
        if left != right if equal else left > right:
            text = " ".join(requirement.span.text.split()[1:])
            yield RequirementFails(
                launch.origin.span, *_common(launch, signature), text, render(left), render(right), requirement.span
            )


def place_of(slot: SlotValue) -> Span:
    """The `(cgArgument n)` of a slot; the slot's own span would hold all the slots after it as well."""
    return slot.argument.span if isinstance(slot.argument, ArgumentValue) else slot.span


def _common(launch: LaunchCommand, signature: Signature) -> tuple[str, Span, Origin]:
    return signature.name, signature.span, launch.origin


def _filled(signature: Signature, given: GivenSlots) -> Iterator[tuple[Slot, SlotValue]]:
    for slot in signature.slots:
        filled = given.values.get(slot.number)
        if filled is not None:
            yield slot, filled


def _planes(signature: Signature, given: GivenSlots) -> Iterator[tuple[Slot, SlotValue, PlaneType]]:
    for slot, filled in _filled(signature, given):
        if slot.kind is SlotKind.POINTER:
            type_ = type_of_value(filled.value)
            if isinstance(type_, PlaneType):
                yield slot, filled, type_


def _name(value: Value) -> str:
    if isinstance(value, PlaneValue):
        return plane_name(value)
    return "the plane given" if isinstance(value, Unknown) else "this"


def _where(verdict: Verdict, has: str, wanted: str) -> str:
    if not isinstance(verdict, Fails) or not verdict.counterexample:
        return ""
    return f"{describe_counterexample(verdict)}: {has} {verdict.left}, {verdict.right} {wanted}"
