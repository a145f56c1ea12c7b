"""A pair is compiled with the same parameters, each program taking those that it has."""

from pathlib import Path

import pytest

from cgraph.cli.pairing import compile_forward, compile_pair
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.models.forward import ForwardProgram
from cgraph.pipeline import Compiled, compile_program
from cgraph.syntax.loading import load_source

FORWARD = """
parameter n : Nat = 3
parameter scale : Nat = 2
plane x : half [(naturalMultiply n scale)] input
plane y : half [(naturalMultiply n scale)] output
def other = (cgFill y 0.0)
def main = (cgCopy y x)
"""
BACKWARD = """
parameter n : Nat = 5
parameter steps : Nat = 1
plane x : half [n] input
plane dx : half [n] gradient of x
def main = (cgEach steps (lambda unrestricted i : Nat . (cgFill dx 0.0)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.cg").write_text(FORWARD, encoding="utf-8")
    (tmp_path / "b.cg").write_text(BACKWARD, encoding="utf-8")
    return tmp_path


def pair(folder: Path, entry: str | None = None, **settings: int) -> tuple[dict[str, int | float], ...]:
    forward = ForwardProgram(str(folder / "f.cg"), entry)
    found = compile_pair(load_source(folder / "b.cg"), None, forward, settings, Element.F64)
    assert {compiled.graph.half for compiled in found} == {Element.F64}
    return tuple(dict(compiled.graph.parameters) for compiled in found)


def test_the_backward_program_decides_what_both_have(folder: Path) -> None:
    assert pair(folder) == ({"n": 5, "scale": 2}, {"n": 5, "steps": 1})
    assert pair(folder, n=7) == ({"n": 7, "scale": 2}, {"n": 7, "steps": 1})


def test_each_takes_what_it_has(folder: Path) -> None:
    assert pair(folder, scale=4, steps=6) == ({"n": 5, "scale": 4}, {"n": 5, "steps": 6})


def test_what_none_has_is_refused(folder: Path) -> None:
    with pytest.raises(ProblemsFound, match="CG520: the program has no parameter `scal`"):
        pair(folder, scal=4)


def test_the_entry_of_the_forward_program(folder: Path) -> None:
    forward = ForwardProgram(str(folder / "f.cg"), "other")
    found = compile_pair(load_source(folder / "b.cg"), None, forward, {}, Element.F64)
    assert [compiled.graph.entry for compiled in found] == ["other", "main"]


def test_a_forward_program_for_a_compiled_backward_program(folder: Path) -> None:
    backward: Compiled = compile_program(load_source(folder / "b.cg"), {"n": 9}, half=Element.BF16)
    found = compile_forward(ForwardProgram(str(folder / "f.cg"), None), backward).graph
    assert dict(found.parameters) == {"n": 9, "scale": 2}
    assert {plane.element for plane in found.planes} == {Element.BF16}
    with pytest.raises(ProblemsFound, match="CG011"):
        compile_forward(ForwardProgram(str(folder / "none.cg"), None), backward)
