"""An imported graph as a manifest and blobs, and back, every field checked.

Receives an imported graph, or what a stranger wrote; guarantees, when reading, a graph that keeps the `rules` of
imported graphs, or FieldError with the place of the first field that does not. Codes are blobs of their own; contents
of allocations are one blob of safetensors, whose tensors are called by the allocations' numbers.
"""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.attribute_names import FUNCTION_ATTRIBUTES
from cgraph.backends.cuda.imported.model import (
    Allocation,
    CodeForm,
    Edge,
    ImportedCode,
    ImportedGraph,
    ImportedKernel,
    ImportedPlane,
    ImportedRecording,
    Level,
    MemoryKind,
    ParameterPlace,
)
from cgraph.backends.tensors import tensors_from_bytes, tensors_to_bytes
from cgraph.capture.codec import fields
from cgraph.capture.codec.blobs import DATA, DIGESTS, OUTPUTS, ReadsBlobs, read_digests
from cgraph.capture.codec.fields import FieldError
from cgraph.capture.imported.nodes import node_data, read_node
from cgraph.capture.imported.rules import check_rules

CONTENT = "imported"
KEYS = (
    "content", "capability", "allocations", "planes", "codes", "kernels", "levels", "events", "data", "remarks",
)  # fmt: skip
# Written only where there is one, so that a graph without has the bytes that it always had.
RECORDING = "recording"
RECORDING_KEYS = ("device", "outputs")
MOST_ROWS = 1_000_000
MOST_INT = 2**31 - 1


