"""Rendered problems, written out by hand, for every kind of text that has tripped a renderer before."""

import re
from collections.abc import Sequence
from typing import ClassVar

import pytest
from attrs import frozen

from cgraph.diagnostics import Fix, Label, Problem, Severity
from cgraph.diagnostics.renderer import render
from cgraph.source import Source, Span


@frozen
class Sample(Problem):
    code: ClassVar[str] = "CG000"
    title: ClassVar[str] = "bad `{what}`"
    label: ClassVar[str] = "this `{what}`"

    what: str = "thing"
    more: tuple[Label, ...] = ()
    remarks: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    repair: Fix | None = None

    def labels(self) -> Sequence[Label]:
        return self.more

    def notes(self) -> Sequence[str]:
        return self.remarks

    def helps(self) -> Sequence[str]:
        return self.advice

    def fix(self) -> Fix | None:
        return self.repair


@frozen
class SampleWarning(Problem):
    code: ClassVar[str] = "CG999"
    severity: ClassVar[Severity] = Severity.WARNING
    title: ClassVar[str] = "odd"


def shown(problem: Problem, width: int = 100) -> str:
    return "\n" + render([problem], colour=False, width=width) + "\n"


def span(text: str, marked: str, name: str = "a.cg") -> Span:
    start = text.index(marked)
    return Span(Source(name, text), start, start + len(marked))


def test_everything_at_once() -> None:
    source = Source("a.cg", "one two\nthree\nfour\nfive\nsix seven\n")
    other = Source("b.cg", "\n" * 11 + "far\n")
    problem = Sample(
        Span(source, 28, 33),
        what="seven",
        more=(
            Label(Span(source, 4, 7), "first here"),
            Label(Span(source, 24, 27), "and here"),
            Label(Span(other, 11, 14), "far"),
        ),
        remarks=("a note",),
        advice=("some help",),
        repair=Fix(Span(source, 28, 33), "eight", "write eight"),
    )
    assert (
        shown(problem)
        == """
error[CG000]: bad `seven`
  --> a.cg:5:5
   |
 1 | one two
   |     --- first here
...
 5 | six seven
   | --- ^^^^^ this `seven`
   | |
   | and here
  ::: b.cg:12:1
   |
12 | far
   | --- far
   = note: a note
   = help: some help
   = fix: write eight
   |
 5 - six seven
 5 + six eight
"""
    )


def test_a_problem_without_a_place() -> None:
    assert shown(Sample(None, advice=("look elsewhere",))) == "\nerror[CG000]: bad `thing`\n  = help: look elsewhere\n"


def test_warning() -> None:
    assert shown(SampleWarning(span("x", "x"))) == "\nwarning[CG999]: odd\n --> a.cg:1:1\n  |\n1 | x\n  | ^\n"


@pytest.mark.parametrize(
    ("text", "marked", "line", "carets"),
    [
        ("\tx\ty", "x", "    x   y", "    ^"),
        ("\tx\ty", "\t", "    x   y", "^^^^"),
        ("ab\tc", "c", "ab  c", "    ^"),
        ("名前 = x", "x", "名前 = x", "       ^"),
        ("名前 = x", "名前", "名前 = x", "^^^^"),
        ("e\u0301 x", "x", "e\u0301 x", "  ^"),
        ("a\x1b[31mb", "b", "a␛[31mb", "      ^"),
        ("a\u202eb", "b", "a<U+202E>b", "         ^"),
        ("a\x7f\x00b", "b", "a␡␀b", "   ^"),
        ("x\r\ny", "y", "y", "^"),
        ("x\r\ny", "x", "x", "^"),
        ("x\r\ny", "x\r", "x", "^"),
    ],
)
def test_marks_stand_under_their_characters(text: str, marked: str, line: str, carets: str) -> None:
    rows = shown(Sample(span(text, marked), what="")).split("\n")
    number = rows[2].split(":")[1]
    assert rows[4] == f"{number} | {line}"
    assert rows[5] == f"  | {carets} this ``"


@pytest.mark.parametrize(
    ("text", "place", "line", "column"),
    [("", 0, "1 |", "1:1"), ("ab", 2, "1 | ab", "1:3"), ("ab\n", 3, "2 |", "2:1"), ("ab\r\n", 2, "1 | ab", "1:3")],
)
def test_places_at_the_end(text: str, place: int, line: str, column: str) -> None:
    rows = shown(Sample(Span(Source("a.cg", text), place, place))).split("\n")
    assert rows[2] == f" --> a.cg:{column}"
    assert rows[4] == line
    assert rows[5] == "  | " + " " * (int(column[2:]) - 1) + "^ this `thing`"


