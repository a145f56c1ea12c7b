"""Whole pairs compared with differences: what becomes of planes that cannot be judged, and verdicts."""

import math
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.models.differences import GradientRow
from cgraph.models.gradients import GradientCheck, Verdict, check_pair, count_comparisons, verdict
from cgraph.models.pairs import pair_graphs
from cgraph.pipeline import compile_program, lower
from cgraph.source import Source

ROW = GradientRow("x", 8, 8, 0.0, 0.0, 1e-9, 2.0, "")
TOLERANCE = 1e-6


def checked(forward: str, backward: str, *, samples: int = 48, seed: int = 0) -> GradientCheck:
    programs = [
        compile_program(Source(f"{name}.cg", text), half=Element.F64)
        for name, text in (("forward", forward), ("backward", backward))
    ]
    pair = pair_graphs(programs[0].graph, programs[1].graph)
    calls: list[str] = []
    result = check_pair(
        pair,
        *(lower(program.graph, program.schedule, program.plan) for program in programs),
        samples=samples,
        seed=seed,
        on_progress=lambda name, _done, _total: calls.append(name),
    )
    assert len(calls) == count_comparisons(pair, samples)
    return result


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Verdict.OK),
        ({"element_error": 1e-6, "direction_error": 1e-6, "resolution": 1e-6}, Verdict.OK),
        ({"element_error": 1.1e-6}, Verdict.MISMATCH),
        ({"direction_error": 1.1e-6}, Verdict.MISMATCH),
        ({"element_error": math.inf}, Verdict.MISMATCH),
        ({"direction_error": 1.1e-6, "resolution": 1.0}, Verdict.MISMATCH),
        ({"resolution": 1.1e-6}, Verdict.UNRESOLVED),
        ({"resolution": 3.0, "norm": 0.0}, Verdict.OK),
    ],
)
def test_verdicts(changes: dict[str, Any], expected: Verdict) -> None:
    assert verdict(evolve(ROW, **changes), TOLERANCE) is expected


COPY = """
plane x : ELEMENT [5, 3] input
plane w : ELEMENT [4] weight
plane y : ELEMENT [5, 3] output
"""
COPY_FORWARD = COPY + "def main = (cgCopy y x)"
COPY_BACKWARD = (
    COPY
    + """
plane dy : ELEMENT [5, 3] gradient of y
plane dx : ELEMENT [5, 3] gradient of x
plane dw : ELEMENT [4] gradient of w
def main = (cgThen (cgCopy dx dy) (cgFill dw VALUE))
"""
)


def copies(element: str, value: str) -> tuple[str, str]:
    forward, backward = (text.replace("ELEMENT", element) for text in (COPY_FORWARD, COPY_BACKWARD))
    return forward, backward.replace("VALUE", value)


def test_a_weight_that_the_forward_program_does_not_use() -> None:
    for value, expected in (("0.0", Verdict.OK), ("0.25", Verdict.MISMATCH)):
        rows = checked(*copies("f32", value)).rows
        assert [row.name for row in rows] == ["x", "w"]
        assert verdict(rows[0], TOLERANCE) is Verdict.OK
        assert verdict(rows[1], TOLERANCE) is expected
        assert rows[1].finding == "the forward program does not use the plane"


@pytest.mark.parametrize(("element", "roundoff"), [("f16", 2.0**-11), ("bf16", 2.0**-8)])
def test_planes_that_stay_narrow_are_not_taken_for_wrong(element: str, roundoff: float) -> None:
    row = checked(*copies(element, "0.0")).rows[0]
    assert verdict(row, TOLERANCE) is Verdict.UNRESOLVED
    assert row.resolution > roundoff
    assert row.element_error < 1


def test_a_loss_that_is_an_output_itself() -> None:
    planes = "plane x : f32 [1] input\nplane y : f32 [1] output\n"
    forward = planes + "def main = (cgCopy y x)"
    right, wrong = (
        checked(forward, f"plane x : f32 [1] input\nplane dx : f32 [1] gradient of x\ndef main = (cgFill dx {value})")
        for value in ("1.0", "2.0")
    )
    assert verdict(right.rows[0], TOLERANCE) is Verdict.OK
    assert verdict(wrong.rows[0], TOLERANCE) is Verdict.MISMATCH
    assert wrong.rows[0].element_error == pytest.approx(0.5, rel=1e-6)


def test_a_forward_program_that_is_not_finite() -> None:
    forward = COPY_FORWARD.replace("(cgCopy y x)", "(cgThen (cgFill y 1.0e300) (cgBinary cgImageMultiply y y y 15))")
    with pytest.raises(ProblemsFound, match="CG715: the forward program leaves `y` not finite"):
        checked('import "operations.cg"' + forward.replace("ELEMENT", "f32"), copies("f32", "0.0")[1])


def test_gradients_that_are_changed_in_place() -> None:
    """The gradient of the output carries the residual: it is read, overwritten and read again."""
    shared = 'import "operations.cg"\n' + COPY.replace("ELEMENT", "f32")
    forward = shared + "def main = (cgBinary cgImageAdd y x x 15)"
    backward = shared + (
        "plane dy : f32 [5, 3] gradient of y\nplane dx : f32 [5, 3] gradient of x\n"
        "def main = (cgThen (cgBinary cgImageAdd dy dy dy 15) (cgCopy dx dy))"
    )
    found = checked(forward, backward)
    assert [verdict(row, TOLERANCE) for row in found.rows] == [Verdict.OK]
    assert found.rows[0].norm > 0


def test_what_the_rows_leave_out() -> None:
    forward, backward = copies("f32", "0.0")
    backward = backward.replace("gradient of w", "output")
    ids = "plane ids : i32 [2] input\nplane out : i32 [2] output\n"
    forward = forward.replace("def main = (cgCopy y x)", f"{ids}def main = (cgThen (cgCopy y x) (cgCopy out ids))")
    found = checked(forward, backward.replace("(cgFill dw 0.0)", "(cgCopy dw w)"))
    assert [row.name for row in found.rows] == ["x"]
    assert found.without_gradient == ("w",)
    assert found.zeros == ("ids",)
    assert found.without_weight == ("out",)
    assert found.problems == ()


def test_the_seed_changes_the_values() -> None:
    norms = [checked(*copies("f32", "0.0"), seed=seed).rows[0].norm for seed in (1, 1, 2)]
    assert norms[0] == norms[1] != norms[2]
    assert np.isfinite(norms).all()
