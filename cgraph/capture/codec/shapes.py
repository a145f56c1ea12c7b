"""Shapes of launches: an image with its naturals, grid, block and shared memory, once for all launches that share them.

Receives launches; guarantees, when reading, shapes that the image allows: the naturals fit an int of a kernel, the
sizes follow from them as the signature says, and its requirements hold. Which planes a launch names is left to `nodes`.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from attrs import define, field, frozen

from cgraph.capture.codec import fields
from cgraph.capture.codec.images import terms_of_sizes
from cgraph.check.images import symbolic_sizes
from cgraph.check.values import LaunchSizes
from cgraph.core.arithmetic import DivisionByZero
from cgraph.core.naturals import Natural
from cgraph.core.signatures import Relation, SlotKind
from cgraph.graph.model import Argument, Image, LaunchNode
from cgraph.graph.rules_commands import BLOCK_THREADS, GRID_LIMITS, NATURAL_LIMIT, SHARED_LIMIT_BYTES

SHAPE_KEYS = ("image", "grid", "block", "shared_bytes", "naturals")
# Terms of sizes that reading a bundle evaluates; a program's launches differ in few naturals, so this is far away.
MOST_EVALUATED_TERMS = 50_000_000

ShapeKey = tuple[int, tuple[int, int, int], tuple[int, int, int], int, tuple[int, ...]]


@define(eq=False)
class ShapesWriter:
    """Collects shapes and gives their rows. `images` are those met so far, in the order of their first launch."""

    images: dict[Image, int] = field(factory=dict)
    _rows: dict[ShapeKey, int] = field(factory=dict)

    def row(self, node: LaunchNode) -> int:
        """Row of a launch's shape."""
        image = self.images.setdefault(node.image, len(self.images))
        slots = node.image.signature.slots
        naturals = tuple(
            value
            for slot, value in zip(slots, node.arguments, strict=True)
            if slot.kind is SlotKind.NATURAL and isinstance(value, int)
        )
        return self._rows.setdefault((image, node.grid, node.block, node.shared_bytes, naturals), len(self._rows))

    def data(self) -> dict[str, list[Any]]:
        """The table as columns."""
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(SHAPE_KEYS)
        plain = ([list(item) if isinstance(item, tuple) else item for item in column] for column in columns)
        return dict(zip(SHAPE_KEYS, plain, strict=True))


@frozen(eq=False)
class Shape:
    """What launches of one row have in common.

    Args:
        arguments: in slot order, None where a launch gives a plane or a float.
        pointers, floats: numbers of the slots of these kinds.
        extents: of each slot; sizes_bytes: of each pointer slot's part.
    """

    image: Image
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    pointers: tuple[int, ...]
    floats: tuple[int, ...]
    extents: tuple[tuple[int, ...], ...]
    sizes_bytes: tuple[int, ...]


def read_shapes(value: object, place: str, images: Sequence[Image]) -> tuple[Shape, ...]:
    """Shapes from columns. Raises FieldError."""
    rows, grids, blocks, shared, naturals = fields.record(value, place, SHAPE_KEYS)
    count = len(fields.integers(rows, f"{place}.image", 0, len(images) - 1))
    fields.integers(shared, f"{place}.shared_bytes", 0, SHARED_LIMIT_BYTES, count)
    for key, column in zip(("grid", "block", "naturals"), (grids, blocks, naturals), strict=True):
        fields.listing(column, f"{place}.{key}", count)
    terms = [terms_of_sizes(image.signature) for image in images]
    if sum(terms[row] for row in rows) > MOST_EVALUATED_TERMS:
        raise fields.FieldError(place, f"at most {MOST_EVALUATED_TERMS} terms to evaluate", "more")
    sizes_of = [symbolic_sizes(image.signature) for image in images]
    shapes = []
    for index, row in enumerate(rows):
        here = f"{place}.naturals.{index}"
        image = images[row]
        given = fields.integers(naturals[index], here, 0, NATURAL_LIMIT)
        wanted = sum(slot.kind is SlotKind.NATURAL for slot in image.signature.slots)
        if len(given) != wanted:
            raise fields.wrong(here, f"{wanted} naturals, one for each of the image's slots", given)
        try:
            sizes = sizes_of[row](*given)
        except DivisionByZero as error:
            raise fields.wrong(here, "naturals that no size divides by where they are 0", given) from error
        x, y, z = fields.integers(grids[index], f"{place}.grid.{index}", 1, GRID_LIMITS[0], 3)
        width, height, depth = fields.integers(blocks[index], f"{place}.block.{index}", 1, BLOCK_THREADS, 3)
        _check_sizes(sizes, image, f"{place}.{{}}.{index}", (x, y, z), (width, height, depth), shared[index])
        shapes.append(_shape(image, (x, y, z), given, sizes))
    return tuple(shapes)


def _check_sizes(
    sizes: LaunchSizes,
    image: Image,
    place: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int,
) -> None:
    """The launch is one that the signature allows. `place` has a gap for the field's name."""
    for key, expected, found in (
        ("grid", sizes.grid, grid),
        ("block", sizes.block, block),
        ("shared_bytes", sizes.shared_bytes, shared_bytes),
    ):
        if expected is not None and expected != found:
            raise fields.wrong(place.format(key), f"{expected}, as image {image.signature.name} says", found)
    for requirement, (left, right) in zip(image.signature.requirements, sizes.requirements, strict=True):
        holds = left == right if requirement.relation is Relation.EQUAL else _int(left) <= _int(right)
        if not holds:
            text = f"naturals with `{requirement.span.text}`, as image {image.signature.name} asks for"
            raise fields.FieldError(place.format("naturals"), text, f"{left} and {right}")


def _shape(image: Image, grid: tuple[int, int, int], given: Sequence[int], sizes: LaunchSizes) -> Shape:
    slots = image.signature.slots
    rest = iter(given)
    extents = tuple(tuple(map(_int, extent)) for extent in sizes.extents)
    x, y, z = map(_int, sizes.block)
    return Shape(
        image=image,
        grid=grid,
        block=(x, y, z),
        shared_bytes=_int(sizes.shared_bytes),
        arguments=tuple(next(rest) if slot.kind is SlotKind.NATURAL else None for slot in slots),
        pointers=tuple(slot.number for slot in slots if slot.kind is SlotKind.POINTER),
        floats=tuple(slot.number for slot in slots if slot.kind is SlotKind.FLOAT),
        extents=extents,
        sizes_bytes=tuple(
            prod(extents[slot.number]) * slot.element.size_bytes for slot in slots if slot.element is not None
        ),
    )


def _int(size: Natural) -> int:
    """A size of a launch whose naturals are all given."""
    if not isinstance(size, int):
        raise TypeError(f"a size is still symbolic: {size}")
    return size
