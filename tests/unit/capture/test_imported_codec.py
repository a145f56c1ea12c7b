"""Imported graphs in files: what was written is read, and whatever does not fit is named with its place."""

import copy
import json
from pathlib import Path
from typing import Any

import attrs
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from safetensors.numpy import save

from cgraph.backends.cuda.imported.model import ImportedGraph, ImportedRecording
from cgraph.backends.tensors import tensors_to_bytes
from cgraph.capture.codec.fields import FieldError
from cgraph.capture.container import read_container, write_container
from cgraph.capture.imported.codec import imported_manifest, read_imported
from cgraph.capture.loading import load_bundle
from cgraph.capture.saving import save_bundle
from cgraph.diagnostics import ProblemsFound
from tools.fuzz.imported_sample import every_kind

MANIFEST, BLOBS = imported_manifest(every_kind())


class Held:
    """Blobs in memory."""

    def __init__(self, blobs: dict[str, bytes]) -> None:
        self._blobs = blobs

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._blobs)

    def read(self, name: str) -> bytes:
        return self._blobs[name]


def read(manifest: dict[str, Any], blobs: dict[str, bytes] | None = None) -> ImportedGraph:
    """As from a file: plain data that went through JSON."""
    return read_imported(json.loads(json.dumps(manifest)), Held(BLOBS if blobs is None else blobs))


def changed(*path: Any, to: Any) -> dict[str, Any]:
    manifest = copy.deepcopy(MANIFEST)
    place: Any = manifest
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return manifest


def test_what_was_written_is_read(tmp_path: Path) -> None:
    graph = every_kind()
    save_bundle(graph, tmp_path / "a.cgb")
    found = load_bundle(tmp_path / "a.cgb")
    assert isinstance(found, ImportedGraph)
    for name in ("capability", "allocations", "planes", "kernels", "levels", "events", "remarks"):
        assert getattr(found, name) == getattr(graph, name)
    assert [(code.form, code.architecture, code.data) for code in found.codes] == [
        (code.form, code.architecture, code.data) for code in graph.codes
    ]
    assert {number: array.tolist() for number, array in found.data.items()} == {1: list(range(24))}
    save_bundle(found, tmp_path / "b.cgb")
    assert (tmp_path / "a.cgb").read_bytes() == (tmp_path / "b.cgb").read_bytes()


def test_a_recording_is_read(tmp_path: Path) -> None:
    sizes = [allocation.size_bytes for allocation in every_kind().allocations]
    outputs = {number: np.full(size_bytes, number + 1, np.uint8) for number, size_bytes in enumerate(sizes)}
    digests = tuple(bytes([number] * 32) for number in range(6))
    for kept in (outputs, {}):
        graph = attrs.evolve(every_kind(), recording=ImportedRecording("cuda:1", kept, digests))
        save_bundle(graph, tmp_path / "a.cgb")
        found = load_bundle(tmp_path / "a.cgb")
        assert isinstance(found, ImportedGraph)
        assert found.recording is not None
        assert (found.recording.device, found.recording.node_digests) == ("cuda:1", digests)
        assert {number: array.tolist() for number, array in found.recording.outputs.items()} == {
            number: array.tolist() for number, array in kept.items()
        }
        save_bundle(found, tmp_path / "b.cgb")
        assert (tmp_path / "a.cgb").read_bytes() == (tmp_path / "b.cgb").read_bytes()


@pytest.mark.parametrize(
    ("recording", "blobs", "text"),
    [
        ({"device": "host"}, {"digests": bytes(192)}, "recording: expected"),
        ({"device": "", "outputs": []}, {"digests": bytes(192)}, "recording.device: expected"),
        ({"device": "a", "outputs": [1]}, {"digests": bytes(192), "outputs": b""}, "recording.outputs: expected"),
        ({"device": "a", "outputs": [0, 1, 2, 3]}, {"digests": bytes(192), "outputs": b""}, "recording.outputs"),
        ({"device": "a", "outputs": []}, {"digests": bytes(191)}, "digests: expected 32 bytes for each of 6 nodes"),
        ({"device": "a", "outputs": []}, {}, "blobs: expected"),
        ({"device": "a", "outputs": [0, 1, 2]}, {"digests": bytes(192)}, "blobs: expected"),
        ({"device": "a", "outputs": [0, 1, 2]}, {"digests": bytes(192), "outputs": b"no"}, "outputs: expected"),
        (None, {"digests": bytes(192)}, "recording: expected"),
    ],
)
def test_recordings_that_do_not_fit(recording: object, blobs: dict[str, bytes], text: str) -> None:
    with pytest.raises(FieldError) as stopped:
        read({**MANIFEST, "recording": recording}, {**BLOBS, **blobs})
    assert str(stopped.value).startswith(text)


