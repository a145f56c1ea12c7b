"""Problems as data, their codes, and names that are close."""

import json
import re
from collections import Counter

import pytest

from cgraph.diagnostics import ProblemsFound, Severity
from cgraph.diagnostics.codes import problem_classes
from cgraph.diagnostics.report import arrange, summarise, to_json
from cgraph.diagnostics.suggest import closest_name
from cgraph.source import Source
from cgraph.syntax.parser import parse
from cgraph.syntax.problems import UnexpectedCharacter, UnreadableFile


def test_json_of_a_problem_with_all_parts() -> None:
    with pytest.raises(ProblemsFound) as stopped:
        parse(Source("a.cg", "def a = 1\n\ndef b =\n  (f 1\ndef ü = 2\n"))
    first, second = json.loads(to_json(stopped.value.problems))
    inserted = {
        "source": "a.cg", "start": 25, "stop": 25, "line": 4, "column": 7, "end_line": 4, "end_column": 7,
    }  # fmt: skip
    assert first == {
        "code": "CG003",
        "severity": "error",
        "title": "this `(` is not closed",
        "label": "needs a `)`",
        "place": inserted | {"start": 21, "stop": 22, "column": 3, "end_column": 4},
        "labels": [
            {
                "text": "expected `)` before `def`",
                "place": inserted | {"start": 26, "stop": 29, "line": 5, "column": 1, "end_line": 5, "end_column": 4},
            }
        ],
        "notes": [],
        "helps": [],
        "fix": {"text": "close it with `)`", "replacement": ")", "place": inserted},
    }
    assert (second["code"], second["fix"], second["place"]["column"]) == ("CG002", None, 5)


def test_json_of_a_problem_without_a_place() -> None:
    (problem,) = json.loads(to_json([UnreadableFile(None, "a.cg", "no such file")]))
    assert (problem["place"], problem["title"]) == (None, "cannot read a.cg: no such file")


def test_summary_counts() -> None:
    error = UnreadableFile(None, "a", "b")
    assert summarise([]) == ""
    assert summarise([error]) == "1 error"
    assert summarise([error, error]) == "2 errors"


def test_problems_of_two_texts_of_one_name_are_two() -> None:
    spans = []
    for _ in range(2):
        with pytest.raises(ProblemsFound) as stopped:
            parse(Source("same", "ü"))
        spans.append(stopped.value.problems[0].span)
    assert len(arrange(UnexpectedCharacter(span, "`ü`") for span in spans)) == 2
    assert len(arrange([UnexpectedCharacter(spans[0], "`ü`")] * 2)) == 1


def test_codes_are_unique_and_of_one_form() -> None:
    classes = list(problem_classes())
    assert [kind.__name__ for kind in classes if kind.code == "CG004"] == ["StrayClosing"]
    assert [code for code, count in Counter(kind.code for kind in classes).items() if count > 1] == []
    for kind in classes:
        assert re.fullmatch(r"CG[0-8][0-9]{2}", kind.code)
        assert isinstance(kind.severity, Severity)
        assert (kind.__doc__ or "").strip()


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("cgSqe", ["cgHeads", "cgSeq", "cgWidth"], "cgSeq"),
        ("cgseq", ["cgSeq"], "cgSeq"),
        ("cgProductDta", ["cgProductWeight", "cgProductData", "cgProductDataAdding"], "cgProductData"),
        ("x", ["completelyDifferent"], None),
        ("cgSeq", ["cgSeq"], None),
        ("abcd2", ["abcd1", "abcd0"], "abcd0"),
        ("anything", [], None),
    ],
)
def test_closest_name(name: str, candidates: list[str], expected: str | None) -> None:
    assert closest_name(name, candidates) == expected
