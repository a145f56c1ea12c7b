"""Layouts: nothing overlaps, boxes hold what they should, lines run from bottom to top without leaving their way."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgraph.view.layout.isotonic import spread
from cgraph.view.layout.layers import LONGEST, layered
from cgraph.view.layout.model import OUTSIDE, Item, Net, Point
from cgraph.view.layout.nested import Box, nested

NUMBERS = st.floats(-100, 100)


@given(st.lists(st.tuples(NUMBERS, st.floats(0.1, 10), st.floats(0, 20)), min_size=1, max_size=8))
def test_spread_keeps_distances_and_no_small_move_is_better(rows: list[tuple[float, float, float]]) -> None:
    wishes, weights = [row[0] for row in rows], [row[1] for row in rows]
    distances = [row[2] for row in rows[1:]]
    places = spread(wishes, weights, distances)

    def cost(tried: Sequence[float]) -> float:
        return float(sum(w * (x - wish) ** 2 for x, wish, w in zip(tried, wishes, weights, strict=True)))

    def allowed(tried: Sequence[float]) -> bool:
        return all(b - a >= d - 1e-9 for a, b, d in zip(tried, tried[1:], distances, strict=False))

    assert len(places) == len(wishes)
    assert allowed(places)
    generator = np.random.default_rng(0)
    for _ in range(40):
        tried = [x + step for x, step in zip(places, generator.normal(size=len(places)) * 0.5, strict=True)]
        for position in range(1, len(tried)):
            tried[position] = max(tried[position], tried[position - 1] + distances[position - 1])
        assert cost(tried) >= cost(places) - 1e-6


def test_spread_by_hand() -> None:
    assert spread([0, 0], [1, 1], [4]) == [-2, 2]
    assert spread([0, 0], [3, 1], [4]) == [-1, 3]
    assert spread([0, 10], [1, 1], [4]) == [0, 10]
    assert spread([], [], []) == []


def overlap(first: tuple[Point, Item], second: tuple[Point, Item]) -> bool:
    ((x, y), size), ((other_x, other_y), other) = first, second
    return (
        x < other_x + other.width - 1e-6
        and other_x < x + size.width - 1e-6
        and y < other_y + other.height - 1e-6
        and other_y < y + size.height - 1e-6
    )


@st.composite
def pictures(draw: st.DrawFn) -> tuple[list[Item], list[int | None], list[Box], list[tuple[int, int]]]:
    boxes = []
    for number in range(draw(st.integers(0, 6))):
        parent = draw(st.none() | st.integers(0, number - 1)) if number else None
        boxes.append(Box(parent, draw(st.floats(0, 200)), 20.0))
    count = draw(st.integers(0, 14))
    leaves = [Item(draw(st.floats(10, 200)), draw(st.floats(10, 60))) for _ in range(count)]
    around = st.none() | st.integers(0, len(boxes) - 1) if boxes else st.none()
    parents = [draw(around) for _ in range(count)]
    pairs = list(combinations(range(count), 2))
    lines = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return leaves, parents, boxes, lines


@given(pictures())
def test_nested_pictures(picture: tuple[list[Item], list[int | None], list[Box], list[tuple[int, int]]]) -> None:
    leaves, parents, boxes, lines = picture
    made = nested(leaves, parents, boxes, lines)
    placed: dict[tuple[str, int], tuple[Point, Item]] = {
        ("leaf", number): (place, leaf) for number, (place, leaf) in enumerate(zip(made.leaves, leaves, strict=True))
    }
    placed |= {("box", number): box for number, box in enumerate(made.boxes)}
    around = {("leaf", number): parent for number, parent in enumerate(parents)}
    around |= {("box", number): box.parent for number, box in enumerate(boxes)}
    for first, second in combinations(placed, 2):
        if around[first] == around[second]:
            assert not overlap(placed[first], placed[second])
    for what, ((x, y), size) in placed.items():
        outer_place, outer = (0.0, 0.0), Item(made.width, made.height)
        parent = around[what]
        if parent is not None:
            outer_place, outer = made.boxes[parent]
        assert x >= outer_place[0] - 1e-6
        assert y >= outer_place[1] - 1e-6
        assert x + size.width <= outer_place[0] + outer.width + 1e-6
        assert y + size.height <= outer_place[1] + outer.height + 1e-6
    for (start, end), route in zip(lines, made.routes, strict=True):
        (x, y), (end_x, end_y) = made.leaves[start], made.leaves[end]
        assert route[0] == pytest.approx((x + leaves[start].width / 2, y + leaves[start].height))
        assert route[-1] == pytest.approx((end_x + leaves[end].width / 2, end_y))


def test_what_waits_stands_below() -> None:
    items = [Item(50, 20)] * 4
    nets = [Net(0, 25, ((1, 25), (3, 25))), Net(1, 25, ((3, 25),)), Net(2, 25, ((3, 25),))]
    layout = layered(items, nets)
    heights = [y for _, y in layout.places]
    assert heights[0] < heights[1] < heights[3]
    assert heights[2] == heights[1]  # it waits for nothing, so it stands just above the one that needs it


def test_a_long_line_passes_beside_what_it_does_not_touch() -> None:
    items = [Item(50, 20)] * 5
    nets = [Net(number, 25, ((number + 1, 25),)) for number in range(4)] + [Net(0, 25, ((4, 25),))]
    layout = layered(items, nets)
    (long,) = layout.routes[4]
    for place in layout.places[1:4]:
        for x, y in long:
            assert not (place[0] < x < place[0] + 50 and place[1] - 1 <= y <= place[1] + 21)


def test_a_line_longer_than_most_keeps_no_way() -> None:
    count = LONGEST + 3
    chain = [Net(number, 5, ((number + 1, 5),)) for number in range(count - 1)]
    layout = layered([Item(10, 10)] * count, [*chain, Net(0, 5, ((count - 1, 5),))])
    assert layout.width == pytest.approx(10)
    assert len(layout.routes[-1][0]) <= 3


def test_lines_from_outside_and_to_outside() -> None:
    layout = layered([Item(50, 20), Item(50, 20)], [Net(OUTSIDE, 0, ((1, 10),)), Net(0, 25, ((1, 25), (OUTSIDE, 0)))])
    (entering,) = layout.routes[0]
    inner, leaving = layout.routes[1]
    assert entering[0][1] == 0
    assert entering[-1] == pytest.approx((layout.places[1][0] + 10, layout.places[1][1]))
    assert inner[-1] == pytest.approx((layout.places[1][0] + 25, layout.places[1][1]))
    assert leaving[-1][1] == pytest.approx(layout.height)


def test_deep_boxes_need_no_recursion() -> None:
    depth = 3000
    boxes = [Box(None if number == 0 else number - 1, 0.0, 10.0) for number in range(depth)]
    made = nested([Item(10, 10), Item(10, 10)], [None, depth - 1], boxes, [(0, 1)])
    assert made.height > depth * 10
