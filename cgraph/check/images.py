"""The rule of images: a declaration becomes a signature with sizes in normal form.

Natural slots are bound names in the image's formulas; they become symbols of kind SLOT, which a launch replaces.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeVar

from attrs import evolve

from cgraph.check.problems_declarations import (
    ItemGivenTwice,
    NoBlock,
    SlotDeclaredTwice,
    SlotNumberMissing,
    UnknownAlias,
)
from cgraph.check.rules import Rules
from cgraph.check.scope import Binder
from cgraph.check.values import ImageValue, LaunchSizes
from cgraph.core.elements import Element
from cgraph.core.naturals import Natural, Symbol, SymbolKind, product, substitute, symbol
from cgraph.core.quantities import Quantity
from cgraph.core.signatures import Requirement, Signature, Slot, SlotKind
from cgraph.core.trampoline import Rule
from cgraph.core.types import BaseType
from cgraph.diagnostics import Problem
from cgraph.syntax import tree

_Triple = tuple[Natural, Natural, Natural]
Item = TypeVar("Item")


def image_value(rules: Rules, declaration: tree.ImageDeclaration) -> Rule[tuple[ImageValue, bool]]:
    """The image's value, and whether its signature is without gaps, doubles and unknown names."""
    problems = (*_check_slots(declaration), *_check_items(declaration))
    for problem in problems:
        rules.world.report(problem)
    slots = sorted(_items(declaration, tree.SlotItem), key=lambda slot: slot.number)
    binders = [_bind(rules, slot) for slot in slots if slot.kind is SlotKind.NATURAL]
    checked_slots = []
    for slot in slots:
        extent = yield rules.sizes(slot.extent, declared=True)
        aliases = tuple(alias.text for alias in slot.aliases)
        checked_slots.append(
            Slot(
                slot.number,
                slot.name.text,
                slot.kind,
                slot.span,
                slot.element,
                slot.access,
                extent,
                slot.optional,
                aliases,
                half=slot.element is Element.HALF,
            )
        )
    constants = []
    for constant in _items(declaration, tree.ConstantItem):
        (value,) = yield rules.sizes((constant.value,), declared=True)
        constants.append((constant.name.text, value))
    grid: _Triple | None = None
    block: _Triple = (1, 1, 1)
    shared_bytes: Natural = 0
    for item in declaration.items:
        if isinstance(item, tree.GridItem):
            grid = _triple((yield rules.sizes(item.sizes, declared=True)))
        elif isinstance(item, tree.BlockItem):
            block = _triple((yield rules.sizes(item.sizes, declared=True)))
        elif isinstance(item, tree.SharedItem):
            (shared_bytes,) = yield rules.sizes((item.size_bytes,), declared=True)
    requirements = []
    for require in _items(declaration, tree.RequireItem):
        left, right = yield rules.sizes((require.left, require.right), declared=True)
        requirements.append(Requirement(left, require.relation, right, require.span))
    for binder in reversed(binders):
        rules.scope.unbind(binder)
    signature = Signature(
        name=declaration.name.text,
        file=declaration.file,
        entry=declaration.entry,
        slots=tuple(checked_slots),
        constants=tuple(constants),
        grid=grid,
        block=block,
        shared_bytes=shared_bytes,
        requirements=tuple(requirements),
        span=declaration.name.span,
    )
    return ImageValue(signature, symbolic_sizes(signature)), not problems


def symbolic_sizes(signature: Signature) -> Callable[..., LaunchSizes]:
    """How a launch's sizes follow from its naturals, with symbols. Raises DivisionByZero as formulas do."""
    symbols = natural_slots(signature)

    @cache
    def sizes(*naturals: Natural) -> LaunchSizes:
        values = dict(zip(symbols, naturals, strict=True))
        return map_sizes(signature, lambda size: substitute(size, values))

    return sizes


def natural_slots(signature: Signature) -> tuple[Symbol, ...]:
    """The symbols of a signature's natural slots, in their order."""
    return tuple(Symbol(SymbolKind.SLOT, slot.name) for slot in signature.slots if slot.kind is SlotKind.NATURAL)


