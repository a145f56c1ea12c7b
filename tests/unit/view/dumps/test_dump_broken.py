"""Files that are broken: an error with its place, and all that could be read."""

import re

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.view.dumps import limits, read_dump, texts
from tests.support.dumps import EXAMPLES, codes, driver_dump, empty, examine

VERBOSE = (EXAMPLES / "cuda_verbose.dot").read_text(encoding="utf-8")
PLAIN = (EXAMPLES / "cuda_plain.dot").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("  \n\n", "it is empty"),
        ("hello", "it does not begin with `digraph`"),
        ('{"format": "x"}', "it does not begin with `digraph`"),
        ("\x7fELF\x00\x00", "it does not begin with `digraph`"),
        ("graph { a -- b }", "does not say which command is first"),
        ("strict graph x { }", "does not say which command is first"),
        ("digraph", "there is no `{`"),
        ("digraph x y", "there is no `{`"),
        ("/* digraph { a }", "it is empty"),
        ("<svg></svg>", "it does not begin with `digraph`"),
        ('"unending', "it does not begin with `digraph`"),
    ],
)
def test_what_is_no_dot_is_one_clear_error(text: str, reason: str) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        read_dump(text, "some.dot")
    (problem,) = stopped.value.problems
    assert problem.code == "CG890"
    printed = render([problem], colour=False)
    assert reason in printed
    assert "some.dot is no directed graph" in printed


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_BYTES", 100)
    for content in (VERBOSE, VERBOSE.encode()):
        with pytest.raises(ProblemsFound) as stopped:
            read_dump(content, "a.dot")
        assert [problem.code for problem in stopped.value.problems] == ["CG891"]


@pytest.mark.parametrize("text", [VERBOSE, PLAIN])
def test_a_file_cut_anywhere_shows_all_that_is_complete(text: str) -> None:
    ends = [found.end() for found in re.finditer(r'(?<!dashed)"\]', text)]
    for length in range(text.index("{") + 1, len(text.rstrip()), 7):
        reading = examine(text[:length])
        complete = sum(end <= length for end in ends)
        assert complete == len(reading.view.nodes), length
        assert "CG893" in codes(reading), length
        # An edge may be cut in its second name; everything else of what is there is right.
        assert set(codes(reading)) <= {"CG893", "CG895", "CG897"}, length


def test_what_a_cut_file_says() -> None:
    reading = examine(VERBOSE[: VERBOSE.index("MEM_ALLOC")])
    (note,) = reading.view.notes
    assert note.severity == "error"
    assert note.text.startswith("the dump is cut off")
    assert note.line == VERBOSE[: VERBOSE.index("MEM_ALLOC")].count("\n")


def test_a_quote_that_is_missing_costs_one_command() -> None:
    text = VERBOSE.replace('"0 (topoId', "0 (topoId", 1).replace('}"];\n\n"graph_7_node_1"', '};\n\n"graph_7_node_1"')
    reading = examine(text)
    assert codes(reading)[0] == "CG892"
    lost = {"graph_7_node_0"}
    assert len(reading.view.nodes) == 12 - len(lost)
    assert "CG897" in codes(reading)


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("digraph {\n a -> ;\n b -> c\n}", 2, 7, "expected a node, found `;`"),
        ("digraph {\n a [label=];\n b -> c\n}", 2, 11, "expected a value, found `]`"),
        ("digraph {\n ) x\n b -> c }", 2, 2, "expected a statement or `}`, found `)`"),
        ("digraph {\n a [x=1\n b -> c\n}", 3, 4, "expected an attribute or `]`, found `->`"),
        ("digraph {\n subgraph x y\n b -> c\n}", 2, 13, "expected `{`, found `y`"),
        ('digraph {\n a = "x" + y\n b -> c\n}', 2, 12, "expected a quoted text, found `y`"),
        ("digraph {\n b -> c\n}\n} rest", 4, 1, "expected the end of the file, found `}`"),
    ],
)
def test_a_broken_statement_is_left_out(text: str, line: int, column: int, expected: str) -> None:
    reading = examine(text)
    problem = reading.problems[0]
    assert problem.code == "CG892"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (line, column)
    assert problem.render_label() == expected
    assert len(reading.view.edges) == 1
    assert reading.view.notes[0].line == line


def test_edges_in_a_circle_lose_one() -> None:
    reading = examine("digraph { a -> b -> c; c -> b; d -> d }")
    assert codes(reading) == ["CG896", "CG896"]
    assert [problem.render_label() for problem in reading.problems] == ["c → b → c", "d → d"]
    assert [(edge.before, edge.after) for edge in reading.view.edges] == [(0, 1), (1, 2)]


def test_edges_of_commands_in_a_circle() -> None:
    reading = examine(driver_dump([(1, [empty(0), empty(1), "0 -> 1", "1 -> 0"])]))
    assert codes(reading) == ["CG896"]
    assert reading.problems[0].span is not None
    assert len(reading.view.edges) == 1


@pytest.mark.parametrize(
    ("bound", "text", "things"),
    [
        ("MOST_COMMANDS", "digraph { a; b; c; d; e; f }", "commands"),
        ("MOST_EDGES", "digraph { a -> b -> c -> d -> e -> f }", "dependencies"),
        ("MOST_EDGES", "digraph { {a b c d} -> {} {a b c d} -> {} }", "ends of dependencies"),
        ("MOST_GRAPHS", "digraph {" + "subgraph cluster_1 { } " * 6 + "}", "graphs"),
        ("MOST_GRAPHS", "digraph { { { { { { { a } } } } } } }", "open braces"),
        ("MOST_WORDS", "digraph { a; b }", "words"),
        ("MOST_PROBLEMS", "digraph {\n" + " -> ;\n a [;\n" * 9, "broken statements"),
    ],
)
def test_bounds_cut_a_file_off(monkeypatch: pytest.MonkeyPatch, bound: str, text: str, things: str) -> None:
    monkeypatch.setattr(limits, bound, 4)
    found = [problem for problem in examine(text).problems if problem.code == "CG898"]
    assert [problem.render_title() for problem in found] == [f"the dump holds more than 4 {things}"]


def test_problems_of_one_kind_are_told_up_to_a_bound() -> None:
    reading = examine(driver_dump([(1, [str(number) for number in range(300)])]))
    assert codes(reading) == ["CG899"] * limits.MOST_PROBLEMS
