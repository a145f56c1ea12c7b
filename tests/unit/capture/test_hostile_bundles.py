"""Files with checksums that agree, written by somebody who means harm: each is refused, with the place of the fault."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from cgraph.backends.cuda.entries import read_entries
from cgraph.capture.codec import limits, shapes
from cgraph.capture.container import read_container, write_container
from cgraph.capture.json_text import write_json
from cgraph.capture.loading import load_bundle
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tools.fuzz.samples import LAYER, PARTS

Manifest = dict[str, Any]
Blobs = dict[str, bytes]


def stored(path: Path) -> tuple[Manifest, Blobs]:
    manifest, blobs = read_container(path)
    return manifest, {name: blobs.read(name) for name in blobs.names}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Manifest, Blobs]:
    path = tmp_path_factory.mktemp("parts") / "a.cgb"
    program = compile_program(Source("parts.cg", PARTS))
    save_bundle(make_bundle(program.graph, program.schedule, program.plan), path)
    return stored(path)


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Manifest, Blobs]:
    path = tmp_path_factory.mktemp("layer") / "a.cgb"
    program = compile_program(load_source(programs_directory() / "layer_backward.cg"), LAYER)
    given = next(plane for plane in program.graph.planes if plane.name == "cgInput")
    data = {"cgInput": np.zeros(given.extent, np.float32)}
    save_bundle(make_bundle(program.graph, program.schedule, program.plan, data=data), path)
    return stored(path)


def refusal(tmp_path: Path, manifest: Manifest, blobs: Blobs) -> tuple[list[str], str]:
    """Codes and titles of what a bundle is refused with."""
    path = tmp_path / "hostile.cgb"
    write_container(path, manifest, blobs)
    with pytest.raises(ProblemsFound) as stopped:
        load_bundle(path)
    problems = stopped.value.problems
    return [problem.code for problem in problems], " | ".join(problem.render_title() for problem in problems)


def changed(manifest: Manifest, place: str, value: object) -> Manifest:
    """A copy with another value at a place, e.g. `graph.planes.extent.0`."""
    result = copy.deepcopy(manifest)
    holder: Any = result
    *way, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    for step in way:
        holder = holder[step]
    holder[last] = value(holder[last]) if callable(value) else value
    return result


def test_the_unchanged_ones_load(tmp_path: Path, parts: tuple[Manifest, Blobs], layer: tuple[Manifest, Blobs]) -> None:
    for manifest, blobs in (parts, layer):
        write_container(tmp_path / "a.cgb", manifest, blobs)
        load_bundle(tmp_path / "a.cgb")


FIELDS: list[tuple[str, object]] = [
    ("graph.entry", ""),
    ("graph.entry", "a\x1b[31m"),
    ("graph.entry", "a" * 1001),
    ("graph.half", "half"),
    ("graph.half", "f8"),
    ("graph.parameters", {}),
    ("graph.parameters", [["a", 1], ["a", 2]]),
    ("graph.parameters", [["a", 2**256]]),
    ("graph.parameters", [["a", -1]]),
    ("graph.parameters", [["a", "big"]]),
    ("graph.sources.0.name", "../up.cg"),
    ("graph.sources.0.name", "/etc/passwd"),
    ("graph.sources.0.name", "a\\b"),
    ("graph.sources.0.text", 1),
    ("graph.sources.0.text", ""),
    ("graph.texts.0", None),
    ("graph.origins.parent.0", 0),
    ("graph.origins.parent.1", 1),
    ("graph.origins.parent.0", -2),
    ("graph.origins.source.0", 99),
    ("graph.origins.start.0", 10**9),
    ("graph.origins.stop.0", 0),
    ("graph.origins.text.0", 10**6),
    ("graph.origins.stop", []),
    ("graph.planes.name.1", "first"),
    ("graph.planes.name.0", "\n"),
    ("graph.planes.extent.0", [2**62, 2]),
    ("graph.planes.extent.0", [2**62, 2**62, 0]),
    ("graph.planes.extent.0", [-8]),
    ("graph.planes.extent.0", [8.0]),
    ("graph.planes.extent.0", [True] * 8),
    ("graph.planes.extent.0", [1] * 65),
    ("graph.planes.element.0", "half"),
    ("graph.planes.element.0", ["f32"]),
    ("graph.planes.role.0", "owner"),
    ("graph.planes.gradient_of.0", 6),
    ("graph.planes.span.0", [0, 5, 4]),
    ("graph.planes.span.0", [1, 0, 10**9]),
    ("graph.phases.parent.0", 0),
    ("graph.phases.name.0", 7),
    ("graph.images.0.file", "../evil.cu"),
    ("graph.images.0.file", "/evil.cu"),
    ("graph.images.0.entry", None),
    ("graph.images.0.slots.0.kind", "address"),
    ("graph.images.0.slots.0.access", None),
    ("graph.images.0.slots.0.element", "f64"),
    ("graph.images.0.slots.1.name", "out"),
    ("graph.images.0.slots.0.aliases", ["nobody"]),
    ("graph.images.0.slots.0.aliases", ["out"]),
    ("graph.images.0.slots.3.element", "i32"),
    ("graph.images.0.slots.3.name", "m"),
    ("graph.images.0.slots.0.extent", [[[1, [[5, 1]]]]]),
    ("graph.images.0.slots.0.extent", [[[1, [[0, 65]]]]]),
    ("graph.images.0.slots.0.extent", [[[0, [[0, 1]]]]]),
    ("graph.images.0.slots.0.extent", [2**256]),
    ("graph.images.0.atoms.0", ["nobody"]),
    ("graph.images.0.atoms.0", ["divide", 1, 0]),
    ("graph.images.0.atoms.0", ["power", 2, 2]),
    ("graph.images.0.atoms.0", ["divide", 6, 3]),
    ("graph.images.0.block", [1, 1]),
    ("graph.images.0.constants", [["A", 1], ["A", 1]]),
    ("graph.images.0.constants", [["A", -1]]),
    ("graph.images.0.requirements", [{"left": 1, "relation": "<", "right": 2, "span": [0, 0, 0]}]),
    ("graph.images.0.requirements", [{"left": 1, "relation": "=", "right": 2, "span": [0, 0, 0]}]),
    ("graph.shapes.image.0", 1),
    ("graph.shapes.grid.0", [0, 1, 1]),
    ("graph.shapes.grid.0", [2**31, 1, 1]),
    ("graph.shapes.grid.0", [2, 1, 1]),
    ("graph.shapes.block.0", [512, 1, 1]),
    ("graph.shapes.block.0", [2048, 1, 1]),
    ("graph.shapes.shared_bytes.0", 1),
    ("graph.shapes.shared_bytes.0", 2**40),
    ("graph.shapes.naturals.0", [2**31]),
    ("graph.shapes.naturals.0", []),
    ("graph.shapes.naturals.0", [8, 8]),
    ("graph.nodes.kinds", "cfxlfc"),
    ("graph.nodes.kinds", "cfflf"),
    ("graph.nodes.kinds", "cflffc"),
    ("graph.nodes.phase.0", 1),
    ("graph.nodes.origin.0", 10**6),
    ("graph.nodes.launches.shape.0", 1),
    ("graph.nodes.launches.planes.0", -1),
    ("graph.nodes.launches.planes.0", 6),
    ("graph.nodes.launches.planes", [0, 1]),
    ("graph.nodes.launches.offsets.0", -4),
    ("graph.nodes.launches.floats", [1.0]),
    ("graph.nodes.fills.value.0", 1),
    ("graph.nodes.fills.value.0", "infinity"),
    ("graph.nodes.fills.stop.1", 0),
    ("graph.nodes.copies.size_bytes.0", -1),
    ("graph.nodes.copies.to_plane.0", -1),
    ("schedule.order", "random"),
    ("schedule.waits.3", 0),
    ("schedule.nodes", lambda nodes: nodes[::-1]),
    ("schedule.nodes.0", 5),
    ("schedule.nodes.0", 99),
    ("schedule.sizes.0", 1),
    ("schedule.waits", []),
    ("plan.offsets.0", 256),
    ("plan.offsets.0", -1),
    ("plan.offsets.1", 0),
    ("plan.offsets.2", 4),
    ("plan.offsets.2", 2**40),
    ("plan.offsets", lambda offsets: [offset and min(offset, 0) for offset in offsets]),
    ("plan.offsets", []),
    ("plan.size_bytes", 0),
    ("plan.size_bytes", 2**50),
    ("plan.lower_bound_bytes", 10**6),
    ("plan.lower_bound_bytes", -1),
    ("plan.unshared_bytes", 1),
    ("plan.persistent_bytes", True),
    ("modules.0.file", "../elementwise.cu"),
    ("modules.0.file", "other.cu"),
    ("modules.0.text", 17),
    ("modules.0.includes.0.0", "../../etc/passwd"),
    ("modules.0.includes.0.0", "/etc/passwd"),
    ("modules.0.options", ["--include-path=/etc"]),
    ("modules.0.options", ["--time=x"]),
    ("modules.0.defines", [["A B", "1"]]),
    ("modules.0.defines", [["A", '1\n#include "/etc/passwd"']]),
    ("modules.0.codes", [0]),
    ("module_of", [1]),
    ("module_of", []),
    ("data", "data"),
    ("data", 1),
    ("recording", {"device": "host", "outputs": "outputs", "digests": "digests"}),
    ("recording", {"device": "host"}),
    ("surprise", 1),
]


@pytest.mark.parametrize(
    ("place", "value"), FIELDS, ids=[f"{place}-{index}" for index, (place, _) in enumerate(FIELDS)]
)
def test_a_field_that_is_wrong(tmp_path: Path, parts: tuple[Manifest, Blobs], place: str, value: object) -> None:
    manifest, blobs = parts
    hostile = {**manifest, place: value} if place == "surprise" else changed(manifest, place, value)
    assert write_json(hostile) != write_json(manifest)
    codes, _ = refusal(tmp_path, hostile, blobs)
    assert codes == ["CG808"]


@pytest.mark.parametrize("key", ["graph", "schedule", "plan", "modules", "codes", "module_of", "data", "recording"])
def test_a_key_that_is_missing(tmp_path: Path, parts: tuple[Manifest, Blobs], key: str) -> None:
    manifest, blobs = parts
    codes, text = refusal(tmp_path, {name: value for name, value in manifest.items() if name != key}, blobs)
    assert codes == ["CG808"]
    assert key in text


@pytest.mark.parametrize("content", ["weights", "", None, 1, ["program"]])
def test_content_that_nobody_knows(tmp_path: Path, parts: tuple[Manifest, Blobs], content: object) -> None:
    assert refusal(tmp_path, {**parts[0], "content": content}, parts[1])[0] == ["CG809"]


GRAPHS: list[tuple[str, object, str]] = [
    ("graph.nodes.fills.stop.0", 36, "CG504"),
    ("graph.nodes.fills.start.1", 2, "CG505"),
    ("graph.nodes.launches.offsets.1", 4, "CG504"),
    ("graph.nodes.launches.offsets.1", 2**62, "CG504"),
    ("graph.nodes.copies.size_bytes.0", 2**62, "CG504"),
    ("graph.nodes.kinds", "cffcfl", "CG501"),
    ("graph.nodes.copies.from_plane.0", 0, "CG507"),
    ("graph.nodes.launches.planes", [3, 0, 3], "CG501"),
    ("graph.nodes.fills.plane.0", 1, "CG503"),
    ("graph.planes.role.2", "input", "CG503"),
    ("graph.planes.extent.5", [5], "CG502"),
    ("graph.nodes.copies.from_plane.0", 2, "CG501"),
]


@pytest.mark.parametrize(("place", "value", "rule"), GRAPHS)
def test_a_graph_that_breaks_a_rule(
    tmp_path: Path, parts: tuple[Manifest, Blobs], place: str, value: object, rule: str
) -> None:
    codes, _ = refusal(tmp_path, changed(parts[0], place, value), parts[1])
    assert codes[0] == "CG810"
    assert rule in codes


def test_out_of_memory_is_not_how_a_graph_is_refused(
    tmp_path: Path, parts: tuple[Manifest, Blobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest, blobs = parts
    monkeypatch.setattr(limits, "MOST_SCRATCH", 2)
    assert "scratch planes" in refusal(tmp_path, manifest, blobs)[1]
    monkeypatch.setattr(limits, "MOST_SCRATCH", 3)
    monkeypatch.setattr(limits, "MOST_PIECES", 11)
    assert "pieces of planes" in refusal(tmp_path, manifest, blobs)[1]
    monkeypatch.setattr(limits, "MOST_PIECES", 12)
    load_bundle(tmp_path / "hostile.cgb")
    monkeypatch.setattr(shapes, "MOST_EVALUATED_TERMS", 9)
    assert "terms to evaluate" in refusal(tmp_path, manifest, blobs)[1]


def test_few_commands_with_very_many_hazards_are_refused(tmp_path: Path, parts: tuple[Manifest, Blobs]) -> None:
    manifest, blobs = copy.deepcopy(parts[0]), parts[1]
    graph, count = manifest["graph"], 3000
    # Every fill writes an element of its own, every copy reads all of them.
    graph["planes"]["extent"] = [[count] for _ in graph["planes"]["extent"]]
    graph["nodes"] = {
        "kinds": "f" * count + "c" * count,
        "phase": [-1] * (2 * count),
        "origin": [0] * (2 * count),
        "launches": {"shape": [], "planes": [], "offsets": [], "floats": []},
        "fills": {
            "plane": [0] * count,
            "start": list(range(0, 4 * count, 4)),
            "stop": list(range(4, 4 * count + 4, 4)),
            "value": [0.5] * count,
        },
        "copies": {
            "to_plane": [2] * count,
            "to_start": [0] * count,
            "from_plane": [0] * count,
            "from_start": [0] * count,
            "size_bytes": [4 * count] * count,
        },
    }
    codes, text = refusal(tmp_path, manifest, blobs)
    assert codes == ["CG808"]
    assert "pieces of planes" in text


PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry cgAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) .maxntid 256, 1, 1 { ret; }
"""
ENTRY = {
    "name": "cgAdd",
    "parameters": [["u64", 8], ["u64", 8], ["u64", 8], ["u32", 4]],
    "block_threads": 256,
    "resources": None,
}
CODE = {"kind": "ptx", "architecture": "compute_80", "ptx_version": [8, 0], "entries": [ENTRY]}


