"""The items of an image declaration.

Sizes in them may use the image's own natural slots, by `reference("m")`, and the program's parameters.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import evolve, frozen

from cgraph.core.elements import Element
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Relation, SlotKind
from cgraph.embed.expressions import UNPLACED, Natural, checked_name, natural
from cgraph.syntax import tree


@frozen(eq=False)
class Item:
    """An item and its sizes; `make` puts the sizes, perhaps with variables renamed, and a slot's number in."""

    sizes: tuple[tree.Term, ...]
    make: Callable[[tuple[tree.Term, ...], int], tree.ImageItem]
    is_slot: bool = False


Sizes: TypeAlias = Natural | Sequence[Natural]


def pointer_slot(
    name: str,
    access: AccessMode | str,
    element: Element | str,
    extent: Sequence[Natural],
    *,
    optional: bool = False,
    aliases: Sequence[str] = (),
) -> Item:
    """A pointer to a plane's first element.

    Args:
        name: of the slot.
        access: what the kernel does with the plane.
        element: what one element is.
        extent: what the kernel touches, row-major, in elements.
        optional: it may be left out; the kernel then gets null.
        aliases: slots that may name the same bytes.
    """
    slot = tree.SlotItem(
        0,
        tree.Name(checked_name(name), UNPLACED),
        SlotKind.POINTER,
        AccessMode(access),
        Element(element),
        (),
        optional,
        tuple(tree.Name(checked_name(alias), UNPLACED) for alias in aliases),
        UNPLACED,
    )
    return Item(_terms(extent), lambda sizes, number: evolve(slot, number=number, extent=sizes), is_slot=True)


def natural_slot(name: str) -> Item:
    """A natural, 32 bits with a sign in the kernel."""
    return _number_slot(name, SlotKind.NATURAL)


def float_slot(name: str) -> Item:
    """A float, f32 in the kernel."""
    return _number_slot(name, SlotKind.FLOAT)


def constant(name: str, value: Natural) -> Item:
    """A size that the kernel is compiled with."""
    name_node = tree.Name(checked_name(name), UNPLACED)
    return Item(_terms(value), lambda sizes, _: tree.ConstantItem(name_node, sizes[0], UNPLACED))


def grid(sizes: Sizes) -> Item:
    """The blocks in x, y and z that a launch must ask for; sizes left out are 1."""
    return Item(_terms(sizes), lambda terms, _: tree.GridItem(terms, UNPLACED))


def block(sizes: Sizes) -> Item:
    """The threads of a block in x, y and z; sizes left out are 1."""
    return Item(_terms(sizes), lambda terms, _: tree.BlockItem(terms, UNPLACED))


def shared(size_bytes: Natural) -> Item:
    """Dynamic shared memory of a block, in bytes."""
    return Item(_terms(size_bytes), lambda terms, _: tree.SharedItem(terms[0], UNPLACED))


def require_equal(left: Natural, right: Natural) -> Item:
    """A condition on sizes that the kernel relies on: they are equal."""
    return _requirement(left, Relation.EQUAL, right)


def require_at_most(left: Natural, right: Natural) -> Item:
    """A condition on sizes that the kernel relies on: left is at most right."""
    return _requirement(left, Relation.AT_MOST, right)


def _requirement(left: Natural, relation: Relation, right: Natural) -> Item:
    return Item(_terms((left, right)), lambda terms, _: tree.RequireItem(terms[0], relation, terms[1], UNPLACED))


def _number_slot(name: str, kind: SlotKind) -> Item:
    slot = tree.SlotItem(0, tree.Name(checked_name(name), UNPLACED), kind, None, None, (), False, (), UNPLACED)
    return Item((), lambda _, number: evolve(slot, number=number), is_slot=True)


def _terms(sizes: Sizes) -> tuple[tree.Term, ...]:
    if isinstance(sizes, Sequence):
        return tuple(natural(size).term for size in sizes)
    return (natural(sizes).term,)