def imported_manifest(graph: ImportedGraph) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the blobs of a graph; the same for the same graph."""
    manifest = {
        "content": CONTENT,
        "capability": list(graph.capability),
        "allocations": [[allocation.size_bytes, allocation.memory.value] for allocation in graph.allocations],
        "planes": [[plane.name, plane.allocation, plane.offset, plane.size_bytes] for plane in graph.planes],
        "codes": [[code.form.value, code.architecture] for code in graph.codes],
        "kernels": [
            {
                "name": kernel.name,
                "parameters": [[place.offset, place.size_bytes] for place in kernel.parameters],
                "codes": list(kernel.codes),
                "attributes": dict(kernel.attributes),
            }
            for kernel in graph.kernels
        ],
        "levels": [
            {
                "nodes": [node_data(node) for node in level.nodes],
                "edges": [[e.before, e.after, e.from_port, e.to_port, e.type] for e in level.edges],
            }
            for level in graph.levels
        ],
        "events": graph.events,
        "data": sorted(graph.data),
        "remarks": list(graph.remarks),
    }
    blobs = {_code_blob(number): code.data for number, code in enumerate(graph.codes)}
    if graph.data:
        blobs[DATA] = _contents_blob(graph.data)
    if graph.recording is not None:
        outputs = graph.recording.outputs
        manifest[RECORDING] = {"device": graph.recording.device, "outputs": sorted(outputs)}
        blobs[DIGESTS] = b"".join(graph.recording.node_digests)
        if outputs:
            blobs[OUTPUTS] = _contents_blob(outputs)
    return manifest, blobs


def read_imported(manifest: Mapping[str, Any], blobs: ReadsBlobs) -> ImportedGraph:
    """A graph from a manifest and blobs.

    Raises:
        FieldError: a field is not what its place asks for, or the parts contradict each other.
        ProblemsFound: CG800 or CG805 where a blob cannot be read.
    """
    recorded = (RECORDING,) if RECORDING in manifest else ()
    values = fields.record(dict(manifest), "manifest", (*KEYS, *recorded))
    content, capability, allocations, planes, codes, kernels, levels, events, data, remarks, *recording = values
    if content != CONTENT:
        raise fields.wrong("content", CONTENT, content)
    major, minor = fields.integers(capability, "capability", 0, 999, 2)
    memory = tuple(
        _read_allocation(row, f"allocations.{number}")
        for number, row in enumerate(fields.listing(allocations, "allocations", most=MOST_ROWS))
    )
    forms = fields.listing(codes, "codes", most=MOST_ROWS)
    numbers = fields.integers(data, "data", 0, len(memory) - 1)
    expected = {*(_code_blob(number) for number in range(len(forms))), *((DATA,) if numbers else ())}
    device, outputs = _read_recording(recording[0], len(memory)) if recording else ("", [])
    expected |= {*((DIGESTS,) if recording else ()), *((OUTPUTS,) if outputs else ())}
    if set(blobs.names) != expected:
        raise FieldError("blobs", f"the blobs {sorted(expected)}", f"{sorted(blobs.names)}")
    graph = ImportedGraph(
        capability=(major, minor),
        allocations=memory,
        planes=tuple(
            _read_plane(row, f"planes.{number}")
            for number, row in enumerate(fields.listing(planes, "planes", most=MOST_ROWS))
        ),
        codes=tuple(_read_code(row, number, blobs) for number, row in enumerate(forms)),
        kernels=tuple(
            _read_kernel(row, f"kernels.{number}")
            for number, row in enumerate(fields.listing(kernels, "kernels", most=MOST_ROWS))
        ),
        levels=tuple(
            _read_level(row, f"levels.{number}")
            for number, row in enumerate(fields.listing(levels, "levels", most=MOST_ROWS))
        ),
        events=fields.integer(events, "events", 0, MOST_ROWS),
        data=_read_contents(numbers, memory, blobs, DATA),
        remarks=tuple(
            fields.text(row, f"remarks.{number}") for number, row in enumerate(fields.listing(remarks, "remarks"))
        ),
    )
    check_rules(graph)
    if recording:
        after = _read_contents(outputs, memory, blobs, OUTPUTS)
        digests = read_digests(blobs.read(DIGESTS), len(graph.levels[0].nodes))
        graph = attrs.evolve(graph, recording=ImportedRecording(device, after, digests))
    return graph


def _code_blob(number: int) -> str:
    return f"code {number}"


def _read_allocation(row: object, place: str) -> Allocation:
    size_bytes, kind = fields.listing(row, place, 2)
    return Allocation(fields.integer(size_bytes, place, 1), fields.choice(MemoryKind, kind, place))


def _read_plane(row: object, place: str) -> ImportedPlane:
    name, allocation, offset, size_bytes = fields.listing(row, place, 4)
    numbers = fields.integers([allocation, offset, size_bytes], place)
    return ImportedPlane(fields.name(name, place), *numbers)


def _read_code(row: object, number: int, blobs: ReadsBlobs) -> ImportedCode:
    place = f"codes.{number}"
    form, architecture = fields.listing(row, place, 2)
    text = fields.text(architecture, place, fields.MOST_CHARACTERS)
    return ImportedCode(fields.choice(CodeForm, form, place), text, blobs.read(_code_blob(number)))


def _read_kernel(row: object, place: str) -> ImportedKernel:
    name, parameters, codes, attributes = fields.record(row, place, ("name", "parameters", "codes", "attributes"))
    values = fields.record(attributes, f"{place}.attributes", tuple(FUNCTION_ATTRIBUTES))
    return ImportedKernel(
        fields.name(name, f"{place}.name"),
        tuple(
            ParameterPlace(*fields.integers(pair, f"{place}.parameters.{number}", 0, MOST_INT, 2))
            for number, pair in enumerate(fields.listing(parameters, f"{place}.parameters", most=MOST_ROWS))
        ),
        tuple(fields.integers(codes, f"{place}.codes", 0, MOST_ROWS)),
        tuple(
            (key, fields.integer(value, f"{place}.attributes.{key}", -MOST_INT - 1, MOST_INT))
            for key, value in zip(FUNCTION_ATTRIBUTES, values, strict=True)
        ),
    )


def _read_level(row: object, place: str) -> Level:
    nodes, edges = fields.record(row, place, ("nodes", "edges"))
    return Level(
        tuple(
            read_node(data, f"{place}.nodes.{number}")
            for number, data in enumerate(fields.listing(nodes, f"{place}.nodes", most=MOST_ROWS))
        ),
        tuple(
            Edge(*fields.integers(data, f"{place}.edges.{number}", 0, MOST_INT, 5))
            for number, data in enumerate(fields.listing(edges, f"{place}.edges"))
        ),
    )


def _contents_blob(contents: Mapping[int, NDArray[np.uint8]]) -> bytes:
    return tensors_to_bytes({str(number): array for number, array in contents.items()})


def _read_recording(value: object, allocations: int) -> tuple[str, list[int]]:
    """The device, and the numbers of the allocations whose contents were kept: all, or none where the run failed."""
    device, outputs = fields.record(value, RECORDING, RECORDING_KEYS)
    numbers = fields.integers(outputs, f"{RECORDING}.outputs", 0, allocations - 1)
    if numbers not in ([], list(range(allocations))):
        raise fields.wrong(f"{RECORDING}.outputs", "the number of every allocation, or none", numbers)
    return fields.name(device, f"{RECORDING}.device"), numbers


def _read_contents(
    numbers: list[int], memory: tuple[Allocation, ...], blobs: ReadsBlobs, blob: str
) -> dict[int, NDArray[np.uint8]]:
    """Contents of allocations. Raises FieldError where a tensor is missing, too many, or of another size or type."""
    if not numbers:
        return {}
    if sorted(set(numbers)) != numbers:
        raise fields.wrong(blob, "numbers of allocations, ascending", numbers)
    try:
        tensors = tensors_from_bytes(blobs.read(blob))
    except ValueError as error:
        raise FieldError(blob, "a blob of safetensors", str(error)) from error
    if tensors.keys() != {str(number) for number in numbers}:
        raise FieldError(blob, f"tensors {numbers}", f"{sorted(tensors)}")
    found = {number: tensors[str(number)] for number in numbers}
    for number, tensor in found.items():
        if tensor.dtype != np.uint8 or tensor.shape != (memory[number].size_bytes,):
            expected = f"{memory[number].size_bytes} bytes"
            raise FieldError(f"{blob}.{number}", expected, f"{tensor.dtype} of the shape {list(tensor.shape)}")
    return found
