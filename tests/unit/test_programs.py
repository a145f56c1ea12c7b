"""The programs that ship with the package keep to what they teach."""

from pathlib import Path

import pytest

from cgraph.pipeline import check, parse
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from cgraph.syntax.printer import print_module

PROGRAMS = sorted(programs_directory().rglob("*.cg"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_is_formatted_and_has_no_problems(path: Path) -> None:
    source = load_source(path)
    module = parse(source)
    assert print_module(module) == source.text
    assert check(module)[1] == ()


def test_there_are_programs() -> None:
    names = {path.name for path in PROGRAMS}
    assert {"layer_forward.cg", "layer_backward.cg", "operations.cg", "mlp_backward.cg"} <= names
