"""Lays out one box in layers: what waits stands below what it waits for.

Receives items in a legal order and the nets between them; guarantees that items do not overlap and that the lines of a
net run through gaps that are kept free for them. Lines of one net share their way for as long as they go together.
A line back to an earlier item, or through more than `LONGEST` layers, is drawn straight and no way is kept for it.

Method: layers by longest paths; then the places of each layer are sorted by, and moved towards, the mean of their
neighbours above and below in turn, each time as near as the order allows. Cost: layers passed by nets, times `SWEEPS`.
"""

from collections.abc import Sequence
from itertools import pairwise

from attrs import define, field

from cgraph.view.layout.isotonic import spread
from cgraph.view.layout.model import OUTSIDE, Item, Layered, Net, Point, Route

LAYER_GAP = 30.0
ITEM_GAP = 16.0
LINE_GAP = 7.0
SWEEPS = 6
LONGEST = 24


@define(eq=False)
class _Cell:
    """An item, or the place where a net passes a layer. `x` is its middle.

    A neighbour is a cell with the x, from each one's middle, where the line between them begins and ends.
    """

    layer: int
    width: float
    x: float = 0.0
    item: int = OUTSIDE
    is_box: bool = False
    above: list[tuple["_Cell", float, float]] = field(factory=list)
    below: list[tuple["_Cell", float, float]] = field(factory=list)


def layered(items: Sequence[Item], nets: Sequence[Net]) -> Layered:
    """The layout of one box.

    Args:
        items: in an order in which the nets run forward wherever they can.
        nets: at most one for each source is drawn well; more are allowed.
    """
    layer_of = _layers(len(items), nets)
    count = max(layer_of, default=-1) + 1
    cells = [
        _Cell(layer, item.width, item=place, is_box=item.is_box)
        for place, (layer, item) in enumerate(zip(layer_of, items, strict=True))
    ]
    ways = [_way(net, cells, count) for net in nets]
    rows: list[list[_Cell]] = [[] for _ in range(count)]
    for cell in cells:
        rows[cell.layer].append(cell)
    for way in ways:
        for cell in way or ():
            rows[cell.layer].append(cell)
    for row in rows:
        _place(row, [float(place) for place in range(len(row))])
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _settle(row, downwards=sweep % 2 == 0, sorting=sweep < SWEEPS - 2)
    left = min((cell.x - cell.width / 2 for row in rows for cell in row), default=0.0)
    right = max((cell.x + cell.width / 2 for row in rows for cell in row), default=0.0)
    tops, height = _row_tops(items, layer_of, count)
    lines = _Lines(tops, height, left)
    places = tuple((lines.left_of(cell), tops[cell.layer]) for cell in cells)
    routes = tuple(_routes(net, way, cells, items, lines) for net, way in zip(nets, ways, strict=True))
    return Layered(right - left, height, places, routes)


def _layers(count: int, nets: Sequence[Net]) -> list[int]:
    """The layer of each item: as far down as what it waits for asks; one that waits for nothing goes to its users."""
    after: list[list[int]] = [[] for _ in range(count)]
    waits = [False] * count
    for net in nets:
        for target, _ in net.targets:
            if target != OUTSIDE and net.source < target:
                waits[target] = True
                if net.source != OUTSIDE:
                    after[net.source].append(target)
    layers = [0] * count
    for item, targets in enumerate(after):
        for target in targets:
            layers[target] = max(layers[target], layers[item] + 1)
    for item in range(count - 1, -1, -1):
        if not waits[item] and after[item]:
            layers[item] = min(layers[target] for target in after[item]) - 1
    return layers


def _way(net: Net, cells: Sequence[_Cell], count: int) -> list[_Cell] | None:
    """The cells that a net passes, one in each layer from its source to its last target; None for a straight net."""
    first = -1 if net.source == OUTSIDE else cells[net.source].layer
    ends = [count if target == OUTSIDE else cells[target].layer for target, _ in net.targets]
    if max(ends) - first > LONGEST or any(end <= first for end in ends):
        return None
    way = [_Cell(layer, 0.0) for layer in range(first + 1, max(ends))]
    steps: list[tuple[_Cell, float]] = [(cell, 0.0) for cell in way]
    if net.source != OUTSIDE:
        source = cells[net.source]
        steps.insert(0, (source, net.source_x - source.width / 2))
    base = first if net.source != OUTSIDE else first + 1
    for (upper, upper_x), (lower, lower_x) in pairwise(steps):
        _join(upper, upper_x, lower, lower_x)
    for (target, target_x), end in zip(net.targets, ends, strict=True):
        if target != OUTSIDE and end - 1 >= base:
            upper, upper_x = steps[end - 1 - base]
            _join(upper, upper_x, cells[target], target_x - cells[target].width / 2)
    return way


