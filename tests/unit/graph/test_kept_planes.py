"""Planes that outlive a run: states and updated weights are given before it and results after it."""

import numpy as np
import pytest

from cgraph.backends.devices import parse_device
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.graph.purposes import given_planes, result_planes
from cgraph.graph.verify import verify
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import compile_program, lower
from cgraph.source import Source
from tests.support.graphs import GraphMaker

TEXT = """
import "operations.cg"
plane change : f32 [5] input
plane sum : f32 [5] state
plane weights : f32 [5] weight
plane fixed : f32 [5] weight
plane y : f32 [5] output
def main =
  (cgThen (cgBinary cgImageAdd sum sum change 5)
  (cgThen (cgBinary cgImageAdd weights weights sum 5)
    (cgBinary cgImageAdd y weights fixed 5)))
"""


def test_they_are_given_and_results() -> None:
    compiled = compile_program(Source("kept.cg", TEXT))
    assert compiled.warnings == ()
    assert [plane.name for plane in given_planes(compiled.graph)] == ["sum", "change", "weights", "fixed"]
    assert [plane.name for plane in result_planes(compiled.graph)] == ["sum", "weights", "y"]
    drawn = random_planes((compiled.graph,), seed=3)
    assert drawn["sum"].tobytes() == bytes(20)
    assert drawn["weights"].all()


@pytest.mark.parametrize("device", ["host", "emulated"])
def test_a_run_goes_on_from_the_last_one(device: str) -> None:
    compiled = compile_program(Source("kept.cg", TEXT), half=Element.F16)
    executable = lower(compiled.graph, compiled.schedule, compiled.plan, parse_device(device))
    change = np.arange(5, dtype=np.float32)
    executable.set("change", change)
    executable.set("weights", np.full(5, 100, np.float32))
    for _ in range(3):
        executable.run()
    assert np.array_equal(executable.get("sum"), 3 * change)
    assert np.array_equal(executable.get("weights"), 100 + (1 + 2 + 3) * change)


def test_a_weight_is_written_by_what_reads_the_same_bytes() -> None:
    maker = GraphMaker()
    weight, other = maker.plane("w", 8, Role.WEIGHT), maker.plane("x", 8, Role.STATE)
    maker.launch(maker.accumulate(weight, 2, 6))
    maker.launch(maker.write(weight, 2, 6), maker.read(weight, 2, 6), aliases={0: (1,)})
    assert verify(maker.graph()) == ()
    maker.launch(maker.write(weight, 2, 6), maker.read(weight, 6, 8))
    maker.copy(maker.write(weight), maker.read(other))
    problems = verify(maker.graph())
    assert [(problem.code, problem.render_label()) for problem in problems] == [
        ("CG503", "writes elements [2, 6), bytes [8, 24)"),
        ("CG503", "writes elements [0, 8), bytes [0, 32)"),
    ]
