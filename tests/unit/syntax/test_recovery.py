"""After an error: what else is reported, and that hopeless texts end soon."""

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.syntax.parser import MAXIMUM_COUNTED, MAXIMUM_PROBLEMS, parse
from cgraph.syntax.recovery import next_declaration


def found(text: str) -> list[tuple[str, int]]:
    """Code and 1-based line of each problem."""
    with pytest.raises(ProblemsFound) as stopped:
        parse(Source("t.cg", text))
    return [(problem.code, problem.span.line) for problem in stopped.value.problems if problem.span is not None]


def test_one_error_in_each_declaration() -> None:
    text = 'def a = )\n\ndef b = 1\n  def c = (f }\nplane x : f33 [1] input\nphase p "\\q"\nimage i = 1\ndef d = (f'
    assert found(text) == [("CG004", 1), ("CG005", 4), ("CG001", 5), ("CG010", 6), ("CG001", 7), ("CG003", 8)]


def test_keywords_in_comments_and_strings_begin_nothing() -> None:
    text = 'def a = )\n{-\ndef b = )\n{- -}\ndef c = ) -}\n  "x\ndef d = 1\n-- x\nphase'
    assert found(text) == [("CG004", 1), ("CG001", 9)]


def test_a_name_that_starts_like_a_keyword_begins_nothing() -> None:
    assert next_declaration("x\ndefine\nplane' 1\n\tplane p", 1) == len("x\ndefine\nplane' 1\n")
    assert next_declaration("x def y", 0) is None


def test_reading_stops_where_nothing_is_a_program() -> None:
    shown = found("def a = )\n" * (MAXIMUM_PROBLEMS + 5))
    assert len(shown) == MAXIMUM_PROBLEMS + 1
    assert shown[-1] == ("CG014", MAXIMUM_PROBLEMS + 1)
    with pytest.raises(ProblemsFound) as stopped:
        parse(Source("t.cg", "def a = )\n" * (MAXIMUM_PROBLEMS + 2 * MAXIMUM_COUNTED)))
    assert stopped.value.problems[-1].render_title() == "at least 1000 more syntax errors are not shown"


@pytest.mark.parametrize("piece", ["(", ")", "{-", '"', "λ", "def (", "def a = [\n", "%\n", "-", "\n", "def a = 1{--}"])
def test_megabytes_of_anything_end(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + "\ndef a = )"
    assert found(text) != []
