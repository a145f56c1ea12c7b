"""A layer's backward pass on the device: three orders, both halves, with and without a mask, replays, and changes."""

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
from attrs import frozen
from cuda.bindings import driver as cu
from rows import Row, Status, judged
from session import HALVES, Arrays, Session, compiled_layer, opened, poison, results, same_bits, widened

from cgraph.backends.devices import HOST
from cgraph.cli.layer_oracle import layer_bound
from cgraph.core.elements import Element
from cgraph.graph.model import LaunchNode
from cgraph.graph.purposes import result_planes
from cgraph.models.comparison import compare
from cgraph.models.forward import run_forward
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled
from cgraph.schedule.model import Order

REPLAYS = 1000
SMALL = {"cgSeq": 17, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 40, "cgLayers": 1}
ODD = {"cgSeq": 77, "cgHeads": 3, "cgHeadWidth": 24, "cgFfn": 100, "cgLayers": 2}
LARGE = {"cgSeq": 1024, "cgHeads": 8, "cgHeadWidth": 64, "cgFfn": 2048, "cgLayers": 1}
REPLAYED = {"cgSeq": 256, "cgHeads": 4, "cgHeadWidth": 64, "cgFfn": 1024, "cgLayers": 1}
Sizes = Mapping[str, int | float]


@frozen(eq=False)
class Layer:
    """A backward program, values for its planes, and what it computes in f64 on the host."""

    compiled: Compiled
    values: Arrays
    expected: Arrays


def prepared_layer(sizes: Sizes, half: Element, *, exact: bool = True) -> Layer:
    """The backward program in the order of its text. Without `exact` nothing is expected."""
    forward, backward = (compiled_layer(name, sizes, half) for name in ("layer_forward", "layer_backward"))
    values = random_planes((forward.graph, backward.graph), 1)
    with opened(forward, values) as executable:
        values |= run_forward(forward.graph, executable, values)
    expected: Arrays = {}
    if exact:
        wide = compiled_layer("layer_backward", sizes, Element.F64)
        with opened(wide, widened(values), HOST) as executable:
            executable.run()
            expected = results(wide, executable)
    return Layer(backward, values, expected)


def check_layer(session: Session) -> Iterator[Row]:
    """A row for each size, half, mask and order."""
    for title, sizes in (("small", SMALL),) if session.reduced else (("odd", ODD), ("large", LARGE)):
        for half in HALVES:
            # A small session takes one mask for each half.
            for causal in (HALVES.index(half),) if session.reduced else (0, 1):
                yield from _check_orders(session, f"{title} {half.value} causal={causal}", sizes, half, causal)


def _check_orders(session: Session, title: str, sizes: Sizes, half: Element, causal: int) -> Iterator[Row]:
    sizes = {**sizes, "cgCausal": causal}
    layer = prepared_layer(sizes, half)
    bound = layer_bound(layer.compiled.graph) or 0.0
    first: Arrays = {}
    # A small session takes all orders for the first half alone.
    orders = tuple(Order)[:1] if session.reduced and half is not HALVES[0] else tuple(Order)
    for order in orders:
        compiled = compiled_layer("layer_backward", sizes, half, order)
        with opened(compiled, layer.values, session.device) as executable:
            poison(compiled, executable)
            executable.run()
            found = results(compiled, executable)
        worst = max(compare(layer.expected, found, bound), key=lambda row: row.error)
        first = first or found
        different = same_bits(first, found)
        detail = f"{worst.name}: relative error {worst.error:.1e}, bound {bound:.1e}"
        if different:
            detail += f"; not the bits of {next(iter(Order)).value}: {', '.join(different)}"
        yield judged(f"{title} {order.value}", worst.holds and not different, detail, error=worst.error, bound=bound)


def check_small_layer(session: Session) -> Iterator[Row]:
    """One small run, for compute-sanitizer."""
    sizes = {**SMALL, "cgCausal": 1}
    yield from _check_orders(session, "small f16", sizes, Element.F16, 1)


def check_replays(session: Session) -> Iterator[Row]:
    """One executable graph, launched again and again: the same bits every time."""
    count = 3 if session.reduced else REPLAYS
    layer = prepared_layer(SMALL if session.reduced else REPLAYED, Element.BF16, exact=False)
    names = [plane.name for plane in result_planes(layer.compiled.graph)]
    with opened(layer.compiled, layer.values, session.device) as executable:
        executable.run()
        first = _digest(results(layer.compiled, executable))
        for number in range(1, count):
            # Another result is made NaN each time: one that is not written again would be seen.
            name = names[number % len(names)]
            executable.set(name, np.full_like(executable.get(name), np.nan))
            executable.run()
            if _digest(results(layer.compiled, executable)) != first:
                yield Row("replays", Status.FAILED, f"replay {number} has other bits", {"replay": number})
                return
    yield judged("replays", passed=True, detail=f"{count} launches of one graph, the same bits", replays=count)


def check_changes(session: Session) -> Iterator[Row]:
    """Other memory for inputs and other scalars, without instantiating again: the bits of a graph made with them."""
    half = Element.F16
    sizes = SMALL if session.reduced else REPLAYED
    layer = prepared_layer(sizes, half, exact=False)
    other = random_planes((layer.compiled.graph,), 2)["cgOutputGradient"]
    changed = {**layer.values, "cgOutputGradient": other}
    with opened(layer.compiled, changed, session.device) as executable:
        executable.run()
        expected = results(layer.compiled, executable)
    with opened(layer.compiled, layer.values, session.device) as executable:
        executable.run()
        with executable.device.current():
            address = executable.device.call(cu.cuMemAlloc, other.nbytes)
            executable.device.call(cu.cuMemcpyHtoD, address, other.ctypes.data, other.nbytes)
        executable.rebind("cgOutputGradient", int(address))
        executable.run()
        different = same_bits(expected, results(layer.compiled, executable))
        with executable.device.current():
            executable.device.call(cu.cuMemFree, address)
    yield judged("an input in other memory", not different, ", ".join(different) or "the bits of a set plane")
    yield from _check_scalars(session, sizes, half)


def _check_scalars(session: Session, sizes: Sizes, half: Element) -> Iterator[Row]:
    changes = {"epsilon": ("cgNormEpsilon", 0.25), "causal": ("cgCausal", 0)}
    start = compiled_layer("layer_forward", sizes, half)
    values = random_planes((start.graph,), 1)
    goal = compiled_layer("layer_forward", {**sizes, **dict(changes.values())}, half)
    with opened(goal, values, session.device) as executable:
        executable.run()
        expected = results(goal, executable)
    with opened(start, values, session.device) as executable:
        executable.run()
        before = same_bits(expected, results(start, executable))
        for slot, (_, value) in changes.items():
            for node in start.graph.nodes:
                if isinstance(node, LaunchNode) and any(s.name == slot for s in node.image.signature.slots):
                    executable.set_scalar(node.index, slot, value)
        executable.run()
        different = same_bits(expected, results(start, executable))
    detail = ", ".join(different) or "the bits of a graph made with them"
    yield judged("scalars of a graph changed", bool(before) and not different, detail)


def _digest(planes: Arrays) -> bytes:
    digest = hashlib.sha256()
    for array in planes.values():
        digest.update(array.tobytes())
    return digest.digest()
