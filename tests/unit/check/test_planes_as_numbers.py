"""A plane may stand where a `Nat` is expected, but wherever its number would be needed it is refused."""

import pytest

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import build, check, parse
from cgraph.source import Source

BEFORE = """
import "images.cg"
plane x : f32 [4] input
plane y : f32 [4] output
def slots = (lambda unrestricted n : Nat .
  (cgPointer (cgArgument 0) y (cgPointer (cgArgument 1) x (cgPointer (cgArgument 2) x
  (cgNatural (cgArgument 3) n cgNoSlots)))))
def loop = (lambda unrestricted n : Nat . (cgEach n (lambda unrestricted i : Nat . (cgCopy y x))))
def family = (lambda unrestricted n : Nat . (cgFill (many n) 0.0))
plane many (i : Nat < 3) : f32 [4] scratch
"""

PLACES = {
    "arithmetic": "(cgFill (cgAt y (naturalAdd x 1)) 0.0)",
    "offset": "(cgFill (cgAt y x) 0.0)",
    "natural slot": "(cgLaunch cgImageAdd 1 1 1 (slots x))",
    "grid": "(cgLaunch cgImageAdd x 1 1 (slots 4))",
    "grid in z": "(cgLaunch cgImageAdd 1 1 x (slots 4))",
    "count of a loop": "(loop x)",
    "count of a loop downwards": "(cgEachDown x (lambda unrestricted i : Nat . cgNothing))",
    "count of a fold": (
        "(naturalFold x cgNothing (lambda unrestricted i : Nat . (lambda unrestricted c : Command . (cgCopy y x))))"
    ),
    "index": "(family x)",
    "slot number": "(cgLaunch cgImageAdd 1 1 1 (cgPointer (cgArgument x) y cgNoSlots))",
}
SIZES = {
    "extent": "plane z : f32 [x] scratch",
    "bound": "plane z (i : Nat < x) : f32 [4] scratch",
    "type": "def z = (lambda unrestricted p : Plane f32 [x] . cgNothing)",
    "constant": 'image z = kernel "z.cu" "z" { constant N = x block 1 }',
    "block": 'image z = kernel "z.cu" "z" { block x }',
}


def codes(text: str) -> set[str]:
    try:
        build(check(parse(Source("<text>", BEFORE + text)))[0], {}, entry="main", half=Element.F32)
    except ProblemsFound as stopped:
        return {problem.code for problem in stopped.problems}
    return set()


@pytest.mark.parametrize("command", PLACES.values(), ids=PLACES.keys())
def test_a_plane_is_refused_where_its_number_is_needed(command: str) -> None:
    assert "CG402" in codes(f"def main = {command}")


@pytest.mark.parametrize("declaration", SIZES.values(), ids=SIZES.keys())
def test_a_plane_is_refused_as_a_size(declaration: str) -> None:
    assert "CG402" in codes(f"{declaration}\ndef main = (cgCopy y x)")


def test_numbers_are_accepted_in_the_same_places() -> None:
    assert codes("def main = (cgThen (loop 2) (cgThen (family 2) (cgLaunch cgImageAdd 1 1 1 (slots 4))))") == set()
