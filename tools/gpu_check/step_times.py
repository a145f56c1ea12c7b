"""How long each kernel takes, against the bytes and operations that it cannot avoid; and the layer as a whole.

A kernel's time is the median between two events around it, with nothing beside it. Its bytes are those of the
declaration's extents, each once; its operations those of its products. The roofline is the larger of two times: its
bytes at the rate of the device's own copies, which are measured first, and its operations at the rate of the tensor
cores, which is computed from the clock. The share says how much of the measured time the roofline explains.
"""

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from attrs import frozen
from bounds import Rounding
from launches import Case, compile_case, inputs_of, launch_of
from rows import Row, Status
from session import Session, compiled_layer, opened
from step_facts import device_numbers

from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import LaunchNode
from cgraph.models.random_planes import random_plane
from cgraph.pipeline import compile_program
from cgraph.source import Source

HALF = Element.BF16
ROUNDS, WARM_ROUNDS = 20, 3
COPY_ELEMENTS = 1 << 28
LAYER = {"cgSeq": 2048, "cgHeads": 16, "cgHeadWidth": 64, "cgFfn": 4096, "cgLayers": 1}
SMALL_LAYER = {"cgSeq": 17, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 40, "cgLayers": 1}
# Products of [rows, keys, channels] that a kernel makes.
ATTENTION_PRODUCTS = {"cgAttention": 2, "cgAttentionBackwardKeys": 4, "cgAttentionBackwardQueries": 3}


@frozen
class Rates:
    """What the device does at best: bytes a second of a copy (read and written), operations a second or None."""

    copy_bytes: float
    operations: float | None


def check_times(session: Session) -> Iterator[Row]:
    """A row for each kernel, and one for the layer."""
    rates = _rates(session)
    peak = "unknown" if rates.operations is None else f"{rates.operations / 1e12:.0f} TFLOP/s"
    words = f"copy {rates.copy_bytes / 1e9:.0f} GB/s (measured), tensor cores {peak} (from the clock)"
    numbers = {"copy_gb_s": rates.copy_bytes / 1e9, "tensor_tflops": (rates.operations or 0) / 1e12}
    yield Row("rates", Status.NOTE, words, numbers)
    for case in _cases(reduced=session.reduced):
        try:
            yield _time_case(case, session, rates)
        except ProblemsFound as stopped:
            text = "; ".join(problem.render_title() for problem in stopped.problems)
            yield Row(case.title, Status.FAILED, text)
    yield time_layer(session)


def time_layer(session: Session) -> Row:
    """The layer's backward pass as one launch, and as the sum of its commands."""
    sizes = SMALL_LAYER if session.reduced else LAYER
    compiled = compiled_layer("layer_backward", sizes, HALF)
    values = {plane.name: random_plane(plane, 0) for plane in compiled.graph.planes if plane.role.value != "scratch"}
    rounds = 2 if session.reduced else ROUNDS
    with opened(compiled, values, session.device) as executable:
        commands = _command_times(executable, len(compiled.graph.nodes), 1 if session.reduced else 5)
        launches_ms = []
        for _ in range(rounds):
            start = perf_counter()
            executable.run()
            launches_ms.append(1e3 * (perf_counter() - start))
    total = sum(commands)
    words = f"{median(launches_ms):.3f} ms a launch, its {len(commands)} commands one by one {total:.3f} ms"
    numbers = {"launch_ms": median(launches_ms), "commands_ms": total, "commands": len(commands), **sizes}
    return Row(f"layer backward {HALF.value}", Status.NOTE, words, numbers)


