"""Which planes of a forward and a backward program belong together, and what is said where they do not."""

import pytest

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from cgraph.graph.model import CommandGraph
from cgraph.models.pairs import Pair, missing_saved, pair_graphs
from cgraph.pipeline import compile_program
from cgraph.source import Source

FORWARD = """
plane x : f32 [2, 3] input
plane kept : f32 [2, 3] saved
plane y : f32 [2, 3] output
def main = (cgThen (cgCopy kept x) (cgCopy y kept))
"""
BACKWARD = """
plane x : f32 [2, 3] input
plane w : f32 [2, 3] weight
plane kept : f32 [2, 3] saved
plane y : f32 [2, 3] output
plane dy : f32 [2, 3] gradient of y
plane dx : f32 [2, 3] gradient of x
plane used : f32 [2, 3] output
def main = (cgThen (cgCopy dx dy) (cgThen (cgCopy used kept) (cgCopy used w)))
"""


def built(name: str, text: str) -> CommandGraph:
    return compile_program(Source(name, text), half=Element.F64).graph


def paired(forward: str, backward: str) -> Pair:
    return pair_graphs(built("forward.cg", forward), built("backward.cg", backward))


def problems_of(forward: str, backward: str) -> str:
    with pytest.raises(ProblemsFound) as stopped:
        paired(forward, backward)
    return render(stopped.value.problems, colour=False)


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def test_each_plane_has_its_part() -> None:
    pair = paired(FORWARD, BACKWARD)
    assert [plane.name for plane in pair.variables] == ["x", "w"]
    assert [(output.name, gradient and gradient.name) for output, gradient in pair.losses] == [("y", "dy")]
    assert pair.passed == ("kept",)
    assert [(variable.name, gradient.name) for variable, gradient in pair.results] == [("x", "dx")]
    assert pair.inner == ()


def test_families_belong_together_by_index() -> None:
    forward = """
plane a (l : Nat < 2) : f32 [3] input
plane y (l : Nat < 2) : f32 [3] output
def main = (cgEach 2 (lambda unrestricted l : Nat . (cgCopy (y l) (a l))))
"""
    backward = """
plane a (l : Nat < 2) : f32 [3] input
plane y (l : Nat < 2) : f32 [3] output
plane dy (l : Nat < 2) : f32 [3] gradient of y
plane da (l : Nat < 2) : f32 [3] gradient of a
def main = (cgEachDown 2 (lambda unrestricted l : Nat . (cgCopy (da l) (dy l))))
"""
    pair = paired(forward, backward)
    assert {(output.name, gradient and gradient.name) for output, gradient in pair.losses} == {
        ("y 0", "dy 0"),
        ("y 1", "dy 1"),
    }
    assert [(variable.name, gradient.name) for variable, gradient in pair.results] == [("a 0", "da 0"), ("a 1", "da 1")]


def test_the_backward_program_may_call_an_output_its_input() -> None:
    backward = changed(BACKWARD, ("plane kept : f32 [2, 3] saved", "plane kept : f32 [2, 3] input"))
    assert paired(FORWARD, backward).passed == ("kept",)
    forward = changed(FORWARD, ("kept : f32 [2, 3] saved", "kept : f32 [2, 3] output"))
    assert paired(forward, backward).passed == ("kept",)


def test_a_saved_plane_that_is_an_input_of_the_forward_program_is_filled_with_it() -> None:
    backward = changed(BACKWARD, ("cgCopy used kept", "cgCopy used xSaved"), ("plane kept", "plane xSaved"))
    forward = changed(FORWARD, ("plane x :", "plane xSaved :"), ("kept x", "kept xSaved"))
    pair = paired(forward, backward)
    assert sorted(plane.name for plane in pair.variables) == ["w", "x", "xSaved"]
    assert pair.passed == ()


def test_gradients_of_what_the_forward_program_computes_are_set_apart() -> None:
    backward = changed(
        BACKWARD,
        ("kept : f32 [2, 3] saved", "kept : f32 [2, 3] input"),
        ("gradient of x", "gradient of x\nplane dkept : f32 [2, 3] gradient of kept"),
        ("(cgCopy dx dy)", "(cgThen (cgCopy dx dy) (cgCopy dkept dy))"),
    )
    assert paired(FORWARD, backward).inner == ("dkept",)


def test_a_gradient_that_the_backward_program_works_out_itself_is_not_given() -> None:
    forward = changed(FORWARD, ("def main =", "plane loss : f32 [1] output\ndef main = (cgThen (cgFill loss 1.0)"))
    forward = forward.rstrip() + ")"
    backward = changed(BACKWARD, ("(cgCopy dx dy)", "(cgThen (cgFill dy 0.5) (cgCopy dx dy))"))
    assert [(output.name, gradient) for output, gradient in paired(forward, backward).losses] == [("loss", None)]


