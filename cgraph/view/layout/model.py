"""What a layout of one box receives and gives.

Lengths are in the units of the picture (pixels of an SVG), x to the right and y down.
"""

from typing import TypeAlias

from attrs import frozen

Point: TypeAlias = tuple[float, float]
Route: TypeAlias = tuple[Point, ...]

OUTSIDE = -1  # as a source: a line comes in at the top; as a target: it leaves at the bottom


@frozen
class Item:
    """Something to be placed. Two boxes above each other are centred, whichever way the lines between them run."""

    width: float
    height: float
    is_box: bool = False


@frozen
class Net:
    """Lines from one place to several.

    Args:
        source: index of an item, or OUTSIDE; `source_x` from the item's left edge.
        targets: item (or OUTSIDE) and x from its left edge, for each line.
    """

    source: int
    source_x: float
    targets: tuple[tuple[int, float], ...]


@frozen
class Layered:
    """A layout of one box, its own corner at (0, 0).

    Args:
        places: upper left corner of each item.
        routes: for each net and each of its targets the corners of the line, top to bottom.
    """

    width: float
    height: float
    places: tuple[Point, ...]
    routes: tuple[tuple[Route, ...], ...]
