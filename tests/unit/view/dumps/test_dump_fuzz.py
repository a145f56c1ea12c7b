"""Dumps that were damaged at random: all that a reader may do is to show what is left, or to say what is wrong."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.view.data import read_view, view_json
from cgraph.view.dumps import examine_dump
from cgraph.view.dumps.order import ordered
from cgraph.view.dumps.records import Cell, cells_of, facts
from cgraph.view.formats import FORMATS
from cgraph.view.references import first_wrong_reference
from tests.support.dumps import EXAMPLES
from tests.support.views import HOSTILE

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.dot"))]
PIECES = [
    *('"', "{", "}", "[", "]", "<", ">", "|", "\\", ";", "->", "--", "+", ":", "/*", "//", "#", "\n", "\x00", "\u202e"),
    *("subgraph ", "graph_1", "graph_9\n", "digraph", "_Z", "99999999999999999999999", "\\<\\<\\<", "KERNEL", "ID | "),
    *HOSTILE[:-1],
]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 8))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 40)))
        other = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 200))
        new = draw(st.one_of(st.just(""), st.sampled_from(PIECES), st.just(text[other : other + length])))
        text = text[:start] + new + text[stop:]
    return text


def check(content: str | bytes) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        reading = examine_dump(content, "a.dot")
    except ProblemsFound as stopped:
        problems = stopped.problems
    if problems:
        assert [problem.code for problem in problems] == ["CG890"]
        render(problems, colour=False)
        return
    view = reading.view
    assert first_wrong_reference(view) is None
    assert read_view(view_json(view), "a.json") == view
    render(reading.problems, colour=False)
    for name in ("svg", "dot", "mermaid", "html"):
        FORMATS[name].write(view).encode()


@given(damaged())
@settings(max_examples=150, deadline=None)
def test_damaged_dumps_are_read_as_far_as_they_go(text: str) -> None:
    check(text)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text(first: str, second: str) -> None:
    check(first)
    check("digraph {" + first + "->" + second)


@given(st.binary(max_size=80))
@settings(max_examples=50, deadline=None)
def test_any_bytes(content: bytes) -> None:
    check(b"digraph { a -> b " + content + b"}")


@given(st.text(alphabet="{}|\\ab<> \n", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_record(label: str) -> None:
    cells: list[Cell] = cells_of(label)
    for row in cells:
        if isinstance(row, list):
            assert all(isinstance(name, str) and isinstance(value, str) for name, value in facts(row))


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
@settings(max_examples=300, deadline=None)
def test_orders_are_legal_but_for_what_is_left_out(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = case
    found = ordered(count, edges)
    assert sorted(found.sequence) == list(range(count))
    places = {node: place for place, node in enumerate(found.sequence)}
    wrong = {number for number, (before, after) in enumerate(edges) if places[before] >= places[after]}
    assert wrong <= found.dropped
    # Without a circle nothing is left out: a circle is what remains when all that waits for nothing is taken away.
    left = set(range(count))
    while free := {node for node in left if not any(b in left for b, a in edges if a == node)}:
        left -= free
    assert bool(found.dropped) is bool(left)
    for number, circle in found.circles:
        assert {*pairwise(circle), (circle[-1], circle[0])} <= set(edges)
        assert edges[number][1] in circle
