"""Programs that must be rejected: `STAGE/NAME.cg` beside `STAGE/NAME.txt`, the message that a person reads.

The expected messages are written anew only by `pytest tests/reject --refresh-goldens`.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from cgraph.syntax.parser import parse

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*/*.cg"))
# Problems of files and streams rather than of texts: no text can show them.
WITHOUT_TEXT = frozenset({"CG011", "CG013", "CG015"})


def check(source: Source) -> None:
    """What must raise ProblemsFound."""
    parse(source)


def reject(case: Path) -> str:
    with pytest.raises(ProblemsFound) as stopped:
        check(load_source(case.name))
    return render(stopped.value.problems, colour=False, width=100) + "\n"


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


def test_every_syntax_code_has_two_programs() -> None:
    programs = Counter(
        code
        for path in HERE.glob("syntax/*.txt")
        for code in set(re.findall(r"^error\[(CG\d+)\]", path.read_text(encoding="utf-8"), re.MULTILINE))
    )
    expected = {f"CG{number:03}" for number in range(1, 16)} - WITHOUT_TEXT
    assert {code for code in expected if programs[code] < 2} == set()
