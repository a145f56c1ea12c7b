"""What the builder makes of a program: parameters, entry points, phases, origins, element types, planes."""

from collections.abc import Mapping

import pytest

from cgraph.core.elements import Element
from cgraph.core.origins import Origin
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, LaunchNode, PlaneArgument
from cgraph.pipeline import build, check, parse
from cgraph.source import Source

BEFORE = """
parameter rows : Nat = 4
parameter more : Nat = (naturalMultiply rows columns)
parameter columns : Nat = (naturalAdd rows 1)
parameter value : Float = 0.5
phase outer "Around"
phase inner
image touch = kernel "touch.cu" "touch" {
  slot 0 out : write half [n]
  slot 1 mask : read i32 [n] optional
  slot 2 n : natural
  constant ROWS = rows
  grid [n]
  block 32
}
plane w : f32 [rows, columns] weight
plane dw : f32 [rows, columns] gradient of w
plane h : half [rows, columns] output
plane fixed : half [20] saved
plane wide : f32 [20] saved
plane long : f32 [more] saved
plane x (l : Nat < rows) : f32 [(naturalAdd l 1)] output
"""


def built(
    text: str,
    parameters: Mapping[str, int | float] | None = None,
    half: Element = Element.F16,
    entry: str | None = None,
) -> CommandGraph:
    program, _ = check(parse(Source("built.cg", BEFORE + text)))
    return build(program, parameters or {}, entry=entry, half=half)


def codes(text: str, parameters: Mapping[str, int | float] | None = None, entry: str | None = None) -> list[str]:
    with pytest.raises(ProblemsFound) as stopped:
        built(text, parameters, entry=entry)
    return [problem.code for problem in stopped.value.problems]


def steps(origin: Origin) -> list[tuple[str, str]]:
    return [(step.text, step.span.text) for step in origin.chain()]


FILL = "def main = (cgFill long value)"
TOUCH = "(cgLaunch touch rows 1 1 (cgPointer (cgArgument 0) h (cgNatural (cgArgument 2) rows cgNoSlots)))"


def test_defaults_follow_other_parameters() -> None:
    assert dict(built(FILL).parameters) == {"rows": 4, "columns": 5, "more": 20, "value": 0.5}
    assert dict(built(FILL, {"rows": 2}).parameters) == {"rows": 2, "columns": 3, "more": 6, "value": 0.5}
    assert dict(built(FILL, {"columns": 2}).parameters) == {"rows": 4, "columns": 2, "more": 8, "value": 0.5}


def test_parameters_stand_in_an_order_of_need() -> None:
    assert [name for name, _ in built(FILL).parameters] == ["rows", "columns", "more", "value"]


def test_an_int_is_a_value_of_a_float_parameter() -> None:
    (node,) = built(FILL, {"value": 3}).nodes
    assert isinstance(node, FillNode)
    assert node.value == 3.0
    assert isinstance(node.value, float)


@pytest.mark.parametrize(
    ("name", "value"), [("rows", -1), ("rows", 1.0), ("rows", True), ("value", False), ("rows", 1 << 300)]
)
def test_values_that_are_refused(name: str, value: float) -> None:
    assert codes(FILL, {name: value}) == ["CG522"]


def test_all_wrong_parameters_are_reported_at_once() -> None:
    assert codes(FILL, {"row": 1, "rows": -1, "value": True}) == ["CG520", "CG522", "CG522"]


def test_the_entry_point() -> None:
    two = "def a = (cgFill h 1.0)\ndef main = (cgFill h 2.0)\ndef size = (naturalAdd rows 1)\n"
    assert built(two).entry == "main"
    assert built(two, entry="a").entry == "a"
    assert built("def only = (cgFill h 1.0)\ndef size = (naturalAdd rows 1)").entry == "only"
    assert codes("def a = cgNothing\ndef b = cgNothing") == ["CG523"]
    assert codes(two, entry="nowhere") == ["CG523"]
    assert codes(two, entry="size") == ["CG524"]


@pytest.mark.parametrize(
    ("half", "of_half", "of_f32"),
    [
        (Element.F16, Element.F16, Element.F32),
        (Element.BF16, Element.BF16, Element.F32),
        (Element.F32, Element.F32, Element.F32),
        (Element.F64, Element.F64, Element.F64),
    ],
)
def test_half_is_bound(half: Element, of_half: Element, of_f32: Element) -> None:
    graph = built(f"def main = (cgThen {TOUCH} (cgCopy dw w))", half=half)
    assert graph.half is half
    assert {plane.name: plane.element for plane in graph.planes} == {"h": of_half, "dw": of_f32, "w": of_f32}
    launch = graph.nodes[0]
    assert isinstance(launch, LaunchNode)
    assert [slot.element for slot in launch.image.signature.slots] == [of_half, Element.I32, None]


