"""What differs between two bundles beside their commands and planes, which the comparison of views pairs up.

Receives two loaded bundles; guarantees one fact a line, in a fixed order, and none for bundles that were made of equal
values: parameters, order, memory, kernel files with their macros and code, contents of planes, the recorded run.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.stored_code import KernelModule
from cgraph.capture.model import Bundle

NOTHING = "none"


@frozen
class Difference:
    """What differs, and in words what it is on both sides; `none` where one side does not have it."""

    what: str
    before: str
    after: str


def bundle_differences(before: Bundle | ImportedGraph, after: Bundle | ImportedGraph) -> tuple[Difference, ...]:
    """All that differs but commands and planes."""
    left, right = _facts(before), _facts(after)
    names = dict.fromkeys((*left, *right))
    return tuple(
        Difference(name, left.get(name, NOTHING), right.get(name, NOTHING))
        for name in names
        if left.get(name, NOTHING) != right.get(name, NOTHING)
    )


def _facts(bundle: Bundle | ImportedGraph) -> dict[str, str]:
    return dict(_imported_facts(bundle) if isinstance(bundle, ImportedGraph) else _program_facts(bundle))


def _program_facts(bundle: Bundle) -> Iterator[tuple[str, str]]:
    graph, plan = bundle.graph, bundle.plan
    yield "content", "program"
    yield "entry", graph.entry
    yield "half", graph.half.value
    for name, value in graph.parameters:
        yield f"parameter {name}", repr(value)
    yield "order", bundle.schedule.order.value
    yield "arena bytes", str(plan.size_bytes)
    yield "places in the arena", _digest(repr(plan.offsets).encode())
    seen: dict[str, int] = {}
    for module in bundle.modules:
        number = seen[module.file] = seen.get(module.file, 0) + 1
        name = module.file if number == 1 else f"{module.file} ({number})"
        for what, fact in _module_facts(module):
            yield f"{name}: {what}", fact
    yield from _contents_facts("contents", bundle.data)
    if bundle.recording is not None:
        yield "recorded on", bundle.recording.device
        yield from _contents_facts("recorded", bundle.recording.outputs)
        yield "recorded commands", _digest(b"".join(bundle.recording.node_digests))


def _module_facts(module: KernelModule) -> Iterator[tuple[str, str]]:
    yield "text", _digest(module.source.encode())
    for header, text in module.includes:
        yield f"header {header}", _digest(text.encode())
    yield "options", " ".join(module.options)
    for macro, value in module.defines:
        yield f"macro {macro}", value
    for code in module.codes:
        yield f"{code.kind.value} {code.architecture}", _digest(code.data)


def _imported_facts(graph: ImportedGraph) -> Iterator[tuple[str, str]]:
    yield "content", "imported"
    yield "compute capability", ".".join(map(str, graph.capability))
    for number, code in enumerate(graph.codes):
        yield f"code {number}", f"{code.form.value} {code.architecture} {_digest(code.data)}".replace("  ", " ")
    for kernel in graph.kernels:
        for name, value in kernel.attributes:
            yield f"kernel {kernel.name}: {name}", str(value)
    for number, remark in enumerate(graph.remarks):
        yield f"remark {number}", remark
    yield from _contents_facts("contents", {graph.planes[row].name: array for row, array in graph.data.items()})
    if graph.recording is not None:
        outputs = graph.recording.outputs
        yield "recorded on", graph.recording.device
        yield from _contents_facts("recorded", {graph.planes[row].name: outputs[row] for row in outputs})
        yield "recorded nodes", _digest(b"".join(graph.recording.node_digests))


def _contents_facts(what: str, arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, str]]:
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        shape = "×".join(map(str, array.shape))
        yield f"{what} of {name}", f"{array.dtype} {shape} {_digest(array.tobytes())}"


def _digest(data: bytes) -> str:
    """Enough of a SHA-256 to tell two apart by eye and by chance."""
    return f"sha256 {sha256(data).hexdigest()[:32]}"
