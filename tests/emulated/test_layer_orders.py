"""A layer's backward pass with tiles that are full and blocks that are several, on the emulated device: every order,
nodes drawn at random where no edge orders them, and a replay give the same bits, near the host's.

Both devices round the same planes to the same types, so each lies within the reference's bound of the exact result, and
the two within twice the bound of each other.
"""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cgraph.backends.devices import HOST, Device
from cgraph.backends.protocol import Executable
from cgraph.cli.layer_oracle import layer_bound
from cgraph.core.elements import Element
from cgraph.graph.purposes import result_planes
from cgraph.models.comparison import compare
from cgraph.models.forward import run_forward
from cgraph.models.inputs import Arrays
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled, check, compile_checked, lower, parse
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source
from tests.support.emulated_runs import EMULATED, random_order

pytestmark = pytest.mark.slow

SIZES = {"cgSeq": 64, "cgHeads": 2, "cgHeadWidth": 32, "cgFfn": 128, "cgLayers": 1}


@cache
def compiled(name: str, half: Element, causal: int, order: Order = Order.SERIAL) -> Compiled:
    program = check(parse(load_source(programs_directory() / f"{name}.cg")))
    return compile_checked(program, {**SIZES, "cgCausal": causal}, half=half, order=order)


def prepared(program: Compiled, values: Arrays, device: Device) -> Executable:
    executable = lower(program.graph, program.schedule, program.plan, device)
    for plane in program.graph.planes:
        if plane.name in values:
            executable.set(plane.name, values[plane.name])
    return executable


def inputs(half: Element, causal: int) -> Arrays:
    """Random values, and the boundary that the forward pass on the host saves for them."""
    forward, backward = compiled("layer_forward", half, causal), compiled("layer_backward", half, causal)
    values = random_planes((forward.graph, backward.graph), 11)
    return {**values, **run_forward(forward.graph, prepared(forward, values, HOST), values)}


def results(program: Compiled, executable: Executable) -> Arrays:
    return {plane.name: executable.get(plane.name) for plane in result_planes(program.graph)}


def poison(program: Compiled, executable: Executable) -> None:
    """What a run does not write is NaN afterwards."""
    for plane in result_planes(program.graph):
        executable.set(plane.name, np.full_like(executable.get(plane.name), np.nan))


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("half", [Element.F16, Element.BF16])
def test_every_order_gives_the_same_bits_and_they_are_near_the_hosts(half: Element, causal: int) -> None:
    values = inputs(half, causal)
    runs: dict[str, Arrays] = {}
    for seed, order in enumerate(Order):
        program = compiled("layer_backward", half, causal, order)
        executable = prepared(program, values, EMULATED)
        executable.run()
        runs[order.value] = results(program, executable)
        if order is not Order.SERIAL:
            poison(program, executable)
            with random_order(seed):
                executable.run()
            runs[f"{order.value}, drawn at random, a replay"] = results(program, executable)
    first = runs.pop(Order.SERIAL.value)
    assert len(first) == 10
    for name, run in runs.items():
        assert {plane: array.tobytes() for plane, array in run.items()} == {
            plane: array.tobytes() for plane, array in first.items()
        }, name
    program = compiled("layer_backward", half, causal)
    bound = layer_bound(program.graph)
    assert bound is not None
    host = prepared(program, values, HOST)
    host.run()
    for row in compare(results(program, host), first, 2 * bound):
        assert row.holds, row
