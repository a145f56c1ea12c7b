"""Which bytes copies and memsets move, out of the facts that their labels state."""

from collections.abc import Mapping

from attrs import frozen

from cgraph.view.dumps.commands import Transfer
from cgraph.view.dumps.launches import number
from cgraph.view.model import NodeKind


def transfer_of(kind: NodeKind, named: Mapping[str, str]) -> Transfer | None:
    """What is moved, as far as the facts say it; None for other commands.

    Args:
        kind: of the command.
        named: facts by their names, in lower case.
    """
    if kind == "memset":
        return _memset(named)
    if kind == "memcpy":
        return _copy_of_count(named) if "count" in named else _copy(named)
    return None


def _memset(named: Mapping[str, str]) -> Transfer:
    element, width, height, pitch = (_get(named, name) for name in ("elementsize", "width", "height", "pitch"))
    # HIP's records have a depth, others have not.
    depth = 1 if "depth" not in named else _get(named, "depth")
    if element is None or width is None or height is None or depth is None:
        return Transfer(destination=_get(named, "dptr"))
    rows = height * depth
    span = _span(width * element, rows, pitch)
    return Transfer(None, _get(named, "dptr"), width * element * rows, destination_span_bytes=span)


def _copy_of_count(named: Mapping[str, str]) -> Transfer:
    """A copy of bytes in one row, as HIP writes it."""
    count = _get(named, "count")
    return Transfer(_get(named, "src"), _get(named, "dst"), count, count, count)


def _copy(named: Mapping[str, str]) -> Transfer:
    width, height, depth = (_get(named, f"extent {name}") for name in ("width", "height", "depth"))
    moved = None if width is None or height is None or depth is None else width * height * depth
    source, destination = (_side(named, name, width, height, depth) for name in ("src", "dst"))
    return Transfer(source.start, destination.start, moved, source.span_bytes, destination.span_bytes)


@frozen
class _Side:
    """One side of a copy: its first byte, and how far it goes; None where a pitch or a height is missing."""

    start: int | None
    span_bytes: int | None


def _side(named: Mapping[str, str], name: str, width: int | None, height: int | None, depth: int | None) -> _Side:
    address = _get(named, f"{name}ptr ptr")
    if address is None:
        address = _get(named, f"{name}ptr")
    x, y, z = (_get(named, f"{name}pos {axis}") or 0 for axis in "xyz")
    pitch, rows = _get(named, f"{name}ptr pitch"), _get(named, f"{name}ptr ysize") or 0
    if address is None or width is None or height is None or depth is None:
        return _Side(address, None)
    if ((y or z) and not pitch) or ((z or depth > 1) and not rows):
        return _Side(None, None)
    slices = rows * (depth - 1) + height
    return _Side(address + (z * rows + y) * (pitch or 0) + x, _span(width, slices, pitch))


def _span(row_bytes: int, rows: int, pitch: int | None) -> int | None:
    """From the first byte to behind the last one; None where rows lie apart and nobody says how far."""
    if rows == 0 or row_bytes == 0:
        return 0
    if rows == 1:
        return row_bytes
    return pitch * (rows - 1) + row_bytes if pitch else None


def _get(named: Mapping[str, str], name: str) -> int | None:
    return number(named.get(name, ""))
