"""Nodes of imported graphs as plain data, and back.

Receives nodes; a node is a list of its type's name and its fields. Guarantees, when reading, fields of the right types
and in the ranges that any graph keeps; whether they fit the graph is left to `rules`.
"""

from collections.abc import Mapping
from typing import Any

from cgraph.backends.cuda.imported.attribute_names import NODE_ATTRIBUTES
from cgraph.backends.cuda.imported.model import (
    ChildGraphNode,
    CopySide,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ImportedNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    Place,
    Relocation,
)
from cgraph.capture.codec import fields

KERNEL, MEMSET, MEMCPY, EMPTY = "kernel", "memset", "memcpy", "empty"
CHILD, RECORD, WAIT = "child graph", "event record", "event wait"
COUNTS: Mapping[str, int] = {KERNEL: 8, MEMSET: 8, MEMCPY: 12, EMPTY: 1, CHILD: 2, RECORD: 2, WAIT: 2}
MOST_UINT = 2**32 - 1


def node_data(node: ImportedNode) -> list[Any]:
    """A node as plain data."""
    match node:
        case KernelNode():
            return [
                KERNEL,
                node.kernel,
                list(node.grid),
                list(node.block),
                node.shared_bytes,
                node.arguments.hex(),
                [[item.position, item.place.allocation, item.place.offset] for item in node.relocations],
                {name: value.hex() for name, value in node.attributes},
            ]
        case MemsetNode():
            rest = [node.pitch_bytes, node.value, node.element_bytes, node.width, node.height]
            return [MEMSET, node.target.allocation, node.target.offset, *rest]
        case MemcpyNode():
            return [
                MEMCPY,
                *_side_data(node.target),
                *_side_data(node.source),
                node.width_bytes,
                node.height,
                node.depth,
            ]
        case EmptyNode():
            return [EMPTY]
        case ChildGraphNode():
            return [CHILD, node.level]
        case EventRecordNode():
            return [RECORD, node.event]
        case EventWaitNode():
            return [WAIT, node.event]


def read_node(data: object, place: str) -> ImportedNode:
    """A node.

    Args:
        data: as `node_data` gives it.
        place: where it stands.

    Raises:
        FieldError: a field is not what its place asks for.
    """
    row = fields.listing(data, place)
    kind = row[0] if row else None
    if not isinstance(kind, str) or kind not in COUNTS:
        raise fields.wrong(place, f"a list that begins with one of {', '.join(COUNTS)}", kind)
    values = fields.listing(row, place, COUNTS[kind])[1:]
    if kind == KERNEL:
        return _read_kernel(values, place)
    numbers = fields.integers(values, place)
    match kind:
        case "memset":
            allocation, offset, *rest = numbers
            return MemsetNode(Place(allocation, offset), *rest)
        case "memcpy":
            return MemcpyNode(_read_side(numbers[:4]), _read_side(numbers[4:8]), *numbers[8:])
        case "child graph":
            return ChildGraphNode(*numbers)
        case "event record":
            return EventRecordNode(*numbers)
        case "event wait":
            return EventWaitNode(*numbers)
    return EmptyNode()


def _side_data(side: CopySide) -> tuple[int, int, int, int]:
    return side.place.allocation, side.place.offset, side.pitch_bytes, side.slice_rows


def _read_side(numbers: list[int]) -> CopySide:
    allocation, offset, pitch_bytes, slice_rows = numbers
    return CopySide(Place(allocation, offset), pitch_bytes, slice_rows)


def _read_kernel(values: list[Any], place: str) -> KernelNode:
    kernel, grid, block, shared_bytes, arguments, relocations, given = values
    grid_x, grid_y, grid_z = fields.integers(grid, f"{place}.grid", 1, MOST_UINT, 3)
    block_x, block_y, block_z = fields.integers(block, f"{place}.block", 1, MOST_UINT, 3)
    rows = [
        fields.integers(item, f"{place}.relocations.{number}", count=3)
        for number, item in enumerate(fields.listing(relocations, f"{place}.relocations"))
    ]
    if not isinstance(given, dict) or not given.keys() <= NODE_ATTRIBUTES.keys():
        raise fields.wrong(f"{place}.attributes", "an object with names of launch attributes", given)
    return KernelNode(
        fields.integer(kernel, f"{place}.kernel"),
        (grid_x, grid_y, grid_z),
        (block_x, block_y, block_z),
        fields.integer(shared_bytes, f"{place}.shared_bytes", 0, MOST_UINT),
        _read_bytes(arguments, f"{place}.arguments"),
        tuple(Relocation(position, Place(allocation, offset)) for position, allocation, offset in rows),
        tuple(
            (name, _read_bytes(given[name], f"{place}.attributes.{name}", size))
            for name, (_number, size) in NODE_ATTRIBUTES.items()
            if name in given
        ),
    )


def _read_bytes(value: object, place: str, count: int | None = None) -> bytes:
    """Bytes from lower-case hexadecimal digits."""
    if isinstance(value, str) and not set(value) - set("0123456789abcdef") and len(value) % 2 == 0:
        data = bytes.fromhex(value)
        if count is None or len(data) == count:
            return data
    raise fields.wrong(place, "bytes in hexadecimal" if count is None else f"{count} bytes in hexadecimal", value)
