"""The arguments of launches as columns: a row of the shapes, and what differs between launches of one shape.

Receives launches as the builder makes them; guarantees, when reading, arguments of the kinds that the slots ask for on
planes of the slots' element types. Accesses are not stored: they follow from arguments and signature, so they cannot
differ from them. Whether parts lie inside their planes is left to `verify`.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from cgraph.capture.codec import fields
from cgraph.capture.codec.places import NOTHING
from cgraph.capture.codec.shapes import Shape, ShapesWriter
from cgraph.core.elements import Element
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Slot, SlotKind
from cgraph.graph.model import Access, Argument, LaunchNode, Plane, PlaneArgument

LAUNCH_KEYS = ("shape", "planes", "offsets", "floats")


class Launch(NamedTuple):
    """What a launch has beyond what every node has."""

    shape: Shape
    arguments: tuple[Argument, ...]
    accesses: tuple[Access, ...]
    extents: tuple[tuple[int, ...], ...]


def launches_data(nodes: Sequence[LaunchNode], shapes: ShapesWriter) -> dict[str, list[Any]]:
    """Launches as columns: for each pointer slot plane and offset, `NOTHING` and 0 where it was left out; all floats.

    Raises:
        ValueError: a node's accesses are not those of its arguments, so no builder made it.
    """
    columns: dict[str, list[Any]] = {key: [] for key in LAUNCH_KEYS}
    for node in nodes:
        columns["shape"].append(shapes.row(node))
        expected: list[Access] = []
        for slot, value, extent in zip(node.image.signature.slots, node.arguments, node.extents, strict=True):
            if slot.kind is SlotKind.FLOAT and isinstance(value, float):
                columns["floats"].append(fields.number_data(value))
            elif slot.element is not None and slot.access is not None and isinstance(value, PlaneArgument):
                columns["planes"].append(value.plane)
                columns["offsets"].append(value.offset)
                stop = value.offset + prod(extent) * slot.element.size_bytes
                expected.append(Access(value.plane, value.offset, stop, slot.access))
            elif slot.optional and value is None:
                columns["planes"].append(NOTHING)
                columns["offsets"].append(0)
            elif slot.kind is not SlotKind.NATURAL or type(value) is not int:
                raise ValueError(f"node {node.index}: slot {slot.name} does not hold a {slot.kind.value}")
        if tuple(expected) != node.accesses:
            raise ValueError(f"node {node.index}: its accesses are not those of its arguments")
    return columns


def read_launches(
    value: object, place: str, count: int, planes: Sequence[Plane], shapes: Sequence[Shape]
) -> Iterator[Launch]:
    """So many launches from columns. Raises FieldError."""
    rows, on, offsets, floats = fields.record(value, place, LAUNCH_KEYS)
    fields.integers(rows, f"{place}.shape", 0, len(shapes) - 1, count)
    kinds = [_ShapeReader(shape) for shape in shapes]
    pointers = sum(kinds[row].pointers for row in rows)
    fields.integers(on, f"{place}.planes", NOTHING, len(planes) - 1, pointers)
    fields.integers(offsets, f"{place}.offsets", 0, count=pointers)
    reals = iter(fields.reals(floats, f"{place}.floats", sum(len(kinds[row].shape.floats) for row in rows)))
    place_of_pointers = f"{place}.planes"
    # What a slot asks of one plane at one offset is made once.
    known: dict[tuple[int, int, int], tuple[PlaneArgument, Access]] = {}

    def make_part(plane: int, offset: int, wanted: _Wanted) -> tuple[PlaneArgument, Access]:
        found = planes[plane]
        if found.element is not wanted.element:
            expected = f"a plane of {wanted.element.value}"
            raise fields.FieldError(place_of_pointers, expected, f"{found.name} of {found.element.value}")
        access = Access(plane, offset, offset + wanted.size_bytes, wanted.mode)
        part = known[plane, offset, id(wanted)] = (PlaneArgument(plane, offset), access)
        return part

    first = 0
    for row in rows:
        kind = kinds[row]
        stop = first + kind.pointers
        arguments: list[Argument] = list(kind.shape.arguments)
        accesses = []
        extents = kind.shape.extents
        for slot, wanted, plane, offset in zip(
            kind.slots, kind.wanted, on[first:stop], offsets[first:stop], strict=True
        ):
            if plane >= 0:
                part = known.get((plane, offset, id(wanted))) or make_part(plane, offset, wanted)
                arguments[slot.number] = part[0]
                accesses.append(part[1])
            elif not slot.optional or offset:
                name = f"{slot.name} of image {kind.shape.image.signature.name}"
                raise fields.FieldError(place_of_pointers, f"a plane for slot {name}", "none")
            else:
                extents = (*extents[: slot.number], (), *extents[slot.number + 1 :])
        for number in kind.shape.floats:
            arguments[number] = next(reals)
        first = stop
        yield Launch(kind.shape, tuple(arguments), tuple(accesses), extents)


class _Wanted(NamedTuple):
    """What a pointer slot of a shape asks of its plane; made once for each, so its identity tells it from others."""

    element: Element
    mode: AccessMode
    size_bytes: int


class _ShapeReader:
    """A shape with its pointer slots laid out for reading."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.slots: tuple[Slot, ...] = tuple(shape.image.signature.slots[number] for number in shape.pointers)
        self.pointers = len(self.slots)
        self.wanted = tuple(
            _Wanted(slot.element, slot.access, size_bytes)
            for slot, size_bytes in zip(self.slots, shape.sizes_bytes, strict=True)
            if slot.element is not None and slot.access is not None
        )
