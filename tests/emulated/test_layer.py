"""The library's layer, forward and backward, with its own kernels on the emulated device beside the host and itself.

Both round the same planes to the same types, so each lies within the reference's bound of the exact result; two results
that do lie within twice the bound of each other.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cgraph.backends.cuda.executable import CudaExecutable
from cgraph.backends.cuda.update import SetScalar
from cgraph.backends.devices import HOST
from cgraph.cli.layer_oracle import layer_expectations
from cgraph.core.elements import Element
from cgraph.graph.purposes import result_planes
from cgraph.models.comparison import compare
from cgraph.models.forward import run_forward
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled, check, compile_checked, lower, parse
from cgraph.reference.bounds import gradient_bound
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source
from tests.support.emulated import INSTALLATION
from tests.support.emulated_runs import EMULATED, random_order

pytestmark = pytest.mark.slow

SIZES = {"cgSeq": 17, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 24, "cgLayers": 1}
LAYERS = 1
HALVES = {Element.F16: "f16", Element.BF16: "bf16"}


@cache
def checked(name: str) -> Any:
    return check(parse(load_source(programs_directory() / f"{name}.cg")))


@cache
def compiled(name: str, half: Element, order: Order = Order.DATAFLOW) -> Compiled:
    return compile_checked(checked(name), SIZES, half=half, order=order)


def prepared(program: Compiled, values: dict[str, Any], device: Any) -> Any:
    executable = lower(program.graph, program.schedule, program.plan, device)
    for plane in program.graph.planes:
        if plane.name in values:
            executable.set(plane.name, values[plane.name])
    return executable


def results(program: Compiled, executable: Any) -> dict[str, Any]:
    return {plane.name: executable.get(plane.name) for plane in result_planes(program.graph)}


@cache
def inputs(half: Element) -> dict[str, Any]:
    """Random values, and what the forward pass on the host saves for them."""
    forward, backward = compiled("layer_forward", half), compiled("layer_backward", half)
    values = random_planes((forward.graph, backward.graph), 3)
    kept = run_forward(forward.graph, lower(forward.graph, forward.schedule, forward.plan), values)
    return {**values, **kept}


@cache
def emulated(name: str, half: Element) -> dict[str, Any]:
    """The results of one run in the order of the program."""
    program = compiled(name, half, Order.SERIAL)
    with prepared(program, inputs(half), EMULATED) as executable:
        executable.run()
        return results(program, executable)


def bits(planes: dict[str, Any]) -> dict[str, bytes]:
    return {name: plane.tobytes() for name, plane in planes.items()}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("name", ["layer_forward", "layer_backward"])
def test_results_beside_the_host_and_the_reference(name: str, half: Element) -> None:
    program = compiled(name, half)
    found = emulated(name, half)
    width = SIZES["cgHeads"] * SIZES["cgHeadWidth"]
    bound = gradient_bound(HALVES[half], seq=SIZES["cgSeq"], width=width, ffn=SIZES["cgFfn"], layers=LAYERS)
    host = prepared(program, inputs(half), HOST)
    host.run()
    for row in compare(results(program, host), found, 2 * bound):
        assert row.holds, row
    expected = layer_expectations(program.graph, inputs(half))
    assert expected is not None
    assert len(expected) >= 2
    for row in compare(expected, found, bound):
        assert row.holds, row


@pytest.mark.parametrize("order", Order)
def test_orders_and_replays_have_the_same_bits(order: Order) -> None:
    program = compiled("layer_backward", Element.BF16, order)
    expected = bits(emulated("layer_backward", Element.BF16))
    with prepared(program, inputs(Element.BF16), EMULATED) as executable:
        for seed in range(2):
            with random_order(seed):
                executable.run()
            assert bits(results(program, executable)) == expected


def test_a_run_with_times_has_the_same_bits() -> None:
    program = compiled("layer_backward", Element.F16)
    seen: list[int] = []
    with prepared(program, inputs(Element.F16), EMULATED) as executable:
        executable.run(lambda index, _elapsed_ms: seen.append(index))
        assert bits(results(program, executable)) == bits(emulated("layer_backward", Element.F16))
    assert sorted(seen) == list(range(len(program.graph.nodes)))


def test_a_replay_is_one_launch_whatever_the_number_of_commands() -> None:
    program = compiled("layer_backward", Element.F16)
    with prepared(program, inputs(Element.F16), EMULATED) as executable:
        before = INSTALLATION.driver.calls.copy()
        executable.run()
        made = INSTALLATION.driver.calls - before
    assert made["cuGraphLaunch"] == 1
    assert made["cuLaunchKernel"] == 0
    assert sum(made.values()) <= 4


def test_other_inputs_and_other_scalars_without_instantiating_again() -> None:
    """The norm's epsilon, the mask's switch and a weight change; a graph built with them from the start agrees."""
    half = Element.F16
    program = compiled("layer_forward", half)
    changed = compile_checked(checked("layer_forward"), {**SIZES, "cgCausal": 0, "cgNormEpsilon": 0.25}, half=half)
    values = dict(inputs(half))
    with prepared(changed, values, EMULATED) as executable:
        executable.run()
        expected = bits(results(changed, executable))
    with prepared(program, values, EMULATED) as executable:
        executable.run()
        before = INSTALLATION.driver.calls["cuGraphInstantiateWithParams"]
        change_all(executable, program, "epsilon", 0.25)
        change_all(executable, program, "causal", 0)
        executable.run()
        assert bits(results(program, executable)) == expected
        assert INSTALLATION.driver.calls["cuGraphInstantiateWithParams"] == before


def change_all(executable: CudaExecutable, program: Compiled, slot: str, value: float) -> None:
    """Sets a slot of every launch that has it."""
    nodes = [
        node.index
        for node in program.graph.nodes
        if hasattr(node, "image") and any(found.name == slot for found in node.image.signature.slots)
    ]
    assert nodes
    for node in nodes:
        executable.set_scalar(node, slot, value)


def test_sizes_cannot_change() -> None:
    program = compiled("layer_forward", Element.F16)
    with prepared(program, {}, EMULATED) as executable:
        index = next(
            node.index
            for node in program.graph.nodes
            if hasattr(node, "image") and node.image.signature.name == "cgImageAttention"
        )
        from_17_to_16 = executable.can_update(SetScalar(index, "seq", 16))
        assert "axis 0 of mergedHalf would be 16; the graph was verified with 17" in from_17_to_16
        assert executable.can_update(SetScalar(index, "causal", 2)) == (
            "the image asks for require causal <= 1, and 2 is no 1",
        )
        assert executable.can_update(SetScalar(index, "causal", 0)) == ()
        assert executable.can_update(SetScalar(index, "queries", 0)) == (
            "slot queries is a pointer: a plane is bound to other memory with rebind",
        )
        assert np.isfinite(executable.get("cgOutput")).all()
