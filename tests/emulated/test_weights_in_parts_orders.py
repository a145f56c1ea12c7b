"""Two weight gradients in parts, which share the memory of their parts, on the emulated device.

Every order, nodes drawn at random where no edge orders them, and a replay give the same bits, near the exact products.
"""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from cgraph.backends.devices import HOST, Device
from cgraph.core.elements import Element
from cgraph.graph.model import LaunchNode
from cgraph.models.inputs import Arrays
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled, check, compile_checked, lower, parse
from cgraph.schedule.model import Order
from cgraph.source import Source
from tests.support.emulated_runs import EMULATED, random_order

pytestmark = pytest.mark.slow

PROGRAM = """
import "operations.cg"
parameter m : Nat = 70
parameter n : Nat = 33
parameter k : Nat = 777
plane a : half [k, m] input
plane b : half [k, n] input
plane c : f32 [m, n] output
plane d : f32 [n, n] output
def main = (cgThen (cgProductWeight m n k c a b) (cgProductWeight n n k d b b))
"""
K = 777
F32_ROUNDING = 2.0**-24


@cache
def compiled(order: Order, multiprocessors: int) -> Compiled:
    program = check(parse(Source("weights.cg", PROGRAM)))
    return compile_checked(program, {"cgMultiprocessors": multiprocessors}, half=Element.BF16, order=order)


def run(program: Compiled, device: Device, seed: int | None = None) -> list[Arrays]:
    """The results of a run and, with a seed, of a replay in an order drawn at random."""
    executable = lower(program.graph, program.schedule, program.plan, device)
    for name, values in random_planes((program.graph,), 7).items():
        executable.set(name, values)
    executable.run()
    runs = [{name: executable.get(name) for name in "cd"}]
    if seed is not None:
        for name in "cd":
            executable.set(name, np.full_like(executable.get(name), np.nan))
        with random_order(seed):
            executable.run()
        runs.append({name: executable.get(name) for name in "cd"})
    return runs


def test_every_order_gives_the_same_bits_near_the_exact_products() -> None:
    runs = [found for seed, order in enumerate(Order) for found in run(compiled(order, 4), EMULATED, seed)]
    assert len({tuple(found[name].tobytes() for name in "cd") for found in runs}) == 1
    values = {
        name: array.astype(np.float64) for name, array in random_planes((compiled(Order.SERIAL, 4).graph,), 7).items()
    }
    for name, left in (("c", "a"), ("d", "b")):
        exact = values[left].T @ values["b"]
        # A sum of K products, in whatever order, errs by less than K roundings of the sum of their magnitudes.
        bound = K * F32_ROUNDING * (np.abs(values[left]).T @ np.abs(values["b"]))
        for found in (runs[0], *run(compiled(Order.SERIAL, 4), HOST), *run(compiled(Order.SERIAL, 1), EMULATED)):
            assert np.all(np.abs(found[name] - exact) <= bound), name


@pytest.mark.parametrize(("multiprocessors", "parts"), [(1, [1, 1]), (2, [1, 2]), (4, [2, 3])])
def test_what_is_launched(multiprocessors: int, parts: list[int]) -> None:
    # c has two tiles and d one; k has three times 256 rows.
    nodes = [node for node in compiled(Order.SERIAL, multiprocessors).graph.nodes if isinstance(node, LaunchNode)]
    products = [node for node in nodes if node.image.signature.name != "cgImageProductWeightSum"]
    assert [node.grid[2] for node in products] == parts
    assert len(nodes) == len(parts) + sum(count > 1 for count in parts)
