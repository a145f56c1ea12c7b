"""A bundle of a program as a manifest and blobs, and back.

Receives a bundle, or what a stranger wrote; guarantees, when reading, a graph that keeps every rule of graphs, a
schedule that orders all of its hazards, a memory plan in which nothing in use is overwritten, code that takes what
launches give, and contents that fit the planes: FieldError or ProblemsFound for anything else. Nothing is run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.tensors import tensors_from_bytes, tensors_to_bytes
from cgraph.capture.codec import fields
from cgraph.capture.codec.blobs import DATA, DIGESTS, OUTPUTS, ReadsBlobs, read_digests
from cgraph.capture.codec.codes import CodesWriter, read_module_of, read_modules
from cgraph.capture.codec.graphs import graph_data, read_graph
from cgraph.capture.codec.limits import check_effort
from cgraph.capture.codec.places import NOTHING
from cgraph.capture.codec.plans import plan_data, read_plan
from cgraph.capture.codec.schedules import read_schedule, schedule_data
from cgraph.capture.model import Bundle, Recording, launched_images
from cgraph.diagnostics import ProblemsFound, Severity
from cgraph.graph.hazards import Hazard, find_hazards
from cgraph.graph.model import CommandGraph, Plane
from cgraph.graph.verify import ERROR_RULES, verify

CONTENT = "program"
KEYS = ("content", "graph", "schedule", "plan", "modules", "codes", "module_of", "data", "recording")
RECORDING_KEYS = ("device", "outputs", "digests")


def program_manifest(bundle: Bundle) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the blobs of a bundle; the same for the same bundle.

    Raises:
        ValueError: no builder made the graph.
    """
    codes = CodesWriter()
    modules = [codes.module(module) for module in bundle.modules]
    blobs = codes.blobs
    recording = bundle.recording
    if bundle.data:
        blobs[DATA] = tensors_to_bytes(bundle.data)
    if recording is not None:
        blobs[OUTPUTS] = tensors_to_bytes(recording.outputs)
        blobs[DIGESTS] = b"".join(recording.node_digests)
    manifest = {
        "content": CONTENT,
        "graph": graph_data(bundle.graph),
        "schedule": schedule_data(bundle.schedule),
        "plan": plan_data(bundle.plan),
        "modules": modules,
        "codes": codes.codes,
        "module_of": [NOTHING if row is None else row for row in bundle.module_of],
        "data": DATA if bundle.data else None,
        "recording": recording and {"device": recording.device, "outputs": OUTPUTS, "digests": DIGESTS},
    }
    return manifest, blobs


def read_program(manifest: Mapping[str, Any], blobs: ReadsBlobs) -> Bundle:
    """A bundle from a manifest and blobs.

    Raises:
        FieldError: a field is not what its place asks for, or parts contradict each other.
        ProblemsFound: CG5xx where the graph breaks rules, CG813 with CG736 to CG738 where code does not fit, CG800 or
            CG805 where a blob cannot be read.
    """
    content, graph, schedule, plan, modules, codes, module_of, data, recording = fields.record(
        dict(manifest), "manifest", KEYS
    )
    del content  # it led here
    known, hazards = _read_verified(graph)
    ordered = read_schedule(schedule, "schedule", known, hazards)
    planned = read_plan(plan, "plan", known, ordered)
    unread = dict.fromkeys(blobs.names)
    names = set(unread)

    def read(name: str) -> bytes:
        if name not in names:
            raise fields.FieldError("blobs", f"a blob `{name}`", "none of that name")
        unread.pop(name, None)
        return blobs.read(name)

    stored = read_modules(modules, codes, read)
    rows = read_module_of(module_of, "module_of", launched_images(known), stored)
    contents: dict[str, NDArray[Any]] = {}
    if data is not None:
        fields.exactly(data, "data", DATA)
        contents = _read_contents(read(DATA), DATA, known.planes)
    recorded = None
    if recording is not None:
        device, outputs, digests = fields.record(recording, "recording", RECORDING_KEYS)
        fields.exactly(outputs, "recording.outputs", OUTPUTS)
        fields.exactly(digests, "recording.digests", DIGESTS)
        recorded = Recording(
            fields.name(device, "recording.device"),
            _read_contents(read(OUTPUTS), OUTPUTS, known.planes),
            # A run may be kept without what its commands wrote.
            read_digests(digest, len(known.nodes)) if (digest := read(DIGESTS)) else (),
        )
    if unread:
        raise fields.FieldError("blobs", "only blobs that the manifest names", f"`{next(iter(unread))}`")
    return Bundle(
        known,
        ordered,
        planned,
        stored,
        tuple(None if row == NOTHING else row for row in rows),
        contents,
        recorded,
    )


def _read_verified(value: object) -> tuple[CommandGraph, tuple[Hazard, ...]]:
    graph = read_graph(value, "graph")
    check_effort(graph, "graph")
    hazards = find_hazards(graph)
    problems = [problem for problem in verify(graph, hazards, rules=ERROR_RULES) if problem.severity is Severity.ERROR]
    if problems:
        raise ProblemsFound(problems)
    return graph, hazards


def _read_contents(data: bytes, place: str, planes: Sequence[Plane]) -> dict[str, NDArray[Any]]:
    by_name = {plane.name: plane for plane in planes}
    try:
        arrays = tensors_from_bytes(data)
    except ValueError as error:
        raise fields.FieldError(place, "a block of safetensors", str(error)) from error
    for name, array in arrays.items():
        plane = by_name.get(name)
        if plane is None:
            raise fields.wrong(f"{place}.{name[: fields.MOST_SHOWN]!a}", "contents of a plane of the graph", name)
        expected, found = DTYPES[plane.element], array.dtype
        if found != expected or array.shape != plane.extent:
            here = f"{place}.{plane.name}"
            raise fields.FieldError(here, f"{expected} {list(plane.extent)}", f"{found} {list(array.shape)}")
    return arrays