def test_a_gradient_that_is_changed_in_place_is_given() -> None:
    backward = changed(BACKWARD, ("(cgCopy dx dy)", "(cgThen (cgCopy dx dy) (cgFill dy 0.0))"))
    assert [gradient and gradient.name for _, gradient in paired(FORWARD, backward).losses] == ["dy"]


@pytest.mark.parametrize("role", ["scratch", None])
def test_a_saved_plane_must_be_kept(role: str | None) -> None:
    new = "other" if role is None else "kept"
    forward = changed(FORWARD, ("kept : f32 [2, 3] saved", f"{new} : f32 [2, 3] {role or 'saved'}"))
    forward = forward.replace("cgCopy kept x", f"cgCopy {new} x").replace("cgCopy y kept", f"cgCopy y {new}")
    shown = problems_of(forward, BACKWARD)
    assert "error[CG713]: the forward program does not keep `kept`, which the backward program reads" in shown
    assert "elements [0, 6), bytes [0, 48) are missing" in shown
    assert ("in the forward program it is scratch" in shown) is (role == "scratch")
    assert ("the forward program has no plane of this name" in shown) is (role is None)


def test_a_saved_plane_must_be_kept_in_full() -> None:
    forward = changed(FORWARD, ("(cgCopy kept x)", "(cgFill (cgAt kept 2) 0.0)"), ("(cgCopy y kept)", "(cgCopy y x)"))
    assert "elements [0, 2), bytes [0, 16) are missing" in problems_of(forward, BACKWARD)


def test_shapes_must_be_alike() -> None:
    forward = FORWARD.replace("[2, 3]", "[3, 2]")
    shown = problems_of(forward, BACKWARD)
    assert "error[CG714]: `x` is f64 [2, 3], and in the forward program it is f64 [3, 2]" in shown
    assert "error[CG714]: `kept` is f64 [2, 3], and in the forward program it is f64 [3, 2]" in shown
    assert shown.count("this one is f64 [3, 2]") == 2
    larger = FORWARD.replace("[2, 3]", "[2, 4]")
    assert "`dy` is f64 [2, 3], and its output y is f64 [2, 4]" in problems_of(larger, BACKWARD)
    other = FORWARD.replace("f32", "i32")
    assert "`x` is f64 [2, 3], and in the forward program it is i32 [2, 3]" in problems_of(other, BACKWARD)


def test_the_output_must_be_there() -> None:
    shown = problems_of(changed(FORWARD, ("plane y", "plane z"), ("cgCopy y", "cgCopy z")), BACKWARD)
    assert "error[CG711]: the forward program writes no output `y`" in shown
    assert "its outputs are z" in shown
    shown = problems_of(
        "plane x : f32 [2, 3] input\nplane kept : f32 [2, 3] saved\ndef main = (cgCopy kept x)", BACKWARD
    )
    assert "it writes no planes of role `output`" in shown


def test_there_must_be_gradients() -> None:
    backward = changed(BACKWARD, ("dx : f32 [2, 3] gradient of x", "dx : f32 [2, 3] output"))
    assert "error[CG712]: `main` computes no gradient of an input or a weight" in problems_of(FORWARD, backward)


def test_there_must_be_a_loss() -> None:
    backward = changed(
        BACKWARD, ("plane y : f32 [2, 3] output", ""), ("dy : f32 [2, 3] gradient of y", "dy : f32 [2, 3] input")
    )
    shown = problems_of(FORWARD, backward)
    assert "error[CG716]: `main` starts from no gradient of an output" in shown
    assert "its outputs: y" in shown


def test_all_problems_are_found_at_once() -> None:
    backward = changed(
        BACKWARD,
        ("dx : f32 [2, 3] gradient of x", "dx : f32 [2, 3] output"),
        ("plane y : f32 [2, 3] output", ""),
        ("dy : f32 [2, 3] gradient of y", "dy : f32 [2, 3] input"),
        ("kept :", "lost :"),
        ("used kept", "used lost"),
    )
    shown = problems_of(FORWARD, backward)
    assert [code for code in ("CG712", "CG713", "CG716") if code in shown] == ["CG712", "CG713", "CG716"]


def test_saved_planes_to_fill() -> None:
    assert missing_saved(built("backward.cg", BACKWARD)) == ("kept",)
    assert missing_saved(built("forward.cg", FORWARD)) == ()
