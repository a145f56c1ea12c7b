"""Views as JSON: there and back, described by the schema, refused where they are wrong."""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import attrs
import jsonschema
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.view.comparison import compare_views
from cgraph.view.data import read_view, view_data, view_json
from cgraph.view.model import View
from cgraph.view.schema import view_schema
from tests.support.views import HOSTILE, hostile_view, small_graph, view_of

SCHEMA = json.loads(files("cgraph.view").joinpath("view.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def views() -> list[View]:
    view = view_of(small_graph())
    return [
        view,
        view_of(small_graph(), elapsed_ms=(1, 2, 3, 4, 5)),
        compare_views(view, view),
        *map(hostile_view, HOSTILE),
    ]


@pytest.mark.parametrize("view", views())
def test_a_view_comes_back_and_fits_the_schema(view: View) -> None:
    text = view_json(view)
    assert read_view(text, "x.json") == view
    assert read_view(view_json(view, indent=1), "x.json") == view
    assert text.isascii()
    VALIDATOR.validate(json.loads(text))


def test_the_schema_is_current(refresh_goldens: bool) -> None:
    text = json.dumps(view_schema(), indent=2) + "\n"
    path = files("cgraph.view").joinpath("view.schema.json")
    if refresh_goldens:
        with open(str(path), "w", encoding="utf-8") as file:  # noqa: PTH123  (a resource of a checkout)
            file.write(text)
    assert path.read_text(encoding="utf-8") == text
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_keys_with_a_default_may_be_missing() -> None:
    text = json.dumps({"format": "cgraph-view", "version": 1, "title": "t", "kind": "dump"})
    VALIDATOR.validate(json.loads(text))
    assert read_view(text, "x.json") == View("t", "dump")


def code_of(text: str) -> tuple[str, str]:
    with pytest.raises(ProblemsFound) as stopped:
        read_view(text, "x.json")
    (problem,) = stopped.value.problems
    return problem.code, " ".join(problem.notes())


def edited(edit: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(view_json(compare_views(view_of(small_graph()), view_of(small_graph()))))
    edit(data)
    return json.dumps(data)


NO_COMPARISON = {"other_title": "t", "nodes": [], "planes": [], "other": {"title": "t", "kind": "dump"}}
WRONG_TYPES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda data: data.pop("title"), "`title` is missing"),
    (lambda data: data.update(surprise=1), "`surprise` is no key"),
    (lambda data: data.update(kind="movie"), "kind: 'movie' is none of program"),
    (lambda data: data.update(timed=1), "timed: true or false"),
    (lambda data: data["nodes"][1].update(grid=[1, 2]), "nodes[1].grid: an array of 3"),
    (lambda data: data["nodes"][1].update(phase=True), "nodes[1].phase: a whole number"),
    (lambda data: data["nodes"][1].update(label=None), "nodes[1].label: a text"),
    (lambda data: data["planes"].append(None), "planes[3]: an object"),
    (lambda data: data["comparison"]["nodes"][0].update(status="moved"), "comparison.nodes[0].status"),
]
# What a schema cannot say, or says otherwise: to it 1.0 is a whole number.
WRONG_REFERENCES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda data: data["nodes"][1].update(phase=1.0), "nodes[1].phase: a whole number"),
    (lambda data: data["nodes"][1].update(phase=7), "nodes[1].phase: 7 is not below 2"),
    (lambda data: data["nodes"][1].update(phase=-1), "nodes[1].phase: -1"),
    (lambda data: data["nodes"][1].update(read_bytes=-4), "nodes[1]: -4 is negative"),
    (lambda data: data["nodes"][1]["accesses"][0].update(start=99), "nodes[1].accesses: 99 to 16"),
    (lambda data: data["phases"][0].update(parent=1), "phases[0].parent"),
    (lambda data: data["origins"][0].update(parent=0), "origins[0].parent"),
    (lambda data: data["origins"][0].update(start_line=0), "origins[0]: lines"),
    (lambda data: data["sequence"].append(0), "sequence"),
    (lambda data: data["sequence"].reverse(), "edges[0]: node 0 does not stand before node 1"),
    (lambda data: data["lifetimes"][0].update(last=99), "lifetimes[0]"),
    (lambda data: data["edges"][0].update(plane=3), "edges[0].plane"),
    (lambda data: data["planes"][0].update(extent=[-1]), "planes[0]: -1"),
    (lambda data: data["critical_path"].append(5), "critical_path: 5"),
    (lambda data: data.update(notes=[{"severity": "note", "text": "t", "node": 9}]), "notes[0].node"),
    (lambda data: data["comparison"]["nodes"][0].update(left=None), "comparison.nodes[0]: same"),
    (lambda data: data["comparison"]["other"]["nodes"][0].update(kernel=5), "comparison.other.nodes[0].kernel"),
    (
        lambda data: data["comparison"]["other"].update(comparison=dict(NO_COMPARISON)),
        "must be null",
    ),
]


@pytest.mark.parametrize(("edit", "words"), WRONG_TYPES)
def test_wrong_types_are_refused_by_reader_and_schema(edit: Callable[[dict[str, Any]], object], words: str) -> None:
    text = edited(edit)
    code, note = code_of(text)
    assert code == "CG881"
    assert words in note
    assert not VALIDATOR.is_valid(json.loads(text))


@pytest.mark.parametrize(("edit", "words"), WRONG_REFERENCES)
def test_wrong_references_are_refused(edit: Callable[[dict[str, Any]], object], words: str) -> None:
    code, note = code_of(edited(edit))
    assert code == "CG881"
    assert words in note


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"cgraph-view"', "{}", '{"format": "other"}', "[" * 100_000, '{"format": NaN}', "1" * 5000],
)
def test_what_is_no_view_is_refused(text: str) -> None:
    assert code_of(text)[0] == "CG881"


def test_endless_comparisons_are_refused() -> None:
    level = '{"title":"t","kind":"dump","comparison":{"other_title":"t","nodes":[],"planes":[],"other":'
    whole = '{"format":"cgraph-view","version":1,' + level[1:]
    depth = 300
    text = whole + level * depth + '{"title":"t","kind":"dump"}' + "}}" * (depth + 1)
    assert code_of(text)[0] == "CG881"


def test_numbers_that_are_not_finite_are_refused() -> None:
    text = edited(lambda data: data.update(critical_path_us=1234.5))
    for number in ("1e999", "Infinity", "NaN", "-1e999"):
        assert code_of(text.replace("1234.5", number))[0] == "CG881"
    with pytest.raises(ValueError, match="JSON"):
        view_json(attrs.evolve(view_of(small_graph()), critical_path_us=float("nan")))


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_other_versions_are_refused(version: object) -> None:
    data = {**view_data(view_of(small_graph())), "version": version}
    assert code_of(json.dumps(data))[0] == "CG882"
