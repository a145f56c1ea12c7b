"""Lays out boxes within boxes.

Receives sizes of leaves, the box around each leaf and each box, and lines between leaves; guarantees that every box
holds exactly what it should, and gives each line's corners from the bottom of one leaf to the top of another. A line
that leaves a box does so at its bottom, one that enters it comes in at its top; lines from one leaf share their way out
of a box, lines to one leaf their way in.

Boxes are laid out from the innermost ones outwards, so each is an item of known size in the one around it.
"""

from collections.abc import Sequence
from typing import TypeAlias

from attrs import define, field, frozen

from cgraph.view.layout.layers import layered
from cgraph.view.layout.model import OUTSIDE, Item, Net, Point, Route

PADDING = 12.0
Way: TypeAlias = tuple[list[int], int, list[int]]


@frozen
class Box:
    """A box to be filled: `parent` is the box around it, with a smaller index, None for the picture itself."""

    parent: int | None
    heading_width: float
    heading_height: float


@frozen
class Picture:
    """A finished layout: upper left corners and sizes of leaves and boxes, and the corners of each line."""

    width: float
    height: float
    leaves: tuple[Point, ...]
    boxes: tuple[tuple[Point, Item], ...]
    routes: tuple[Route, ...]


@define(eq=False)
class _Level:
    """One box while it is laid out; the picture itself is the last one.

    Args:
        leaves, boxes: directly in it.
        inside: for each leaf of a line, the box directly in this one that holds it; None where the leaf itself is.
        leaving: for each leaf that lines start from, the leaves in this box that they go to, and OUTSIDE.
        entering: leaves in it that lines come to from outside.
        origin: of its content, from its own corner, later from the picture's.
        places: of its leaves, as (leaf, OUTSIDE), and of its boxes, as (OUTSIDE, box), in its content.
        routes: of parts of lines, by the leaf that they start from (or OUTSIDE) and the one that they go to.
    """

    leaves: list[int] = field(factory=list)
    boxes: list[int] = field(factory=list)
    inside: dict[int, int | None] = field(factory=dict)
    leaving: dict[int, dict[int, None]] = field(factory=dict)
    entering: dict[int, None] = field(factory=dict)
    origin: Point = (0.0, 0.0)
    places: dict[tuple[int, int], Point] = field(factory=dict)
    routes: dict[tuple[int, int], Route] = field(factory=dict)


def nested(
    leaves: Sequence[Item], parents: Sequence[int | None], boxes: Sequence[Box], lines: Sequence[tuple[int, int]]
) -> Picture:
    """The layout of a picture.

    Args:
        leaves: in a legal order.
        parents: the box around each leaf, None outside.
        boxes: parents before children.
        lines: pairs of leaves, the one that is waited for first.
    """
    around = [len(boxes) if box.parent is None else box.parent for box in boxes]
    home = [len(boxes) if parent is None else parent for parent in parents]
    levels = [_Level() for _ in range(len(boxes) + 1)]
    for leaf, box in enumerate(home):
        levels[box].leaves.append(leaf)
    for box, outer in enumerate(around):
        levels[outer].boxes.append(box)
    ways = _ways(home, around, lines)
    for (start, end), (up, top, down) in zip(lines, ways, strict=True):
        _enter(levels, start, end, up, top, down)
    first = _first_leaves(levels, len(leaves))
    sizes: list[Item] = [Item(0.0, 0.0)] * len(levels)
    for box in range(len(boxes) - 1, -1, -1):
        inner = _fill(levels, box, leaves, sizes, first)
        heading = boxes[box]
        width = max(inner.width, heading.heading_width)
        sizes[box] = Item(width + 2 * PADDING, inner.height + heading.heading_height + PADDING, is_box=True)
        levels[box].origin = (PADDING + (width - inner.width) / 2, heading.heading_height)
    whole = _fill(levels, len(boxes), leaves, sizes, first)
    return _assembled(levels, sizes, len(leaves), whole, lines, ways)


def _ways(home: Sequence[int], around: Sequence[int], lines: Sequence[tuple[int, int]]) -> list[Way]:
    """For each line the boxes that it leaves, innermost first, the one that it runs in, and those that it enters."""
    root = len(around)
    depth = [0] * (root + 1)
    for box, outer in enumerate(around):
        depth[box] = depth[outer] + 1
    found = []
    for start, end in lines:
        up, down = home[start], home[end]
        left: list[int] = []
        entered: list[int] = []
        while up != down:
            if depth[up] >= depth[down]:
                left.append(up)
                up = around[up]
            else:
                entered.append(down)
                down = around[down]
        found.append((left, up, entered[::-1]))
    return found