def test_a_range_over_several_lines() -> None:
    assert (
        shown(Sample(span("f (a\n  b\n  c\n  d) g", "(a\n  b\n  c\n  d)")))
        == """
error[CG000]: bad `thing`
 --> a.cg:1:3
  |
1 | f (a
  |   ^^ from here
...
4 |   d) g
  |   ^^ this `thing`
"""
    )


def test_one_line_between_two_marked_ones_is_shown() -> None:
    source = Source("a.cg", "a\nb\nc")
    assert (
        shown(Sample(Span(source, 4, 5), more=(Label(Span(source, 0, 1), "first"),)))
        == """
error[CG000]: bad `thing`
 --> a.cg:3:1
  |
1 | a
  | - first
2 | b
3 | c
  | ^ this `thing`
"""
    )


def test_several_marks_on_one_line() -> None:
    source = Source("a.cg", "f x y z")
    more = (Label(Span(source, 2, 3), "ex"), Label(Span(source, 4, 5), "why"), Label(Span(source, 6, 7), "zed"))
    assert (
        shown(Sample(Span(source, 0, 1), more=more))
        == """
error[CG000]: bad `thing`
 --> a.cg:1:1
  |
1 | f x y z
  | ^ - - - zed
  | | | |
  | | | why
  | | ex
  | this `thing`
"""
    )


@pytest.mark.parametrize("filler", ["x", "宽", "\t", "\u202e"])
@pytest.mark.parametrize("place", [0, 5_000, 9_999])
def test_long_lines_are_cut_around_the_mark(filler: str, place: int) -> None:
    text = filler * place + "@" + filler * (10_000 - place)
    rows = shown(Sample(span(text, "@"), what=""), width=80).split("\n")
    line, carets = rows[4][4:], rows[5][4:]
    column = carets.index("^")
    widths = [2 if character == "宽" else 1 for character in line]
    assert sum(widths) <= 80
    at = next(index for index in range(len(line)) if sum(widths[:index]) == column)
    assert line[at] == "@"


def test_marks_far_apart_on_a_long_line_get_a_cut_each() -> None:
    text = "(" + "x " * 1000 + "]"
    source = Source("a.cg", text)
    rows = shown(Sample(Span(source, 2001, 2002), more=(Label(Span(source, 0, 1), "open"),)), width=60).split("\n")
    assert rows[4].startswith("1 | (x x")
    assert rows[5] == "  | - open"
    assert rows[6].endswith("x ]")
    assert all(len(row) <= 60 for row in rows[4:7])


def test_notes_are_wrapped_and_labels_bounded() -> None:
    source = Source("a.cg", "x\n" * 50)
    more = tuple(Label(Span(source, 2 * line, 2 * line + 1), f"use {line}") for line in range(1, 31))
    text = shown(Sample(Span(source, 0, 1), more=more, remarks=("word " * 30,)), width=60)
    assert "use 12" in text
    assert "use 13" not in text
    assert "note: 18 more places are not shown" in text
    assert all(len(row) <= 60 for row in text.split("\n"))


def test_texts_of_users_cannot_reach_the_terminal() -> None:
    what = "\x1b]0;owned\x07"
    source = Source("a\x1b.cg", "x")
    problem = Sample(Span(source, 0, 1), what=what, remarks=(what,), more=(Label(Span(source, 0, 1), what),))
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown(problem)) is None


def test_colour_adds_nothing_but_escapes() -> None:
    problem = Sample(span("f x", "x"), remarks=("n",), repair=Fix(span("f x", "x"), "y", "so"))
    coloured = render([problem], colour=True, width=80)
    assert "\x1b[1;31merror[CG000]" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render([problem], colour=False, width=80)


def test_order_and_duplicates() -> None:
    source = Source("a.cg", "abc")
    places = [Span(source, 2, 3), Span(source, 0, 1), Span(source, 2, 3)]
    text = render([*(Sample(place) for place in places), Sample(None)], colour=False)
    assert re.findall(r"-->.*|error", text) == ["error", "error", "--> a.cg:1:1", "error", "--> a.cg:1:3"]


def test_a_fix_of_several_lines() -> None:
    source = Source("a.cg", "a\n(b\nc)\nd")
    repair = Fix(Span(source, 2, 7), "e\n  f", "shorten")
    assert shown(Sample(Span(source, 2, 3), repair=repair)).split("= fix: ")[1] == (
        "shorten\n  |\n2 - (b\n3 - c)\n2 + e\n3 +   f\n"
    )
