"""Graphs in commands: child graphs and branches, used once, often, nowhere, in a circle, and nested deep."""

from collections.abc import Iterator

from cgraph.view.dumps import limits
from cgraph.view.model import View
from tests.support.dumps import child, codes, driver_dump, empty, examine


def depth(view: View, phase: int | None) -> int:
    count = 0
    while phase is not None:
        phase = view.phases[phase].parent
        count += 1
    return count


def test_one_child_of_two_commands_is_drawn_for_each() -> None:
    view = examine(driver_dump([(5, [child(0, 6), child(1, 6), "0 -> 1"]), (6, [empty(0), empty(1), "0 -> 1"])])).view
    assert [node.kind for node in view.nodes] == ["child", "child", "empty", "empty", "empty", "empty"]
    assert [node.body for node in view.nodes[:2]] == [(0,), (1,)]
    assert [node.phase for node in view.nodes] == [None, None, 0, 0, 1, 1]
    assert {(edge.before, edge.after) for edge in view.edges} == {(0, 1), (2, 3), (4, 5)}
    # What a command runs comes right behind it.
    assert view.sequence == (0, 2, 3, 1, 4, 5)
    assert [phase.note for phase in view.phases] == ["graph_6 in the dump"] * 2


def test_two_graphs_that_run_each_other() -> None:
    reading = examine(driver_dump([(1, [child(0, 2)]), (2, [empty(0), child(1, 1)])]))
    assert codes(reading) == ["CG894"]
    problem = reading.problems[0]
    assert "graph_1" in problem.render_title()
    assert "graph_2" in problem.render_label()
    assert problem.span is not None
    assert problem.span.line == 13
    assert len(reading.view.nodes) == 3
    assert reading.view.nodes[2].flags == ("runs graph_1 in a circle",)
    assert reading.view.nodes[2].body == ()


def test_a_graph_that_runs_itself() -> None:
    reading = examine(driver_dump([(1, [child(0, 1)])]))
    assert codes(reading) == ["CG894"]
    assert "`graph_1` runs `graph_1` here" in reading.problems[0].render_label()
    assert len(reading.view.nodes) == 1


def test_a_circle_behind_a_root_and_one_beside_it() -> None:
    graphs = [(1, [child(0, 2)]), (2, [child(0, 3)]), (3, [child(0, 2)]), (4, [child(0, 5)]), (5, [child(0, 4)])]
    reading = examine(driver_dump(graphs))
    assert codes(reading) == ["CG894", "CG894"]
    assert len(reading.view.nodes) == 5
    assert [phase.name for phase in reading.view.phases if phase.kind == "graph"] == ["graph_1", "graph_4"]


def test_graphs_that_nothing_runs_are_boxes_beside_each_other() -> None:
    view = examine(driver_dump([(3, [empty(0)]), (9, []), (4, [empty(0), child(1, 3)])])).view
    assert [(phase.name, phase.kind) for phase in view.phases] == [
        ("graph_9", "graph"),
        ("graph_4", "graph"),
        ("child graph", "child"),
    ]
    assert view.phases[2].parent == 1


def test_a_graph_that_is_missing() -> None:
    reading = examine(driver_dump([(1, [child(0, 7), child(1, 8)])]))
    assert codes(reading) == ["CG895", "CG895"]
    assert [problem.severity.value for problem in reading.problems] == ["warning", "warning"]
    assert [node.flags for node in reading.view.nodes] == [("graph_7 is missing",), ("graph_8 is missing",)]


def test_clusters_of_one_graph_are_one_graph() -> None:
    view = examine(driver_dump([(1, [empty(0)]), (1, [])])).view
    assert (len(view.nodes), view.phases) == (1, ())


def chain_of_graphs(count: int) -> Iterator[tuple[int, list[str]]]:
    yield from ((number, [child(0, number + 1)]) for number in range(1, count))
    yield count, [empty(0)]


def test_deep_nesting_stays_drawable() -> None:
    view = examine(driver_dump(chain_of_graphs(1000))).view
    assert len(view.nodes) == 1000
    assert len(view.phases) == 999
    assert max(depth(view, node.phase) for node in view.nodes) == limits.DEEPEST_NESTING
    assert all(view.nodes[number].body for number in view.sequence[:-1])


def test_graphs_that_double_again_and_again_are_drawn_up_to_a_bound() -> None:
    graphs = [(number, [child(0, number + 1), child(1, number + 1)]) for number in range(1, 60)]
    view = examine(driver_dump([*graphs, (60, [empty(0)])])).view
    assert 60 <= len(view.nodes) <= limits.MOST_REPEATED + 200
    assert any(phase.note is not None and phase.note.endswith("drawn where it is run first") for phase in view.phases)
    assert sum(node.kind == "empty" for node in view.nodes) > 1
    # Every box is run by exactly one command.
    boxes = [box for node in view.nodes for box in node.body]
    assert sorted(boxes) == list(range(len(view.phases)))


def test_edges_of_two_graphs_join_nothing() -> None:
    text = driver_dump([(1, [empty(0)]), (2, [empty(0)])])
    reading = examine(text.replace("}\n}\n", '"graph_1_node_0" -> "graph_2_node_0";\n}\n}\n'))
    assert codes(reading) == ["CG897"]
    assert "graph_2_node_0" in reading.problems[0].render_title()
    assert reading.view.edges == ()
