"""What a bundle holds, as plain data: for `cgraph inspect` and for other tools.

Receives a loaded bundle; guarantees values that JSON has, deterministic, each with its unit in its name. Printing is
left to the command line; a picture to the view.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from cgraph.backends.cuda.entries import Entry
from cgraph.backends.cuda.imported.model import WORDS, ImportedGraph, KernelNode
from cgraph.capture.model import Bundle, Code
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, JoinNode, LaunchNode
from cgraph.graph.origins import origin_notes
from cgraph.graph.text import node_text
from cgraph.schedule.cost import levels

KINDS = {LaunchNode: "launch", FillNode: "fill", CopyNode: "copy", JoinNode: "join"}


def bundle_facts(bundle: Bundle | ImportedGraph) -> dict[str, Any]:
    """Everything but the commands one by one, which `command_facts` gives."""
    return _imported_facts(bundle) if isinstance(bundle, ImportedGraph) else _program_facts(bundle)


def command_facts(graph: CommandGraph) -> Iterator[dict[str, Any]]:
    """Each command: what it does, its phase, its place, and the way that led to it."""
    for node in graph.nodes:
        span = node.origin.span
        yield {
            "index": node.index,
            "kind": KINDS[type(node)],
            "text": node_text(graph, node),
            "phase": None if node.phase is None else graph.phases[node.phase].name,
            "source": span.source.name,
            "line": span.line,
            "column": span.column,
            "origin": list(origin_notes(node.origin)),
        }


def _program_facts(bundle: Bundle) -> dict[str, Any]:
    graph, schedule, plan = bundle.graph, bundle.schedule, bundle.plan
    recording = bundle.recording
    return {
        "content": "program",
        "entry": graph.entry,
        "half": graph.half.value,
        "parameters": dict(graph.parameters),
        "sources": sorted({node.origin.span.source.name for node in graph.nodes}),
        "commands": dict(Counter(KINDS[type(node)] for node in graph.nodes)),
        "order": schedule.order.value,
        "edges": sum(map(len, schedule.predecessors)),
        "levels": max(levels(schedule), default=-1) + 1,
        "kernels": list(_kernel_facts(bundle)),
        "files": [
            {"file": module.file, "code": [_code_facts(code) for code in module.codes]} for module in bundle.modules
        ],
        "planes": _plane_facts(graph),
        "memory": {
            "arena_bytes": plan.size_bytes,
            "lower_bound_bytes": plan.lower_bound_bytes,
            "unshared_bytes": plan.unshared_bytes,
            "persistent_bytes": plan.persistent_bytes,
        },
        "contents": {name: array.nbytes for name, array in bundle.data.items()},
        "recording": recording
        and {
            "device": recording.device,
            "outputs": list(recording.outputs),
            "commands": len(recording.node_digests),
        },
    }


def _plane_facts(graph: CommandGraph) -> dict[str, dict[str, int]]:
    found: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"planes": 0, "size_bytes": 0})
    for plane in graph.planes:
        found[plane.role.value]["planes"] += 1
        found[plane.role.value]["size_bytes"] += plane.size_bytes
    return dict(found)


def _kernel_facts(bundle: Bundle) -> Iterator[dict[str, Any]]:
    launches = Counter(node.image for node in bundle.graph.nodes if isinstance(node, LaunchNode))
    for image, row in zip(bundle.images, bundle.module_of, strict=True):
        signature = image.signature
        codes = () if row is None else bundle.modules[row].codes
        yield {
            "image": signature.name,
            "file": signature.file,
            "entry": signature.entry,
            "constants": dict(image.constants),
            "launches": launches[image],
            "code": [
                {"kind": code.kind.value, "architecture": code.architecture, **_resources(code, signature.entry)}
                for code in codes
            ],
        }


def _resources(code: Code, name: str) -> dict[str, int | None]:
    entry: Entry | None = next((entry for entry in code.entries if entry.name == name), None)
    known = None if entry is None else entry.resources
    if known is None:
        return dict.fromkeys(("registers", "shared_bytes", "spilled_bytes"))
    return {
        "registers": known.registers,
        "shared_bytes": known.shared_bytes,
        "spilled_bytes": known.spill_store_bytes + known.spill_load_bytes,
    }


def _code_facts(code: Code) -> dict[str, Any]:
    version = code.ptx_version
    return {
        "kind": code.kind.value,
        "architecture": code.architecture,
        "ptx_version": version and ".".join(map(str, version)),
        "size_bytes": len(code.data),
    }


def _imported_facts(graph: ImportedGraph) -> dict[str, Any]:
    nodes = [node for level in graph.levels for node in level.nodes]
    launches = Counter(node.kernel for node in nodes if isinstance(node, KernelNode))
    return {
        "content": "imported",
        "capability": ".".join(map(str, graph.capability)),
        "graphs": len(graph.levels),
        "commands": dict(Counter("kernel" if isinstance(node, KernelNode) else WORDS[type(node)] for node in nodes)),
        "edges": sum(len(level.edges) for level in graph.levels),
        "kernels": [
            {
                "kernel": kernel.name,
                "parameters": len(kernel.parameters),
                "launches": launches[number],
                "code": [graph.codes[code].form.value for code in kernel.codes],
            }
            for number, kernel in enumerate(graph.kernels)
        ],
        "files": [
            {"kind": code.form.value, "architecture": code.architecture, "size_bytes": len(code.data)}
            for code in graph.codes
        ],
        "memory": [
            {
                "name": plane.name,
                "memory": graph.allocations[plane.allocation].memory.value,
                "size_bytes": plane.size_bytes,
            }
            for plane in graph.planes
        ],
        "contents": {graph.planes[number].name: array.nbytes for number, array in graph.data.items()},
        "remarks": list(graph.remarks),
        "recording": graph.recording
        and {
            "device": graph.recording.device,
            "outputs": [graph.planes[number].name for number in graph.recording.outputs],
            "commands": len(graph.recording.node_digests),
        },
    }
