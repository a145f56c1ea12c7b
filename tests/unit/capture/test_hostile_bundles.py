"""Files with checksums that agree, written by somebody who means harm: each is refused, with the place of the fault."""

import copy
from pathlib import Path

import pytest

from cgraph.capture.codec import limits, shapes
from cgraph.capture.container import write_container
from cgraph.capture.json_text import write_json
from cgraph.capture.loading import load_bundle
from tests.support.hostile import changed, layer, parts, refusal


def test_the_unchanged_ones_load(tmp_path: Path) -> None:
    for manifest, blobs in (parts(), layer()):
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
def test_a_field_that_is_wrong(tmp_path: Path, place: str, value: object) -> None:
    manifest, blobs = parts()
    hostile = {**manifest, place: value} if place == "surprise" else changed(manifest, place, value)
    assert write_json(hostile) != write_json(manifest)
    codes, _ = refusal(tmp_path, hostile, blobs)
    assert codes == ["CG808"]


@pytest.mark.parametrize("key", ["graph", "schedule", "plan", "modules", "codes", "module_of", "data", "recording"])
def test_a_key_that_is_missing(tmp_path: Path, key: str) -> None:
    manifest, blobs = parts()
    codes, text = refusal(tmp_path, {name: value for name, value in manifest.items() if name != key}, blobs)
    assert codes == ["CG808"]
    assert key in text


@pytest.mark.parametrize("content", ["weights", "", None, 1, ["program"]])
def test_content_that_nobody_knows(tmp_path: Path, content: object) -> None:
    assert refusal(tmp_path, {**parts()[0], "content": content}, parts()[1])[0] == ["CG809"]


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
def test_a_graph_that_breaks_a_rule(tmp_path: Path, place: str, value: object, rule: str) -> None:
    codes, _ = refusal(tmp_path, changed(parts()[0], place, value), parts()[1])
    assert codes[0] == "CG810"
    assert rule in codes


def test_out_of_memory_is_not_how_a_graph_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest, blobs = parts()
    monkeypatch.setattr(limits, "MOST_SCRATCH", 2)
    assert "scratch planes" in refusal(tmp_path, manifest, blobs)[1]
    monkeypatch.setattr(limits, "MOST_SCRATCH", 3)
    monkeypatch.setattr(limits, "MOST_PIECES", 11)
    assert "pieces of planes" in refusal(tmp_path, manifest, blobs)[1]
    monkeypatch.setattr(limits, "MOST_PIECES", 12)
    load_bundle(tmp_path / "hostile.cgb")
    monkeypatch.setattr(shapes, "MOST_EVALUATED_TERMS", 9)
    assert "terms to evaluate" in refusal(tmp_path, manifest, blobs)[1]


def test_few_commands_with_very_many_hazards_are_refused(tmp_path: Path) -> None:
    manifest, blobs = copy.deepcopy(parts()[0]), parts()[1]
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
