"""Commands as columns: the kind of each, then one table for each kind.

Receives nodes as the builder makes them; guarantees, when reading, nodes whose indices are in range and whose accesses
lie in the order of the slots. What holds of a graph as a whole is left to `verify`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from cgraph.capture.codec import fields
from cgraph.capture.codec.launches import launches_data, read_launches
from cgraph.capture.codec.places import NOTHING, PlacesWriter
from cgraph.capture.codec.shapes import Shape, ShapesWriter
from cgraph.core.origins import Origin
from cgraph.core.roles import AccessMode
from cgraph.graph.model import Access, CommandGraph, CopyNode, FillNode, JoinNode, LaunchNode, Node, Plane

LAUNCH, FILL, COPY, JOIN = "lfcj"
NODE_KEYS = ("kinds", "phase", "origin", "launches", "fills", "copies")
FILL_KEYS = ("plane", "start", "stop", "value")
COPY_KEYS = ("to_plane", "to_start", "from_plane", "from_start", "size_bytes")


def nodes_data(graph: CommandGraph, shapes: ShapesWriter, places: PlacesWriter) -> dict[str, Any]:
    """Nodes as columns; their origins join the places, their images and sizes the shapes.

    Raises:
        ValueError: a node's accesses are not those of its kind, so no builder made it.
    """
    kinds: list[str] = []
    launches: list[LaunchNode] = []
    fills: list[tuple[Any, ...]] = []
    copies: list[tuple[Any, ...]] = []
    for node in graph.nodes:
        match node:
            case LaunchNode():
                kinds.append(LAUNCH)
                launches.append(node)
            case FillNode(accesses=(part,)):
                kinds.append(FILL)
                fills.append((part.plane, part.start, part.stop, fields.number_data(float(node.value))))
            case CopyNode(accesses=(to, source)) if to.stop - to.start == source.stop - source.start:
                kinds.append(COPY)
                copies.append((to.plane, to.start, source.plane, source.start, to.stop - to.start))
            case JoinNode(accesses=()):
                kinds.append(JOIN)
            case _:
                raise ValueError(f"node {node.index}: its accesses are not those of its kind")
    return {
        "kinds": "".join(kinds),
        "phase": [NOTHING if node.phase is None else node.phase for node in graph.nodes],
        "origin": [places.origin(node.origin) for node in graph.nodes],
        "launches": launches_data(launches, shapes),
        "fills": _columns(FILL_KEYS, fills),
        "copies": _columns(COPY_KEYS, copies),
    }


def read_nodes(
    value: object, place: str, planes: Sequence[Plane], phases: int, origins: Sequence[Origin], shapes: Sequence[Shape]
) -> tuple[Node, ...]:
    """Nodes from columns, in program order.

    Args:
        value: plain data.
        place: where it stands.
        planes: of the graph.
        phases: how many there are.
        origins: by row.
        shapes: by row.

    Raises:
        FieldError: a field is not what its place asks for.
    """
    kinds, phase_rows, origin_rows, launches, fills, copies = fields.record(value, place, NODE_KEYS)
    if not isinstance(kinds, str) or not set(kinds) <= {LAUNCH, FILL, COPY, JOIN}:
        raise fields.wrong(f"{place}.kinds", "a text of the letters l, f, c and j", kinds)
    fields.integers(phase_rows, f"{place}.phase", NOTHING, phases - 1, len(kinds))
    fields.integers(origin_rows, f"{place}.origin", 0, len(origins) - 1, len(kinds))
    to_launch = read_launches(launches, f"{place}.launches", kinds.count(LAUNCH), planes, shapes)
    to_fill = _read_fills(fills, f"{place}.fills", kinds.count(FILL), len(planes))
    to_copy = _read_copies(copies, f"{place}.copies", kinds.count(COPY), len(planes))
    nodes: list[Node] = []
    for index, (kind, phase_row, origin_row) in enumerate(zip(kinds, phase_rows, origin_rows, strict=True)):
        phase, origin = None if phase_row == NOTHING else phase_row, origins[origin_row]
        if kind == LAUNCH:
            shape, arguments, accesses, extents = next(to_launch)
            sizes = shape.grid, shape.block, shape.shared_bytes
            nodes.append(LaunchNode(index, phase, origin, accesses, shape.image, *sizes, arguments, extents))
        elif kind == FILL:
            access, filling = next(to_fill)
            nodes.append(FillNode(index, phase, origin, (access,), filling))
        elif kind == COPY:
            nodes.append(CopyNode(index, phase, origin, next(to_copy)))
        else:
            nodes.append(JoinNode(index, phase, origin))
    for rest in (to_launch, to_fill, to_copy):
        next(rest, None)  # a table of no commands is read too
    return tuple(nodes)


def _read_fills(value: object, place: str, count: int, planes: int) -> Iterator[tuple[Access, float]]:
    on, starts, stops, values = fields.record(value, place, FILL_KEYS)
    fields.integers(on, f"{place}.plane", 0, planes - 1, count)
    fields.integers(starts, f"{place}.start", count=count)
    fields.integers(stops, f"{place}.stop", count=count)
    fillings = fields.reals(values, f"{place}.value", count)
    for row, (plane, start, stop, filling) in enumerate(zip(on, starts, stops, fillings, strict=True)):
        if start > stop:
            raise fields.wrong(f"{place}.stop.{row}", f"at least the start, {start}", stop)
        yield Access(plane, start, stop, AccessMode.WRITE), filling


def _read_copies(value: object, place: str, count: int, planes: int) -> Iterator[tuple[Access, Access]]:
    columns = fields.record(value, place, COPY_KEYS)
    for key, column in zip(COPY_KEYS, columns, strict=True):
        fields.integers(column, f"{place}.{key}", 0, planes - 1 if key.endswith("plane") else fields.LARGEST, count)
    for to, to_start, source, source_start, size_bytes in zip(*columns, strict=True):
        yield (
            Access(to, to_start, to_start + size_bytes, AccessMode.WRITE),
            Access(source, source_start, source_start + size_bytes, AccessMode.READ),
        )


def _columns(keys: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {key: [row[column] for row in rows] for column, key in enumerate(keys)}