NODE = ("levels", 0, "nodes")
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a key too many": ({**MANIFEST, "more": 1}, "manifest: expected an object with the keys"),
    "an allocation of nothing": (changed("allocations", 2, 0, to=0), "allocations.2: "),
    "a size that is no int": (changed("allocations", 0, 0, to=256.0), "allocations.0: "),
    "a size that is true": (changed("allocations", 0, 0, to=True), "allocations.0: "),
    "a memory that is none": (changed("allocations", 0, 1, to="disk"), "allocations.0: "),
    "a plane past the end": (changed("planes", 3, 3, to=129), "planes.3: "),
    "a plane of no allocation": (changed("planes", 3, 1, to=3), "planes.3: "),
    "a plane of nothing": (changed("planes", 3, 3, to=0), "planes.3: "),
    "a plane that is not all": (changed("planes", 0, 3, to=255), "planes.0: "),
    "a name twice": (changed("planes", 3, 0, to="weights"), "planes: "),
    "a name that moves the cursor": (changed("planes", 3, 0, to="\x1b[2J"), "planes.3: "),
    "planes too few": (changed("planes", to=MANIFEST["planes"][:2]), "planes: expected at least 3"),
    "a code that is not there": (changed("kernels", 0, "codes", to=[2]), "kernels.0: "),
    "no code": (changed("kernels", 0, "codes", to=[]), "kernels.0: "),
    "parameters over each other": (changed("kernels", 0, "parameters", 1, to=[7, 1]), "kernels.0.parameters.1: "),
    "parameters past the limit": (changed("kernels", 0, "parameters", 2, to=[12, 40_000]), "kernels.0: "),
    "an attribute that is none": (changed("kernels", 0, "attributes", to={"max_threads": 1}), "kernels.0.attributes: "),
    "a node of no type": (changed(*NODE, 0, 0, to="host"), "levels.0.nodes.0: "),
    "a node with too few fields": (changed(*NODE, 0, to=["memset", 0]), "levels.0.nodes.0: "),
    "a node that is no list": (changed(*NODE, 0, to={"memset": 0}), "levels.0.nodes.0: "),
    "a kernel that is not there": (changed(*NODE, 1, 1, to=1), "node 1: "),
    "a grid of nothing": (changed(*NODE, 1, 2, 0, to=0), "levels.0.nodes.1.grid"),
    "a grid that is too large": (changed(*NODE, 1, 2, 1, to=65_536), "node 1: "),
    "a block that is too large": (changed(*NODE, 1, 3, 0, to=513), "node 1: "),
    "too much shared memory": (changed(*NODE, 1, 4, to=2**20), "node 1: "),
    "arguments too short": (changed(*NODE, 1, 5, to="00" * 15), "node 1: "),
    "arguments that are no digits": (changed(*NODE, 1, 5, to="0x" * 16), "levels.0.nodes.1.arguments: "),
    "an address in another's place": (changed(*NODE, 1, 6, 0, 0, to=9), "node 1: "),
    "an address over bytes": (changed(*NODE, 1, 5, to="01" + "00" * 15), "node 1: "),
    "an address outside": (changed(*NODE, 1, 6, 0, 2, to=256), "node 1: "),
    "an address twice": (changed(*NODE, 1, 6, to=[[0, 0, 0], [4, 0, 0]]), "node 1: "),
    "a launch attribute that is none": (changed(*NODE, 1, 7, to={"x": "00"}), "levels.0.nodes.1.attributes"),
    "a launch attribute too long": (changed(*NODE, 1, 7, "priority", to="00" * 5), "levels.0.nodes.1.attributes"),
    "an element of 3 bytes": (changed(*NODE, 0, 5, to=3), "node 0: "),
    "a value that is too large": (changed(*NODE, 0, 4, to=65_536), "node 0: "),
    "a fill of nothing": (changed(*NODE, 0, 6, to=0), "node 0: "),
    "a pitch below the row": (changed(*NODE, 0, 3, to=4), "node 0: "),
    "a fill past the end": (changed(*NODE, 0, 7, to=17), "node 0: "),
    "a fill at an odd address": (changed(*NODE, 0, 2, to=9), "node 0: "),
    "a copy past the end": (changed(*NODE, 2, 2, to=1), "node 2: "),
    "a copy whose source ends": (changed(*NODE, 2, 6, to=190), "node 2: "),
    "a copy with a small pitch": (changed(*NODE, 2, 3, to=3), "node 2: "),
    "a copy with small slices": (changed(*NODE, 2, 4, to=1), "node 2: "),
    "a copy of a huge depth": (changed(*NODE, 2, 11, to=2**62), "node 2: "),
    "an event that is not there": (changed(*NODE, 3, 1, to=1), "node 3: "),
    "a child graph in itself": (changed(*NODE, 5, 1, to=0), "node 5: "),
    "a child graph that is not there": (changed(*NODE, 5, 1, to=2), "node 5: "),
    "a child graph twice": (changed("levels", 0, "nodes", 3, to=["child graph", 1]), "node 5: "),
    "a child graph of nobody": (changed(*NODE, 5, to=["empty"]), "levels: "),
    "no level": (changed("levels", to=[]), "levels: "),
    "an edge to itself": (changed("levels", 0, "edges", 0, to=[0, 0, 0, 0, 0]), "levels.0.edges.0: "),
    "an edge to nowhere": (changed("levels", 0, "edges", 0, to=[0, 6, 0, 0, 0]), "levels.0.edges.0: "),
    "an edge of no type": (changed("levels", 0, "edges", 0, to=[0, 1, 0, 0, 2]), "levels.0.edges.0: "),
    "an edge from no port": (changed("levels", 0, "edges", 0, to=[0, 1, 256, 0, 0]), "levels.0.edges.0: "),
    "an edge twice": (changed("levels", 0, "edges", 1, to=[0, 1, 0, 0, 0]), "levels.0.edges: "),
    "a cycle": (changed("levels", 0, "edges", 4, to=[4, 0, 0, 0, 0]), "levels.0.edges: expected no cycle"),
    "contents of no allocation": (changed("data", to=[3]), "data.0: "),
    "contents twice": (changed("data", to=[1, 1]), "data: "),
    "contents of another size": (changed("data", to=[0]), "data: "),
    "a code too many": (changed("codes", to=[*MANIFEST["codes"], ["ptx", ""]]), "blobs: "),
    "a form that is none": (changed("codes", 0, 0, to="elf"), "codes.0: "),
    "a remark that is none": (changed("remarks", to=[1]), "remarks.0: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_field_is_checked(name: str) -> None:
    manifest, place = WRONG[name]
    with pytest.raises(FieldError) as found:
        read(manifest)
    assert str(found.value).startswith(place), str(found.value)


@pytest.mark.parametrize(
    ("blobs", "place"),
    [
        ({"code 1": b""}, "codes.1: "),
        ({"code 0": b".version\0"}, "codes.0: "),
        ({"data": b"text"}, "data: "),
        ({"data": tensors_to_bytes({"1": np.zeros(12, ml_dtypes.bfloat16)})}, "data.1: "),
        ({"data": save({"1": np.zeros(24, np.int8)})}, "data: "),
        ({"more": b""}, "blobs: "),
    ],
)
def test_blobs_are_checked(blobs: dict[str, bytes], place: str) -> None:
    with pytest.raises(FieldError) as found:
        read(MANIFEST, {**BLOBS, **blobs})
    assert str(found.value).startswith(place), str(found.value)


def test_a_problem_names_the_file_and_the_place(tmp_path: Path) -> None:
    write_container(tmp_path / "a.cgb", changed(*NODE, 1, 6, 0, 2, to=256), BLOBS)
    with pytest.raises(ProblemsFound) as stopped:
        load_bundle(tmp_path / "a.cgb")
    (problem,) = stopped.value.problems
    assert "a.cgb" in problem.render_title()
    assert "node 1" in problem.render_title()


def scalars(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in plain data."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in items for found in scalars(inner, (*path, key)))]


ANYTHING: some.SearchStrategy[Any] = some.one_of(
    some.integers(-2, 300), some.sampled_from([2**31, 2**63, -(2**63), 10**400]), some.none(), some.booleans(),
    some.floats(), some.text(max_size=5), some.lists(some.integers(0, 9), max_size=12), some.just({}),
)  # fmt: skip


@given(some.lists(some.tuples(some.sampled_from(scalars(MANIFEST)[1:]), ANYTHING), min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_mutations_are_refused_or_a_graph_that_can_be_written(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    manifest = copy.deepcopy(MANIFEST)
    for path, value in changes:
        place: Any = manifest
        try:
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    try:
        graph = read(manifest)
    except FieldError:
        return
    again, blobs = imported_manifest(graph)
    assert json.loads(json.dumps(again)) == json.loads(json.dumps(manifest))
    assert np.array_equal(read(again, blobs).data.get(1, np.empty(0)), graph.data.get(1, np.empty(0)))


@given(some.data())
@settings(max_examples=100, deadline=None)
def test_no_changed_byte_is_read(tmp_path_factory: pytest.TempPathFactory, data: some.DataObject) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    save_bundle(every_kind(), folder / "a.cgb")
    whole = (folder / "a.cgb").read_bytes()
    at = data.draw(some.integers(0, len(whole) - 1))
    flipped = bytes([whole[at] ^ data.draw(some.integers(1, 255))])
    (folder / "b.cgb").write_bytes(whole[:at] + flipped + whole[at + 1 :])
    with pytest.raises(ProblemsFound) as stopped:
        load_bundle(folder / "b.cgb")
    assert all(problem.code.startswith("CG8") for problem in stopped.value.problems)
    assert read_container(folder / "a.cgb")
