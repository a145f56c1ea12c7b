"""The sanitizer holds what commands really touch against the schedule's edges and the memory plan.

A right program gets a schedule from which an edge is missing, or a plan that lets two planes share bytes too early; the
sanitizer must name the two commands. With the right ones it is silent.
"""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cgraph.backends.cuda.sanitizing.run import SanitizerReport, sanitize_graph
from cgraph.core.elements import Element
from cgraph.emulator.sanitizer.problems_effects import UnorderedAccess, UnorderedCommand
from cgraph.pipeline import Compiled, compile_program
from cgraph.schedule.model import Order
from cgraph.source import Source

PROGRAM = """
import "operations.cg"
plane x : f32 [64] input
plane s : f32 [64] scratch
plane t : f32 [64] scratch
plane u : f32 [64] scratch
plane y : f32 [64] output
plane z : f32 [64] output
def main =
  (cgThen (cgBinary cgImageAdd s x x 64)
  (cgThen (cgBinary cgImageMultiply y s x 64)
  (cgThen (cgFill t 2.0)
  (cgThen (cgBinary cgImageAdd u t t 64)
    (cgCopy z u)))))
"""


def _compiled(order: Order = Order.DATAFLOW) -> Compiled:
    return compile_program(Source(str(Path("<order>")), PROGRAM), half=Element.F16, order=order)


def _report(compiled: Compiled, **changes: Any) -> SanitizerReport:
    made = attrs.evolve(compiled, **changes)
    return sanitize_graph(made.graph, made.schedule, made.plan, {"x": np.ones(64, np.float32)})


def _without_edges(compiled: Compiled, node: int) -> Any:
    """The schedule in which a command waits for nobody."""
    predecessors = list(compiled.schedule.predecessors)
    predecessors[node] = ()
    return attrs.evolve(compiled.schedule, predecessors=tuple(predecessors))


@pytest.mark.parametrize("order", list(Order))
def test_a_right_program_is_silent(order: Order) -> None:
    report = _report(_compiled(order))
    assert report.findings == ()
    assert (report.launches, report.transfers) == (3, 2)


def test_a_launch_without_its_edge() -> None:
    compiled = _compiled()
    (found,) = _report(compiled, schedule=_without_edges(compiled, 1)).findings
    assert isinstance(found, UnorderedAccess)
    assert (found.access, found.memory, found.element, found.index) == ("reads", "plane s", 0, (0,))
    assert (found.command, found.rival) == (
        "command 1, cgImageMultiply",
        "command 0, cgImageAdd, wrote them before",
    )
    assert found.rival_span == compiled.graph.nodes[0].origin.span


def test_a_launch_without_its_edge_from_a_fill() -> None:
    compiled = _compiled()
    (found,) = _report(compiled, schedule=_without_edges(compiled, 3)).findings
    assert isinstance(found, UnorderedAccess)
    assert found.rival == "command 2, a fill, wrote them before"


def test_a_copy_without_its_edge() -> None:
    compiled = _compiled()
    (found,) = _report(compiled, schedule=_without_edges(compiled, 4)).findings
    assert isinstance(found, UnorderedCommand)
    assert (found.command, found.access, found.plane, found.offset) == ("command 4, a copy", "reads", "plane u", 0)
    assert found.rival == "command 3, cgImageAdd, wrote them before"


def test_two_planes_that_share_bytes_too_early() -> None:
    compiled = _compiled()
    index = {plane.name: plane.index for plane in compiled.graph.planes}
    offsets = list(compiled.plan.offsets)
    assert offsets[index["s"]] != offsets[index["t"]]
    offsets[index["t"]] = offsets[index["s"]]
    plan = attrs.evolve(compiled.plan, offsets=tuple(offsets))
    found = _report(compiled, plan=plan).findings
    # The fill of t, and its reader, are in no order with the command that writes s.
    assert [type(problem) for problem in found] == [UnorderedCommand, UnorderedAccess]
    fill, read = found
    rival = "command 0, cgImageAdd, wrote plane s, to which the plan gives the same bytes, before"
    assert isinstance(fill, UnorderedCommand)
    assert isinstance(read, UnorderedAccess)
    assert (fill.command, fill.access, fill.plane, fill.rival) == ("command 2, a fill", "writes", "plane t", rival)
    assert (read.command, read.access, read.memory, read.rival) == ("command 3, cgImageAdd", "reads", "plane t", rival)


def test_planes_that_share_bytes_in_order_are_no_fault() -> None:
    compiled = _compiled(Order.SERIAL)
    index = {plane.name: plane.index for plane in compiled.graph.planes}
    offsets = list(compiled.plan.offsets)
    offsets[index["t"]] = offsets[index["s"]]
    plan = attrs.evolve(compiled.plan, offsets=tuple(offsets))
    assert _report(compiled, plan=plan).findings == ()
