"""Finding a forward program, and running it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.models.forward import ForwardProgram, find_forward, not_finite, run_forward
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.source import Source

TEXT = """
plane x : f32 [2, 3] input
plane w : f32 [4] weight
plane gone : f32 [4] scratch
plane kept : f32 [4] saved
plane y : f32 [2, 3] output
def main = (cgThen (cgCopy y x) (cgThen (cgCopy gone w) (cgCopy kept gone)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("net_backward.cg", "net_forward.cg", "net.cg", "backward.cg", "odd:name", "plain.cg"):
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def test_the_file_beside_it(folder: Path) -> None:
    for name in ("net_backward.cg", "net.cg"):
        assert find_forward(f"{folder}/{name}") == ForwardProgram(f"{folder}/net_forward.cg", None)


def test_a_folder_called_backward_stays(tmp_path: Path) -> None:
    (tmp_path / "backward").mkdir()
    for name in ("a_backward.cg", "a_forward.cg"):
        (tmp_path / "backward" / name).write_text("", encoding="utf-8")
    found = find_forward(f"{tmp_path}/backward/a_backward.cg")
    assert found.file == f"{tmp_path}/backward/a_forward.cg"


def test_what_is_named(folder: Path) -> None:
    file = f"{folder}/net_backward.cg"
    assert find_forward(file, "other.cg") == ForwardProgram("other.cg", None)
    assert find_forward(file, "other.cg:pass'") == ForwardProgram("other.cg", "pass'")
    assert find_forward(file, "other.cg", "pass") == ForwardProgram("other.cg", "pass")
    assert find_forward(file, "other.cg:this", "not") == ForwardProgram("other.cg", "this")
    assert find_forward(file, None, "pass") == ForwardProgram(file, "pass")
    assert find_forward(file, f"{folder}/odd:name") == ForwardProgram(f"{folder}/odd:name", None)
    assert find_forward(file, "C:\\net\\other.cg") == ForwardProgram("C:\\net\\other.cg", None)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("backward.cg", "there is no `{folder}/forward.cg`"),
        ("plain.cg", "there is no `{folder}/plain_forward.cg`"),
        ("odd:name", "as `NAME_forward.cg`"),
    ],
)
def test_none_to_be_found(folder: Path, name: str, note: str) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        find_forward(f"{folder}/{name}")
    shown = render(stopped.value.problems, colour=False, width=10_000)
    assert f"error[CG710]: no forward program for `{folder}/{name}`" in shown
    assert note.format(folder=folder) in shown
    assert "`--forward-entry NAME`" in shown


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_program(Source("forward.cg", TEXT), half=Element.F64)


def run(compiled: Compiled, values: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return run_forward(compiled.graph, lower(compiled.graph, compiled.schedule, compiled.plan), values)


def test_a_run_gives_outputs_and_saved_planes(compiled: Compiled) -> None:
    x, w = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    kept = run(compiled, {"x": x, "w": w, "unknown": np.zeros(9)})
    assert sorted(kept) == ["kept", "y"]
    np.testing.assert_array_equal(kept["y"], x)
    np.testing.assert_array_equal(kept["kept"], w)


def test_values_that_are_missing_or_do_not_fit(compiled: Compiled) -> None:
    with pytest.raises(ProblemsFound, match=r"CG717: the forward program needs values of w$"):
        run(compiled, {"x": np.zeros((2, 3))})
    with pytest.raises(ProblemsFound, match=r"CG717: the forward program needs values of x, w$"):
        run(compiled, {})
    with pytest.raises(ProblemsFound, match="CG703"):
        run(compiled, {"x": np.zeros((3, 2)), "w": np.zeros(4)})


def test_many_missing_values_are_counted() -> None:
    text = "plane a (l : Nat < 9) : f32 [1] input\nplane y (l : Nat < 9) : f32 [1] output\n"
    text += "def main = (cgEach 9 (lambda unrestricted l : Nat . (cgCopy (y l) (a l))))"
    with pytest.raises(ProblemsFound, match=r"a 4, a 5 and 3 more planes$"):
        run(compile_program(Source("forward.cg", text), half=Element.F64), {})


def test_planes_that_are_not_finite(compiled: Compiled) -> None:
    y = np.zeros((2, 3))
    assert not_finite(compiled.graph, {"y": y, "kept": np.zeros(4)}, "forward") == []
    y[1, 0], y[1, 2] = np.inf, np.nan
    shown = render(not_finite(compiled.graph, {"y": y, "unknown": y}, "forward"), colour=False)
    assert "error[CG715]: the forward program leaves `y` not finite" in shown
    assert "first at [1, 0]; 2 of its 6 elements" in shown
