"""Which scalars of a command may change after the graph was built.

A graph was verified with the sizes that follow from its naturals. A natural may change as long as no extent, no grid,
no block and no shared memory changes with it, and the image's requirements still hold.
"""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from cgraph.backends.commands import describe
from cgraph.core.naturals import DivisionByZero, Natural, Symbol, SymbolKind, substitute, symbols
from cgraph.core.signatures import Relation, Signature, Slot, SlotKind
from cgraph.graph.model import CommandGraph, FillNode, LaunchNode, Node
from cgraph.graph.rules_commands import NATURAL_LIMIT


def find_slot(node: LaunchNode, name: str) -> Slot | None:
    """The image's slot of a name."""
    return next((slot for slot in node.image.signature.slots if slot.name == name), None)


def command_reasons(node: Node, arguments: Sequence[object], slot: str, value: object) -> Iterator[str]:
    """Why a scalar of a command cannot get another value.

    Args:
        node: the command.
        arguments: that a launch has now; [] for other commands.
        slot: the name of a slot of its image; `value` for a fill.
        value: the new one.
    """
    if isinstance(node, LaunchNode):
        found = find_slot(node, slot)
        if found is None:
            names = ", ".join(slot.name for slot in node.image.signature.slots)
            yield f"{node.image.signature.name} has no slot {slot}; it has {names}"
        else:
            yield from scalar_reasons(node, arguments, found, value)
    elif not isinstance(node, FillNode):
        yield f"{describe(node)} has no scalars"
    elif slot != "value":
        yield f"a fill has a value and no {slot}"
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield "a fill's value is a number"


def with_scalar(node: Node, slot: str, value: float) -> Node:
    """A command with another value of a scalar, for which `command_reasons` found nothing."""
    if isinstance(node, FillNode):
        return evolve(node, value=value)
    if isinstance(node, LaunchNode):
        slots = node.image.signature.slots
        arguments = tuple(value if of.name == slot else old for of, old in zip(slots, node.arguments, strict=True))
        return evolve(node, arguments=arguments)
    raise TypeError(f"{describe(node)} has no scalars")


def graph_with(graph: CommandGraph, changed: Mapping[int, Node]) -> CommandGraph:
    """The graph with some commands replaced, by their index; the graph itself where none is."""
    if not changed:
        return graph
    return evolve(graph, nodes=tuple(changed.get(node.index, node) for node in graph.nodes))


def scalar_reasons(node: LaunchNode, arguments: Sequence[object], slot: Slot, value: object) -> Iterator[str]:
    """Why a launch cannot take another value in a natural or float slot.

    Args:
        node: the launch.
        arguments: that it has now.
        slot: of its image.
        value: the new one.
    """
    if slot.kind is SlotKind.POINTER:
        yield f"slot {slot.name} is a pointer: a plane is bound to other memory with rebind"
    elif slot.kind is SlotKind.FLOAT:
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"slot {slot.name} takes a float"
    elif isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= NATURAL_LIMIT:
        yield f"slot {slot.name} takes a natural up to {NATURAL_LIMIT}"
    else:
        yield from _size_reasons(node, arguments, slot, value)


def _size_reasons(node: LaunchNode, arguments: Sequence[object], slot: Slot, value: int) -> Iterator[str]:
    signature = node.image.signature
    old = {name: number for name, number in zip(_names(signature), arguments, strict=True) if isinstance(number, int)}
    new = {**old, slot.name: value}
    for what, natural in _sizes(signature):
        before, after = _value(natural, old), _value(natural, new)
        if before != after:
            yield f"{what} would be {after}; the graph was verified with {before}"
    for requirement in signature.requirements:
        left, right = _value(requirement.left, new), _value(requirement.right, new)
        holds = left == right if requirement.relation is Relation.EQUAL else _at_most(left, right)
        if not holds:
            yield f"the image asks for {' '.join(requirement.span.text.split())}, and {left} is no {right}"


def _names(signature: Signature) -> list[str]:
    return [slot.name for slot in signature.slots]


def _sizes(signature: Signature) -> Iterator[tuple[str, Natural]]:
    """Every size that a launch was verified with, and what it is."""
    for slot in signature.slots:
        for axis, natural in enumerate(slot.extent):
            yield f"axis {axis} of {slot.name}", natural
    for letter, natural in zip("xyz", signature.grid or (), strict=False):
        yield f"the grid in {letter}", natural
    for letter, natural in zip("xyz", signature.block, strict=True):
        yield f"the block in {letter}", natural
    yield "dynamic shared memory", signature.shared_bytes


def _value(natural: Natural, values: Mapping[str, int]) -> int | None:
    """A size as a number; None where it divides by 0."""
    found: dict[Symbol, Natural] = {
        symbol: values[symbol.name]
        for symbol in symbols(natural)
        if symbol.kind is SymbolKind.SLOT and symbol.name in values
    }
    try:
        value = substitute(natural, found)
    except DivisionByZero:
        return None
    return value if isinstance(value, int) else None


def _at_most(left: int | None, right: int | None) -> bool:
    return left is not None and right is not None and left <= right
