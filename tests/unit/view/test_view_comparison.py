"""Comparison of views: what was changed by hand is what is found."""

from collections import Counter

import attrs
import pytest

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.view.comparison import compare_views
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import Pairing, View
from cgraph.view.references import first_wrong_reference
from tests.support.graphs import GraphMaker
from tests.support.views import small_graph, view_of

LAYER = programs_directory() / "layer_backward.cg"


def fills(*planes: str, sizes: dict[str, int] | None = None) -> CommandGraph:
    maker = GraphMaker()
    for name in planes:
        maker.fill(maker.plane(name, (sizes or {}).get(name, 4), Role.OUTPUT))
    return maker.graph()


def pairs(before: View, after: View) -> list[tuple[str, int | None, int | None]]:
    compared = compare_views(before, after)
    assert first_wrong_reference(compared) is None
    assert compared.comparison is not None
    return [(pair.status, pair.left, pair.right) for pair in compared.comparison.nodes]


def test_a_graph_and_itself_are_the_same() -> None:
    view = view_of(small_graph())
    comparison = compare_views(view, view).comparison
    assert comparison is not None
    assert comparison.nodes == tuple(Pairing("same", number, number) for number in range(5))
    assert comparison.planes == tuple(Pairing("same", number, number) for number in range(3))
    assert comparison.other == view


def test_one_command_more_is_one_addition() -> None:
    before, after = view_of(fills("a", "b", "c")), view_of(fills("a", "b", "new", "c"))
    assert pairs(before, after) == [("same", 0, 0), ("same", 1, 1), ("added", None, 2), ("same", 2, 3)]
    assert pairs(after, before) == [("same", 0, 0), ("same", 1, 1), ("removed", 2, None), ("same", 3, 2)]


def test_a_plane_of_another_size_changes_what_touches_it() -> None:
    compared = compare_views(view_of(fills("a", "b")), view_of(fills("a", "b", sizes={"b": 6})))
    assert compared.comparison is not None
    same, changed = compared.comparison.nodes
    assert (same.status, changed.status) == ("same", "changed")
    assert changed.changes == ("slot: destination = write b[4] → destination = write b[6]",)
    assert compared.comparison.planes[1] == Pairing("changed", 1, 1, ("extent: 4 → 6", "bytes: 16 → 24"))


def test_times_and_offsets_are_no_changes() -> None:
    view = view_of(small_graph())
    other = attrs.evolve(
        view_of(small_graph(), Order.SERIAL, elapsed_ms=(1, 2, 3, 4, 5)),
        planes=tuple(attrs.evolve(plane, offset=512) for plane in view.planes),
    )
    assert {status for status, _, _ in pairs(view, other)} == {"same"}


def layers(count: int, text: str | None = None) -> View:
    source = Source(str(LAYER), text or LAYER.read_text(encoding="utf-8"))
    compiled = compile_program(source, {"cgLayers": count})
    return view_of_graph(compiled.graph, compiled.schedule, compiled.plan)


def test_a_layer_more_is_an_addition_of_its_commands() -> None:
    one, two = layers(1), layers(2)
    counts = Counter(status for status, _, _ in pairs(one, two))
    assert counts == {"same": len(one.nodes), "added": len(two.nodes) - len(one.nodes)}


def test_a_command_more_in_a_program_is_one_addition() -> None:
    cast = "(cgCastDown cgDownDyHalf current cgTokenElements)"
    text = LAYER.read_text(encoding="utf-8")
    assert text.count(cast) == 1
    found = pairs(layers(1), layers(1, text.replace(cast, f"(cgThen {cast} {cast})")))
    assert Counter(status for status, _, _ in found) == {"same": 45, "added": 1}


@pytest.mark.parametrize("which", ["left", "right"])
def test_comparisons_inside_are_dropped(which: str) -> None:
    view = view_of(small_graph())
    compared = compare_views(view, view)
    made = compare_views(compared, view) if which == "left" else compare_views(view, compared)
    assert made.comparison is not None
    assert made.comparison.other.comparison is None
