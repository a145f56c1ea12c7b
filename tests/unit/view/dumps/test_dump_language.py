"""The DOT language: what any tool may write."""

import json
import shutil
import subprocess

import pytest

from cgraph.view.dot import dot_text
from cgraph.view.model import View
from tests.support.dumps import EXAMPLES, codes, driver_dump, examine, example
from tests.support.views import HOSTILE, hostile_view, small_graph, view_of


def names(view: View) -> list[str]:
    return [dict(node.details).get("name", node.label) for node in view.nodes]


def pairs(view: View) -> set[tuple[str, str]]:
    found = names(view)
    return {(found[edge.before], found[edge.after]) for edge in view.edges}


def test_a_graph_by_hand() -> None:
    reading = example("generic")
    view = reading.view
    assert reading.problems == ()
    assert {node.kind for node in view.nodes} == {"unknown"}
    assert names(view) == ["a", "b c", "3.5", "d", "e", "f", "h", "r", "joined name"]
    assert [node.label for node in view.nodes] == [
        *("a!", "two", "3.5!", "d!", "e!", "f!", "left", "first", "joined name!"),
    ]
    assert [dict(node.details).get("label") for node in view.nodes[6:8]] == ["left\n right <", "first\nsecond {braces}"]
    assert dict(view.nodes[1].details)["label"] == "two\nlines & more"
    assert [(phase.title, phase.parent, phase.kind) for phase in view.phases] == [
        ("Outer  box", None, "phase"),
        ("Inner", 0, "phase"),
    ]
    # A node stands in the innermost box that names it, wherever it was declared.
    assert [node.phase for node in view.nodes] == [0, 0, 1, 0, 0, 1, None, None, None]
    assert view.notes[0].text == "All of it"
    assert view.tool == "DOT of another tool"


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_edges_as_graphviz_reads_them() -> None:
    command = ["dot", "-Tdot_json", str(EXAMPLES / "generic.dot")]
    read = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    objects = [thing["name"] for thing in read["objects"]]
    view = example("generic").view
    assert pairs(view) == {(objects[edge["tail"]], objects[edge["head"]]) for edge in read["edges"]}
    nodes = {name for name in objects if not name.startswith(("cluster", "%"))}
    assert set(names(view)) == nodes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("digraph{a->b->c}", {("a", "b"), ("b", "c")}),
        ("DiGraph x { a -> { b c } }", {("a", "b"), ("a", "c")}),
        ("digraph { {a b} -> subgraph s {c; d} }", {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}),
        ("digraph { subgraph { a } -> b -> { c } [x=1] }", {("a", "b"), ("b", "c")}),
        ('digraph { "a\\"b" -> c }', {('a"b', "c")}),
        ('digraph { "a\\\nb" -> c }', {("ab", "c")}),
        ("digraph { a:p -> b:p:nw; }", {("a", "b")}),
        ("digraph { edge [x=y]; a -> b; a -> b }", {("a", "b")}),
        ("digraph { -1.5 -> .25 }", {("-1.5", ".25")}),
        ("digraph { ä -> 名 }", {("ä", "名")}),
        ("digraph { a -> b // x -> y\n /* c -> d */ }", {("a", "b")}),
        ("\ufeffdigraph { a [x]; a [y=1 z=2, w=3; v=4][u=5] a -> b }", {("a", "b")}),
        ("digraph { node -> b }", set()),
    ],
)
def test_statements(text: str, expected: set[tuple[str, str]]) -> None:
    assert pairs(examine(text).view) == expected


def test_a_text_in_utf_16_and_one_with_foreign_bytes() -> None:
    assert pairs(examine("digraph { ä -> b }".encode("utf-16")).view) == {("ä", "b")}
    view = examine(b'digraph {\n a -> "\xff" }').view
    assert pairs(view) == {("a", "\ufffd")}
    assert [(note.severity, note.line) for note in view.notes if "utf-8" in note.text] == [("warning", 2)]
    assert examine('digraph { "\udc80" -> b }').view.notes[0].severity == "warning"


def test_origins_point_into_the_text() -> None:
    view = example("older_conditional").view
    text = view.sources[0].text.splitlines()
    for node in view.nodes:
        assert node.origin is not None
        origin = view.origins[node.origin]
        assert text[origin.start_line - 1].startswith('"graph_')
        assert origin.start_column == 1
        assert text[origin.stop_line - 1][: origin.stop_column - 1].endswith("]")


def test_what_we_write_ourselves_is_read_back() -> None:
    view = view_of(small_graph())
    back = examine(dot_text(view)).view
    places = [int(name.removeprefix("n")) for name in names(back)]
    assert sorted(places) == list(range(len(view.nodes)))
    found = {(places[edge.before], places[edge.after]) for edge in back.edges}
    assert found == {(edge.before, edge.after) for edge in view.edges}
    assert [(phase.title, phase.parent) for phase in back.phases] == [
        (phase.title, phase.parent) for phase in view.phases
    ]
    assert {place: node.phase for place, node in zip(places, back.nodes, strict=True)} == {
        number: node.phase for number, node in enumerate(view.nodes)
    }


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_ours_are_read_back_as_they_are_shown(name: str) -> None:
    view = hostile_view(name)
    back = examine(dot_text(view)).view
    assert len(back.nodes) == len(view.nodes)
    assert len(back.phases) == len(view.phases)
    assert {len(phase.title) > 0 for phase in back.phases} == {True}


def test_nodes_with_names_of_drivers_need_statements() -> None:
    reading = examine(driver_dump([(1, ["0\nEMPTY\n", "0 -> 1"])]))
    assert codes(reading) == ["CG897"]
    assert (len(reading.view.nodes), reading.view.edges) == (1, ())


def test_an_empty_graph() -> None:
    for text in ("digraph {}", driver_dump([]), driver_dump([(3, [])])):
        view = examine(text).view
        assert (view.nodes, view.edges) == ((), ())