def _join(upper: _Cell, upper_x: float, lower: _Cell, lower_x: float) -> None:
    """Makes two cells neighbours. A stack of boxes would drift sideways if each stood where its lines run straight."""
    if upper.is_box and lower.is_box:
        upper_x = lower_x = 0.0
    upper.below.append((lower, lower_x, upper_x))
    lower.above.append((upper, upper_x, lower_x))


def _settle(row: list[_Cell], *, downwards: bool, sorting: bool) -> None:
    """Moves the cells of a layer towards their neighbours, those on one side while they are still being sorted."""
    wishes = []
    for cell in row:
        neighbours = (cell.above if downwards else cell.below) if sorting else [*cell.above, *cell.below]
        total = sum(other.x + other_x - own_x for other, other_x, own_x in neighbours)
        wishes.append(total / len(neighbours) if neighbours else cell.x)
    if sorting:
        order = sorted(range(len(row)), key=wishes.__getitem__)
        row[:] = [row[place] for place in order]
        wishes = [wishes[place] for place in order]
    _place(row, wishes)


def _place(row: Sequence[_Cell], wishes: Sequence[float]) -> None:
    distances = [
        (left.width + right.width) / 2 + (LINE_GAP if left.width == right.width == 0 else ITEM_GAP)
        for left, right in pairwise(row)
    ]
    weights = [1.0 + len(cell.above) + len(cell.below) for cell in row]
    for cell, x in zip(row, spread(wishes, weights, distances), strict=True):
        cell.x = x


def _row_tops(items: Sequence[Item], layer_of: Sequence[int], count: int) -> tuple[list[float], float]:
    """The top of each layer, then the bottom of the last one."""
    heights = [0.0] * count
    for item, layer in zip(items, layer_of, strict=True):
        heights[layer] = max(heights[layer], item.height)
    tops, y = [], 0.0
    for height in heights:
        tops.append(y)
        y += height + LAYER_GAP
    return tops, max(y - LAYER_GAP, 0.0)


@define(eq=False)
class _Lines:
    """The y of the layers, and what to take from an x."""

    tops: list[float]
    height: float
    left: float

    def left_of(self, cell: _Cell) -> float:
        """The left edge of a cell."""
        return cell.x - cell.width / 2 - self.left

    def bottom(self, layer: int) -> float:
        """Where the gap below a layer begins."""
        return self.tops[layer + 1] - LAYER_GAP if layer + 1 < len(self.tops) else self.height


def _routes(
    net: Net, way: list[_Cell] | None, cells: Sequence[_Cell], items: Sequence[Item], lines: _Lines
) -> tuple[Route, ...]:
    """The corners of each line: straight through layers, free in the gaps between them."""
    start: list[Point] = []
    if net.source != OUTSIDE:
        source = cells[net.source]
        x = lines.left_of(source) + net.source_x
        start = [(x, lines.tops[source.layer] + items[net.source].height), (x, lines.bottom(source.layer))]
    found = []
    for target, target_x in net.targets:
        points = list(start)
        end: Point | None = None
        if target != OUTSIDE:
            end = (lines.left_of(cells[target]) + target_x, lines.tops[cells[target].layer])
        for cell in way or ():
            if end is not None and lines.tops[cell.layer] >= end[1]:
                break
            x = cell.x - lines.left
            points += [(x, lines.tops[cell.layer]), (x, lines.bottom(cell.layer))]
        if not points:  # from outside to the first layer, or straight
            points = [(end[0] if end is not None else 0.0, 0.0)]
        if end is None:
            end = (points[-1][0], lines.height)
        found.append((*points, end))
    return tuple(found)
