"""Programs that must be rejected: `STAGE/NAME.cg` beside `STAGE/NAME.txt`, the message that a person reads.

A program is parsed and checked with all that it imports. Where its first line is `-- build`, or `-- build: rows=8`, it
is also built with these parameters and the graph verified. The expected messages are written anew only by
`pytest tests/reject --refresh-goldens`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.diagnostics.codes import problem_classes
from cgraph.diagnostics.renderer import render
from cgraph.graph.hazards import find_hazards
from cgraph.pipeline import build, check, parse, verify
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source

HERE = Path(__file__).parent
TESTS = HERE.parent
# What the programs import, so that their messages do not change with the library.
IMPORTED = HERE / "imported"
CASES = sorted(path for path in HERE.glob("*/*.cg") if path.parent != IMPORTED)
# The stages whose problems a text can show, each once at least in two programs of this folder.
STAGES = ("syntax", "check", "build", "graph")
# Those that no text can show, each with the test that does.
WITHOUT_TEXT = {
    "CG011": "unit/syntax/test_loading.py",
    "CG013": "unit/syntax/test_loading.py",
    "CG015": "unit/cli/test_fmt.py",
    # The builder never makes such a graph: launches are held against their planes first. Imported graphs may be so.
    "CG504": "unit/graph/test_verify.py",
    "CG505": "unit/graph/test_verify.py",
}
BUILD_LINE = re.compile(r"-- build(?::(.*))?")


def problems_of(path: str) -> tuple[Problem, ...]:
    """What is found on the way, warnings of the graph included; () where nothing is."""
    try:
        source = load_source(path)
        program, _ = check(parse(source))
        asked = BUILD_LINE.fullmatch(source.line_text(0))
        if asked is None:
            return ()
        graph = build(program, dict(_parameters(asked[1] or "")), entry=None, half=Element.F32)
        return verify(program, graph, find_hazards(graph))
    except ProblemsFound as stopped:
        return stopped.problems


def _parameters(text: str) -> Iterator[tuple[str, int | float]]:
    for pair in text.split():
        name, _, value = pair.partition("=")
        yield name, float(value) if "." in value else int(value)


def reject(case: Path) -> str:
    problems = problems_of(case.name)
    assert problems, "the program is accepted"
    message = render(problems, colour=False, width=100) + "\n"
    return message.replace(str(programs_directory()), "programs")


@pytest.mark.parametrize("case", CASES, ids=[str(case.relative_to(HERE).with_suffix("")) for case in CASES])
def test_message(case: Path, refresh_goldens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    message = reject(case)
    golden = case.with_suffix(".txt")
    if refresh_goldens:
        golden.write_text(message, encoding="utf-8")
    assert message == golden.read_text(encoding="utf-8")


def test_every_expected_message_has_its_program() -> None:
    assert [path.name for path in HERE.glob("*/*.txt") if not path.with_suffix(".cg").exists()] == []


def test_every_code_has_two_programs() -> None:
    programs = Counter(
        code
        for path in HERE.glob("*/*.txt")
        for code in set(re.findall(r"^(?:error|warning)\[(CG\d+)\]", path.read_text(encoding="utf-8"), re.MULTILINE))
    )
    expected = {kind.code for kind in problem_classes() if kind.__module__.split(".")[1] in STAGES}
    assert {code for code in expected - WITHOUT_TEXT.keys() if programs[code] < 2} == set()
    assert WITHOUT_TEXT.keys() <= expected
    assert {code for code in WITHOUT_TEXT if programs[code]} == set()


@pytest.mark.parametrize(("code", "test"), WITHOUT_TEXT.items())
def test_codes_without_a_text_are_tested_elsewhere(code: str, test: str) -> None:
    (kind,) = (kind.__name__ for kind in problem_classes() if kind.code == code)
    text = (TESTS / test).read_text(encoding="utf-8")
    assert code in text or kind in text