def _cases(*, reduced: bool) -> Iterator[Case]:
    rounding = Rounding()
    m, n, k = (65, 64, 33) if reduced else (4096, 4096, 4096)
    for kind in ("Data", "DataAdding", "Weight", "Forward", "ForwardAdding"):
        yield Case(f"cgImageProduct{kind}", {"m": m, "n": n, "k": k, "tile": 64 if reduced else 128}, rounding)
    elements = 1030 if reduced else 1 << 25
    for kind in ("Add", "Multiply", "CastDown", "GatedGelu", "GatedGeluBackward"):
        yield Case(f"cgImage{kind}", {"n": elements}, rounding)
    rows, width = (40, 36) if reduced else (8192, 4096)
    sizes = {"rows": rows, "width": width}
    yield Case("cgImageLayerNorm", {**sizes, "epsilon": 1e-5}, rounding)
    yield Case("cgImageLayerNormBackwardRows", sizes, rounding, ranges={"statistics": (0.5, 1.5)})
    yield Case("cgImageLayerNormBackwardSum", {"parts": rows // 32, "width": width}, rounding)
    seq, heads, channels = (33, 2, 16) if reduced else (4096, 16, 128)
    parameters = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": channels}
    yield Case("cgImageTokenToHead", {}, rounding, parameters)
    yield Case("cgImageHeadTranspose", {"rows": seq, "columns": channels, "heads": heads}, rounding)
    yield Case("cgImageRopeTable", {"rows": seq, "base": 10000.0}, rounding, parameters)
    yield Case("cgImageRope", {"rows": seq}, rounding, parameters)
    yield Case("cgImageInverseRope", {}, rounding, parameters)
    attention = {"seq": seq, "heads": heads, "headWidth": channels}
    yield Case("cgImageAttentionRowDot", attention, rounding, parameters)
    for kind in ("", "BackwardKeys", "BackwardQueries"):
        ranges = {"statistics": (8.0, 9.0)}
        numbers = {**attention, "causal": 1}
        yield Case(f"cgImageAttention{kind}", numbers, rounding, parameters, ranges=ranges)


def _rates(session: Session) -> Rates:
    count = 1 << 12 if session.reduced else COPY_ELEMENTS
    text = f"plane x : f32 [{count}] input\nplane y : f32 [{count}] output\ndef main = (cgCopy y x)"
    compiled = compile_program(Source("<copy>", text))
    with opened(compiled, {}, session.device) as executable:
        (elapsed_ms,) = _command_times(executable, 1, 2 if session.reduced else ROUNDS)
    tflops = device_numbers(session).get("tensor_tflops")
    return Rates(8 * count / (elapsed_ms / 1e3), None if tflops is None else 1e12 * tflops)


def _time_case(case: Case, session: Session, rates: Rates) -> Row:
    compiled = compile_case(case, HALF)
    node = launch_of(compiled)
    with opened(compiled, inputs_of(case, compiled), session.device) as executable:
        times_ms = _command_times(executable, len(compiled.graph.nodes), 1 if session.reduced else ROUNDS)
    seconds = times_ms[node.index] / 1e3
    moved = sum((access.stop - access.start) * (access.mode.reads + access.mode.writes) for access in node.accesses)
    operations = _operations(node)
    roof = moved / rates.copy_bytes
    if operations and rates.operations is not None:
        roof = max(roof, operations / rates.operations)
    words = f"{1e6 * seconds:.1f} µs, {moved / seconds / 1e9:.0f} GB/s"
    if operations:
        words += f", {operations / seconds / 1e12:.1f} TFLOP/s"
    numbers = {
        "elapsed_us": 1e6 * seconds,
        "moved_bytes": moved,
        "operations": operations,
        "gb_s": moved / seconds / 1e9,
        "tflops": operations / seconds / 1e12,
        "roofline_share": roof / seconds,
    }
    return Row(case.title, Status.NOTE, f"{words}, {roof / seconds:.0%} of the roofline", numbers)


def _command_times(executable: Any, count: int, rounds: int) -> list[float]:
    """The median time of each command in milliseconds, at least a nanosecond."""
    times: list[list[float]] = [[] for _ in range(count)]
    for number in range(rounds + WARM_ROUNDS * (rounds > 2)):
        if number == WARM_ROUNDS:
            times = [[] for _ in range(count)]
        executable.run(lambda index, elapsed_ms: times[index].append(elapsed_ms))  # noqa: B023  (called at once)
    return [max(median(of_command), 1e-6) for of_command in times]


def _operations(node: LaunchNode) -> int:
    slots = node.image.signature.slots
    sizes = {slot.name: value for slot, value in zip(slots, node.arguments, strict=True) if isinstance(value, int)}
    if {"m", "n", "k"} <= sizes.keys():
        return 2 * sizes["m"] * sizes["n"] * sizes["k"]
    products = ATTENTION_PRODUCTS.get(node.image.signature.entry, 0)
    if not products:
        return 0
    seq = sizes["seq"]
    pairs = seq * (seq + 1) // 2 if sizes["causal"] else seq * seq
    return 2 * products * pairs * sizes["heads"] * sizes["headWidth"]