def test_a_launch_with_an_optional_slot_left_out() -> None:
    (node,) = built(f"def main = {TOUCH}").nodes
    assert isinstance(node, LaunchNode)
    assert node.arguments == (PlaneArgument(0, 0), None, 4)
    assert node.extents == ((4,), (), ())
    assert (node.grid, node.block, node.image.constants) == ((4, 1, 1), (32, 1, 1), (("ROWS", 4),))
    assert [(part.start, part.stop) for part in node.accesses] == [(0, 4 * 2)]


def test_parts_are_counted_in_bytes() -> None:
    (fill, copy) = built(
        "def main = (cgThen (cgFill (cgAt (cgAt fixed 3) 4) 0.0) (cgCopy (cgAt wide 5) (cgAt wide 5)))"
    ).nodes
    assert [(part.start, part.stop) for part in fill.accesses] == [(7 * 2, 20 * 2)]
    assert isinstance(copy, CopyNode)
    assert [(part.start, part.stop) for part in copy.accesses] == [(5 * 4, 20 * 4)] * 2


def test_phases_nest_and_each_run_is_one() -> None:
    text = "(cgPhase outer (cgThen (cgFill h 1.0) (cgThen (cgPhase inner (cgFill h 2.0)) (cgFill h 3.0))))"
    graph = built(f"def main = (cgThen (cgEach 2 (lambda unrestricted i : Nat . {text})) (cgFill h 4.0))")
    assert [(phase.name, phase.title, phase.parent) for phase in graph.phases] == [
        ("outer", "Around", None),
        ("inner", "inner", 0),
        ("outer", "Around", None),
        ("inner", "inner", 2),
    ]
    assert [node.phase for node in graph.nodes] == [0, 1, 0, 2, 3, 2, None]


def test_loops_run_up_and_down() -> None:
    graph = built("def main = (cgEachDown rows (lambda unrestricted l : Nat . (cgFill (x l) 0.0)))", {"rows": 3})
    assert [plane.name for plane in graph.planes[:3]] == ["x 2", "x 1", "x 0"]
    assert [plane.indices for plane in graph.planes[:3]] == [(2,), (1,), (0,)]
    assert [plane.extent for plane in graph.planes[:3]] == [(3,), (2,), (1,)]
    graph = built("def main = (cgEach rows (lambda unrestricted l : Nat . (cgFill (x l) 0.0)))", {"rows": 3})
    assert [plane.name for plane in graph.planes[:3]] == ["x 0", "x 1", "x 2"]


def test_origins_lead_from_the_entry_to_the_command() -> None:
    one = "def one = (lambda unrestricted l : Nat . (cgFill (x l) 0.0))"
    graph = built(f"{one}\ndef main = (cgEach rows (lambda unrestricted l : Nat . (one l)))")
    assert steps(graph.nodes[1].origin) == [
        ("main", "main"),
        ("l = 1", "(cgEach rows"),
        ("one", "(one l)"),
        ("fill", "(cgFill (x l) 0.0)"),
    ]


def test_origins_of_a_function_that_was_given() -> None:
    apply = "def apply = (lambda unrestricted f : (pi unrestricted l : Nat . Command) . (f 0))"
    clear = "def clear = (lambda unrestricted p : Plane . (lambda unrestricted l : Nat . (cgFill p 0.0)))"
    graph = built(f"{apply}\n{clear}\ndef main = (apply (clear h))")
    assert [text for text, _ in steps(graph.nodes[0].origin)] == ["main", "apply", "clear", "fill"]


def test_a_gradient_brings_its_plane() -> None:
    graph = built("def main = (cgFill dw 0.0)")
    assert [(plane.name, plane.gradient_of) for plane in graph.planes] == [("dw", 2), ("h", None), ("w", None)]


def test_outputs_that_nothing_mentions_are_planes_all_the_same() -> None:
    program, _ = check(
        parse(Source("two.cg", "plane a : f32 [2] output\nplane b : f32 [2] output\ndef main = (cgFill a 0.0)"))
    )
    graph = build(program, {}, entry=None, half=Element.F32)
    assert [plane.name for plane in graph.planes] == ["a", "b"]


def test_loops_of_no_turns_and_planes_of_no_elements() -> None:
    text = "def main = (cgThen (cgEach rows (lambda unrestricted l : Nat . (cgFill (x l) 0.0))) (cgCopy dw w))"
    graph = built(text, {"rows": 0})
    assert [type(node) for node in graph.nodes] == [CopyNode]
    assert [(plane.name, plane.extent) for plane in graph.planes[:2]] == [("dw", (0, 1)), ("w", (0, 1))]