def _enter(levels: list[_Level], start: int, end: int, up: list[int], top: int, down: list[int]) -> None:
    """Notes one line in each box that it passes."""
    inner: int | None = None
    for box in (*up, top):
        levels[box].inside[start] = inner
        levels[box].leaving.setdefault(start, {})[end if box == top else OUTSIDE] = None
        inner = box
    inner = None
    for box in (*reversed(down), top):
        levels[box].inside[end] = inner
        if box != top:
            levels[box].entering[end] = None
        inner = box


def _first_leaves(levels: list[_Level], count: int) -> list[int]:
    """The first leaf in each box; `count` in an empty one."""
    first = [count] * len(levels)
    for box in range(len(levels) - 2, -1, -1):
        level = levels[box]
        first[box] = min([*level.leaves[:1], *(first[inner] for inner in level.boxes)], default=count)
    return first


def _fill(levels: list[_Level], box: int, leaves: Sequence[Item], sizes: Sequence[Item], first: Sequence[int]) -> Item:
    """Lays out what is directly in a box; gives the size of its content."""
    level = levels[box]
    members = sorted([(leaf, OUTSIDE) for leaf in level.leaves] + [(first[inner], inner) for inner in level.boxes])
    place_of_leaf = {leaf: place for place, (leaf, inner) in enumerate(members) if inner == OUTSIDE}
    place_of_box = {inner: place for place, (_, inner) in enumerate(members) if inner != OUTSIDE}

    def port(leaf: int, way: tuple[int, int], end: int) -> tuple[int, float]:
        """The member that holds a leaf, and the x at which the leaf's line meets the member's edge."""
        inner = level.inside[leaf]
        if inner is None:
            return place_of_leaf[leaf], leaves[leaf].width / 2
        return place_of_box[inner], levels[inner].origin[0] + levels[inner].routes[way][end][0]

    nets: list[Net] = []
    keys: list[tuple[int, list[int]]] = []
    for start, ends in level.leaving.items():
        targets = [(OUTSIDE, 0.0) if end == OUTSIDE else port(end, (OUTSIDE, end), 0) for end in ends]
        nets.append(Net(*port(start, (start, OUTSIDE), -1), tuple(targets)))
        keys.append((start, list(ends)))
    for end in level.entering:
        nets.append(Net(OUTSIDE, 0.0, (port(end, (OUTSIDE, end), 0),)))
        keys.append((OUTSIDE, [end]))
    items = [leaves[leaf] if inner == OUTSIDE else sizes[inner] for leaf, inner in members]
    layout = layered(items, nets)
    for (source, targets_of), routes in zip(keys, layout.routes, strict=True):
        level.routes.update(((source, end), route) for end, route in zip(targets_of, routes, strict=True))
    level.places = {
        (leaf if inner == OUTSIDE else OUTSIDE, inner): place
        for (leaf, inner), place in zip(members, layout.places, strict=True)
    }
    return Item(layout.width, layout.height)


def _assembled(
    levels: list[_Level],
    sizes: Sequence[Item],
    leaf_count: int,
    whole: Item,
    lines: Sequence[tuple[int, int]],
    ways: Sequence[Way],
) -> Picture:
    """Everything in the coordinates of the picture, from the outermost box inwards."""
    root = len(levels) - 1
    corners: list[Point] = [(0.0, 0.0)] * root
    places: list[Point] = [(0.0, 0.0)] * leaf_count
    for box in (root, *range(root)):
        level = levels[box]
        if box != root:
            level.origin = _sum(corners[box], level.origin)
        for (leaf, inner), place in level.places.items():
            if inner == OUTSIDE:
                places[leaf] = _sum(level.origin, place)
            else:
                corners[inner] = _sum(level.origin, place)
    routes = []
    for (start, end), (up, top, down) in zip(lines, ways, strict=True):
        points: list[Point] = []
        for box in up:
            points += _moved(levels[box].routes[start, OUTSIDE], levels[box].origin)
        points += _moved(levels[top].routes[start, end], levels[top].origin)
        for box in down:
            points += _moved(levels[box].routes[OUTSIDE, end], levels[box].origin)
        routes.append(tuple(points))
    boxes = tuple(zip(corners, sizes[:root], strict=True))
    return Picture(whole.width, whole.height, tuple(places), boxes, tuple(routes))


def _sum(first: Point, second: Point) -> Point:
    return first[0] + second[0], first[1] + second[1]


def _moved(route: Route, origin: Point) -> Route:
    return tuple(_sum(point, origin) for point in route)