def with_code(parts: tuple[Manifest, Blobs], code: dict[str, Any], data: bytes) -> tuple[Manifest, Blobs]:
    manifest = changed({**parts[0], "codes": [code]}, "modules.0.codes", [0])
    return manifest, {**parts[1], "code 0": data}


def test_code_that_fits_is_taken(tmp_path: Path, parts: tuple[Manifest, Blobs]) -> None:
    write_container(tmp_path / "a.cgb", *with_code(parts, CODE, PTX.encode()))
    load_bundle(tmp_path / "a.cgb")
    cubin = {**CODE, "kind": "cubin", "architecture": "sm_90a", "ptx_version": None}
    write_container(tmp_path / "a.cgb", *with_code(parts, cubin, b"\x7fELF" + bytes(60)))
    load_bundle(tmp_path / "a.cgb")


@pytest.mark.parametrize(
    ("change", "data"),
    [
        ({"kind": "fatbin"}, PTX),
        ({"kind": "cubin"}, PTX),
        ({"architecture": "sm_80"}, PTX),
        ({"architecture": "compute_80\n"}, PTX),
        ({"ptx_version": [9, 0]}, PTX),
        ({"ptx_version": None}, PTX),
        ({"ptx_version": [8, 0]}, "no code"),
        ({"ptx_version": [8, 0]}, PTX + "\0"),
        ({"entries": []}, PTX),
        ({"entries": [{**ENTRY, "block_threads": None}]}, PTX),
        ({"entries": [{**ENTRY, "resources": {"registers": 1}}]}, PTX),
    ],
)
def test_code_that_is_not_what_is_said_of_it(
    tmp_path: Path, parts: tuple[Manifest, Blobs], change: dict[str, Any], data: str
) -> None:
    assert refusal(tmp_path, *with_code(parts, {**CODE, **change}, data.encode()))[0] == ["CG808"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("cgAdd(", "cgOther(", "CG736"), (".param .u32 n", ".param .u64 n", "CG737"), ("256, 1", "128, 1", "CG738")],
)
def test_code_whose_kernel_does_not_fit(
    tmp_path: Path, parts: tuple[Manifest, Blobs], old: str, new: str, code: str
) -> None:
    text = PTX.replace(old, new)
    entries = [
        {
            "name": entry.name,
            "parameters": [[parameter.type, parameter.size_bytes] for parameter in entry.parameters],
            "block_threads": entry.block_threads,
            "resources": None,
        }
        for entry in read_entries(text, "")
    ]
    assert refusal(tmp_path, *with_code(parts, {**CODE, "entries": entries}, text.encode()))[0] == ["CG813", code]


