"""The tree of phases: rows, repeats and sums, by facts worked out by hand."""

import attrs
import pytest

from cgraph.pipeline import compile_program
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.view.contents import contents_of
from cgraph.view.model import View, ViewNode, ViewPhase
from cgraph.view.phase_tree import MOST_DEPTH, PhaseTree, phase_tree
from cgraph.view.totals import Totals
from tests.support.graphs import GraphMaker
from tests.support.stacked_program import STACKED
from tests.support.views import small_graph, view_of

BYTES = 64 * 4


def stacked(layers: int = 3, order: Order = Order.DATAFLOW) -> View:
    graph = compile_program(Source("stacked.cg", STACKED), {"layers": layers}).graph
    return view_of(graph, order)


def outline(tree: PhaseTree) -> list[tuple[int, str, int, str | None, int]]:
    return [(row.depth, row.title, row.times, row.loop, row.totals.commands) for row in tree.rows]


def test_equal_phases_in_a_row_are_one_row() -> None:
    tree = phase_tree(stacked())
    assert outline(tree) == [
        (0, "the beginning", 1, None, 1),
        (0, "one layer", 3, "l = 0 … 2", 9),
        (1, "its first half", 1, None, 3),
        (1, "its second half", 1, None, 6),
        (0, "(no phase)", 1, None, 1),
    ]
    assert [row.is_last for row in tree.rows] == [False, False, False, True, True]


def test_sums_are_of_all_repeats() -> None:
    tree = phase_tree(stacked())
    _, layer, half, rest, _ = (row.totals for row in tree.rows)
    # One layer: a sum that reads one plane twice and writes one, a fill, a sum of two planes.
    assert (half.read_bytes, half.written_bytes) == (3 * 2 * BYTES, 3 * BYTES)
    assert (rest.read_bytes, rest.written_bytes) == (3 * 2 * BYTES, 3 * 2 * BYTES)
    assert layer.read_bytes == 3 * 4 * BYTES
    assert layer.cost_us == pytest.approx((half.cost_us or 0) + (rest.cost_us or 0))
    assert tree.whole.commands == 11
    assert sum(row.totals.commands for row in tree.rows if row.depth == 0) == 11
    assert sum(row.totals.share_of(tree.whole, timed=False) or 0 for row in tree.rows if row.depth == 0) == (
        pytest.approx(1.0)
    )


def test_commands_have_rows_of_their_own_where_they_are_asked_for() -> None:
    assert outline(phase_tree(stacked(), commands=True)) == [
        (0, "the beginning", 1, None, 1),
        (1, "copy", 1, None, 1),
        (0, "one layer", 3, "l = 0 … 2", 9),
        (1, "its first half", 1, None, 3),
        (2, "add", 1, None, 3),
        (1, "its second half", 1, None, 6),
        (2, "fill with 0.5", 1, None, 3),
        (2, "add", 1, None, 3),
        (0, "copy", 1, None, 1),
    ]


def test_depth_leaves_out_rows_and_no_numbers() -> None:
    tree = phase_tree(stacked(), depth=1)
    assert outline(tree) == [
        (0, "the beginning", 1, None, 1),
        (0, "one layer", 3, "l = 0 … 2", 9),
        (0, "(no phase)", 1, None, 1),
    ]


def test_layers_that_differ_are_not_folded() -> None:
    view = stacked(4)
    odd = next(number for number, node in enumerate(view.nodes) if node.phase == 5)
    nodes = list(view.nodes)
    nodes[odd] = attrs.evolve(nodes[odd], grid=(9, 1, 1))
    tree = phase_tree(attrs.evolve(view, nodes=tuple(nodes)), depth=1)
    assert [(row.title, row.times) for row in tree.rows] == [
        ("the beginning", 1),
        ("one layer", 1),
        ("one layer", 1),
        ("one layer", 2),
        ("(no phase)", 1),
    ]


def test_phases_that_repeat_together_are_a_row_with_rows_inside() -> None:
    maker = GraphMaker()
    for layer in range(3):
        with maker.call(f"l = {layer}", 50):
            with maker.phase("a"):
                maker.fill(maker.plane(f"x {layer}", 4))
            with maker.phase("b"):
                maker.fill(maker.plane(f"y {layer}", 4), value=1.0)
    tree = phase_tree(view_of(maker.graph()))
    assert outline(tree) == [
        (0, "2 phases, repeated", 3, "l = 0 … 2", 6),
        (1, "A", 1, None, 3),
        (1, "B", 1, None, 3),
    ]


def test_repeats_of_another_thing_than_a_loop_name_no_index() -> None:
    maker = GraphMaker()
    for number, text in enumerate(("first", "second")):
        with maker.call(text, 50), maker.phase("a"):
            maker.fill(maker.plane(f"x {number}", 4))
    (row,) = phase_tree(view_of(maker.graph())).rows
    assert (row.times, row.loop) == (2, None)


def test_a_view_without_boxes_lists_its_commands() -> None:
    view = View("t", "dump", nodes=(ViewNode("unknown", "a"), ViewNode("unknown", "b")), sequence=(1, 0))
    tree = phase_tree(view)
    assert [row.title for row in tree.rows] == ["b", "a"]
    assert tree.whole == Totals(2)


def test_what_is_unknown_stays_unknown() -> None:
    nodes = (ViewNode("memset", "a", read_bytes=0, written_bytes=8), ViewNode("unknown", "b"))
    whole = phase_tree(View("t", "dump", nodes=nodes, sequence=(0, 1))).whole
    assert whole == Totals(2, 0, 8, None, None, None)
    assert whole.share_of(whole, timed=False) is None


def test_measured_times_are_added_up() -> None:
    tree = phase_tree(view_of(small_graph(), elapsed_ms=(1.0, 2.0, 0.0, 3.0, 0.5)))
    outer, inner, loose = tree.rows
    assert (outer.totals.elapsed_ms, inner.totals.elapsed_ms, loose.totals.elapsed_ms) == (3.0, 2.0, 3.5)
    assert inner.totals.share_of(tree.whole, timed=True) == pytest.approx(2.0 / 6.5)


def test_barriers_are_no_commands() -> None:
    maker = GraphMaker()
    for phase in ("first", "second"):
        with maker.phase(phase):
            for number in range(30):
                maker.fill(maker.plane(f"{phase} {number}", 1))
    view = view_of(maker.graph(), Order.PHASE)
    assert any("barrier" in node.flags for node in view.nodes)
    assert outline(phase_tree(view)) == [(0, "First", 1, None, 30), (0, "Second", 1, None, 30)]


def test_empty_boxes_come_last() -> None:
    phases = (ViewPhase("e", "empty", None), ViewPhase("f", "full", None), ViewPhase("i", "inner", 1))
    view = View("t", "dump", phases=phases, nodes=(ViewNode("empty", "n", phase=1),), sequence=(0,))
    assert outline(phase_tree(view)) == [(0, "full", 1, None, 1), (1, "inner", 1, None, 0), (0, "empty", 1, None, 0)]
    assert contents_of(view).first_nodes == (None, 0, None)


def test_boxes_nested_deep() -> None:
    count = 5000
    phases = tuple(ViewPhase("p", "p", None if number == 0 else number - 1) for number in range(count))
    view = View("t", "dump", phases=phases, nodes=(ViewNode("empty", "n", phase=count - 1),), sequence=(0,))
    tree = phase_tree(view)
    assert [row.depth for row in tree.rows] == list(range(MOST_DEPTH))
    assert all(row.totals.commands == 1 for row in tree.rows)