def map_sizes(signature: Signature, fill: Callable[[Natural], Natural]) -> LaunchSizes:
    """All sizes of a signature, each put through a function."""
    x, y, z = signature.block
    extents = tuple(tuple(map(fill, slot.extent)) for slot in signature.slots)
    return LaunchSizes(
        extents=extents,
        elements=tuple(map(product, extents)),
        grid=None if signature.grid is None else _triple(tuple(map(fill, signature.grid))),
        block=(fill(x), fill(y), fill(z)),
        shared_bytes=fill(signature.shared_bytes),
        requirements=tuple((fill(item.left), fill(item.right)) for item in signature.requirements),
    )


def substitute_signature(signature: Signature, values: dict[Symbol, Natural]) -> Signature:
    """The signature with naturals put in for parameters."""
    sizes = map_sizes(signature, lambda size: substitute(size, values))
    slots = tuple(evolve(slot, extent=extent) for slot, extent in zip(signature.slots, sizes.extents, strict=True))
    requirements = tuple(
        evolve(item, left=left, right=right)
        for item, (left, right) in zip(signature.requirements, sizes.requirements, strict=True)
    )
    constants = tuple((name, substitute(value, values)) for name, value in signature.constants)
    return evolve(
        signature,
        slots=slots,
        constants=constants,
        grid=sizes.grid,
        block=sizes.block,
        shared_bytes=sizes.shared_bytes,
        requirements=requirements,
    )


def _bind(rules: Rules, slot: tree.SlotItem) -> Binder:
    value = symbol(SymbolKind.SLOT, slot.name.text)
    return rules.scope.bind(slot.name.text, Quantity.UNRESTRICTED, BaseType.NAT, value, slot.name.span)


def _items(declaration: tree.ImageDeclaration, kind: type[Item]) -> list[Item]:
    return [item for item in declaration.items if isinstance(item, kind)]


def _triple(sizes: tuple[Natural, ...]) -> _Triple:
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z


def _check_slots(declaration: tree.ImageDeclaration) -> Iterator[Problem]:
    """Slots are numbered without gaps or doubles; aliases name other pointers."""
    image = declaration.name.text
    slots = _items(declaration, tree.SlotItem)
    seen: dict[object, tree.SlotItem] = {}
    for slot in slots:
        for key, what in ((slot.number, str(slot.number)), (slot.name.text, f"`{slot.name.text}`")):
            if key in seen:
                yield SlotDeclaredTwice(slot.span, what, image, seen[key].span)
            seen.setdefault(key, slot)
    numbers = {slot.number for slot in slots}
    missing = next((number for number in range(len(numbers)) if number not in numbers), None)
    if missing is not None:
        yield SlotNumberMissing(declaration.name.span, image, missing)
    pointers = dict.fromkeys(slot.name.text for slot in slots if slot.kind is SlotKind.POINTER)
    for slot in slots:
        for alias in slot.aliases:
            if alias.text not in pointers or alias.text == slot.name.text:
                others = tuple(name for name in pointers if name != slot.name.text)
                yield UnknownAlias(alias.span, alias.text, image, others)


def _check_items(declaration: tree.ImageDeclaration) -> Iterator[Problem]:
    """What may be stated once is stated once, and the block is stated."""
    image = declaration.name.text
    singles = ((tree.GridItem, "grid"), (tree.BlockItem, "block"), (tree.SharedItem, "shared memory"))
    for kind, what in singles:
        stated = [item for item in declaration.items if isinstance(item, kind)]
        for again in stated[1:]:
            yield ItemGivenTwice(again.span, image, what, stated[0].span)
    names: dict[str, tree.ConstantItem] = {}
    for constant in _items(declaration, tree.ConstantItem):
        if constant.name.text in names:
            what = f"constant `{constant.name.text}`"
            yield ItemGivenTwice(constant.span, image, what, names[constant.name.text].span)
        names.setdefault(constant.name.text, constant)
    if not _items(declaration, tree.BlockItem):
        yield NoBlock(declaration.name.span, image)