def test_blobs_are_those_that_the_manifest_names(tmp_path: Path, layer: tuple[Manifest, Blobs]) -> None:
    manifest, blobs = layer
    assert "`extra`" in refusal(tmp_path, manifest, {**blobs, "extra": b""})[1]
    assert "`text 0`" in refusal(tmp_path, manifest, {name: blobs[name] for name in blobs if name != "text 0"})[1]
    assert "`data`" in refusal(tmp_path, manifest, {name: blobs[name] for name in blobs if name != "data"})[1]
    assert "`data`" in refusal(tmp_path, {**manifest, "data": None}, blobs)[1]
    assert "UTF-8" in refusal(tmp_path, manifest, {**blobs, "text 0": b"\xff"})[1]


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"cgNobody": np.zeros(1, np.float32)}, "a plane of the graph"),
        ({"cgInput": np.zeros((4, 5), np.float32)}, "found float32 [4, 5]"),
        ({"cgInput": np.zeros((4, 4), np.float64)}, "found float64 [4, 4]"),
        ({"cgInput": np.zeros((4, 4), np.int64)}, "planes hold"),
        (b"", "a block of safetensors"),
        (b"\xff" * 64, "a block of safetensors"),
        ((2**40).to_bytes(8, "little") + b"{}", "a block of safetensors"),
    ],
)
def test_contents_that_fit_no_plane(tmp_path: Path, layer: tuple[Manifest, Blobs], arrays: Any, text: str) -> None:
    manifest, blobs = layer
    data = arrays if isinstance(arrays, bytes) else save(arrays)
    codes, title = refusal(tmp_path, manifest, {**blobs, "data": data})
    assert codes == ["CG808"]
    assert text in title


def test_digests_are_those_of_all_commands(tmp_path: Path, layer: tuple[Manifest, Blobs]) -> None:
    manifest, blobs = layer
    recording = {"device": "host", "outputs": "outputs", "digests": "digests"}
    _, text = refusal(
        tmp_path, {**manifest, "recording": recording}, {**blobs, "outputs": save({}), "digests": bytes(32)}
    )
    assert "32 bytes for each of" in text
