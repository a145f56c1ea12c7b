"""Imported graphs as bundles: `Replay` and `cgraph replay` run them like any other."""

import ctypes as c
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result
from cuda.bindings import driver as cu
from driver_fixtures import fill_params, function, kernel_params, upload
from safetensors.numpy import load_file, save_file

from cgraph.backends.cuda.imported.model import (
    ChildGraphNode,
    Edge,
    EmptyNode,
    ImportedGraph,
    KernelNode,
    Level,
    MemsetNode,
    Place,
    Relocation,
)
from cgraph.capture import Replay, from_cuda_graph, load_bundle, record, save_bundle
from cgraph.capture.digests import UNFINISHED
from cgraph.capture.imported.recording import find_imported_difference
from cgraph.cli.main import main
from cgraph.diagnostics import Problem, ProblemsFound
from tests.support.driver_kernels import MODULE
from tests.support.emulated import call


@pytest.fixture
def path(context: Any, graph: Any, module: Any, tmp_path: Path) -> Path:
    """A bundle of a graph that fills two of four integers with 5 and adds 1 to all of them; they begin as 0 … 3."""
    address = upload(np.arange(4, dtype=np.int32))
    filled = call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 5, 2), context)
    params = kernel_params(function(module, "addOne"), 1, 4, (address, 4), (c.c_void_p, c.c_int))
    call(cu.cuGraphAddKernelNode, graph, [filled], 1, params)
    imported = from_cuda_graph(int(graph), code=[MODULE], names={address: "numbers"}, with_data=True)
    save_bundle(imported, tmp_path / "graph.cgb")
    return tmp_path / "graph.cgb"


def numbers(replay: Replay) -> list[int]:
    return [int(number) for number in replay.get("numbers").view(np.int32)]


def test_runs_go_on_and_begin_anew(path: Path) -> None:
    with Replay(path, "emulated") as replay:
        assert isinstance(replay.bundle, ImportedGraph)
        replay.run()
        assert numbers(replay) == [6, 6, 3, 4]
        replay.run_many(2)
        assert numbers(replay) == [6, 6, 5, 6]
        replay.run_many(2, lambda number: {"numbers": np.full(4, 10 * number, np.int32)})
        assert numbers(replay) == [6, 6, 11, 11]
        replay.reset()
        assert numbers(replay) == [0, 1, 2, 3]
        assert [plane.view(np.int32).tolist() for plane in replay.results().values()] == [[0, 1, 2, 3]]


def test_other_memory_and_scalars(path: Path) -> None:
    with Replay(path, "emulated") as replay:
        replay.set_scalar(0, "value", 8)
        replay.rebind("numbers", upload(np.array([1, 1, 1, 1], np.int32)))
        replay.run()
        assert numbers(replay) == [9, 9, 2, 2]
        replay.reset()  # what others own is left alone
        assert numbers(replay) == [9, 9, 2, 2]


def test_the_host_has_no_meaning_for_it(path: Path) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        Replay(path, "host")
    assert [problem.code for problem in stopped.value.problems] == ["CG861"]


def recorded(path: Path) -> ImportedGraph:
    """Its second run, recorded and read from a file."""
    with Replay(path, "emulated") as replay:
        replay.run()
        with record() as recording:
            replay.run()
        assert numbers(replay) == [6, 6, 4, 5]
    recording.save(path.parent / "recorded.cgb")
    found = load_bundle(path.parent / "recorded.cgb")
    assert isinstance(found, ImportedGraph)
    return found


def test_what_a_recording_keeps(path: Path) -> None:
    graph = recorded(path)
    assert graph.data[0].view(np.int32).tolist() == [6, 6, 3, 4]  # what the first run left
    recording = graph.recording
    assert recording is not None
    assert recording.device == "emulated"
    assert recording.outputs[0].view(np.int32).tolist() == [6, 6, 4, 5]
    after = (np.array([5, 5, 3, 4], np.int32), np.array([6, 6, 4, 5], np.int32))
    assert recording.node_digests == tuple(sha256(values.tobytes()).digest() for values in after)


def test_a_run_that_fails_is_kept_as_far_as_it_came(path: Path) -> None:
    graph = load_bundle(path)
    assert isinstance(graph, ImportedGraph)
    level = graph.levels[0]
    kernel = level.nodes[1]
    assert isinstance(kernel, KernelNode)
    behind = attrs.evolve(kernel, relocations=(Relocation(0, Place(0, 8)),))  # two of four numbers are outside
    broken = attrs.evolve(graph, levels=(attrs.evolve(level, nodes=(level.nodes[0], behind)),))
    with Replay(broken, "emulated") as replay, pytest.raises(ProblemsFound) as stopped, record() as recording:
        replay.run()
    assert stopped.value.problems[-1].render_title().endswith("in node 1 (kernel addOne)")
    kept = recording.bundle()
    assert isinstance(kept, ImportedGraph)
    assert kept.recording is not None
    assert dict(kept.recording.outputs) == {}
    filled = np.array([5, 5, 2, 3], np.int32)
    assert kept.recording.node_digests == (sha256(filled.tobytes()).digest(), UNFINISHED)
    recording.save(path)
    loaded = load_bundle(path)
    assert isinstance(loaded, ImportedGraph)
    assert loaded.recording is not None
    assert loaded.recording.node_digests == kept.recording.node_digests


def test_nodes_one_by_one(path: Path) -> None:
    seen: list[tuple[int, list[int]]] = []
    with Replay(path, "emulated") as replay:
        replay.run(lambda index, elapsed_ms: seen.append((index, [*numbers(replay), int(elapsed_ms >= 0)])))
    assert seen == [(0, [5, 5, 2, 3, 1]), (1, [6, 6, 3, 4, 1])]


def test_the_same_run_does_not_differ(path: Path) -> None:
    graph = recorded(path)
    assert difference(graph) is None


def difference(graph: ImportedGraph) -> Problem | None:
    with Replay(graph, "emulated") as replay:
        assert graph.recording is not None
        return find_imported_difference(replay, graph, graph.recording)


def test_the_first_node_that_differs_is_named(path: Path) -> None:
    graph = recorded(path)
    other = graph.data[0].copy()
    other.view(np.int32)[3] = 9
    problem = difference(attrs.evolve(graph, data={0: other}))
    assert problem is not None
    assert problem.code == "CG863"
    assert problem.render_title().endswith("first in node 0 (memset)")
    assert problem.notes() == ("it was given plane numbers, whose contents right after it are not in the recording",)
    # The kernel alone: the fill before it is as recorded.
    level = graph.levels[0]
    kernel = level.nodes[1]
    assert isinstance(kernel, KernelNode)
    shorter = attrs.evolve(kernel, arguments=kernel.arguments[:8] + (3).to_bytes(4, "little"))
    nodes = (level.nodes[0], shorter)
    problem = difference(attrs.evolve(graph, levels=(attrs.evolve(level, nodes=nodes),)))
    assert problem is not None
    assert problem.render_title().endswith("first in node 1 (kernel addOne)")
    found = "plane numbers: 1 of 16 bytes differ, first byte 12: 0x05 in the recording and 0x04 now"
    assert problem.notes() == (found,)


def test_results_that_differ_though_no_node_does(path: Path) -> None:
    graph = recorded(path)
    assert graph.recording is not None
    outputs = {0: np.zeros(16, np.uint8)}
    problem = difference(attrs.evolve(graph, recording=attrs.evolve(graph.recording, outputs=outputs)))
    assert problem is not None
    assert problem.code == "CG836"
    assert "plane numbers is not the recorded one: 4 of 16 bytes differ, first byte 0: " in problem.render_title()


def test_a_child_graph_is_one_node(path: Path) -> None:
    """The whole graph as a child, behind it a fill of one number; an inner child graph inside the child."""
    graph = load_bundle(path)
    assert isinstance(graph, ImportedGraph)
    (inner,) = graph.levels
    outer = Level((MemsetNode(Place(0, 12), 4, 0, 4, 1, 1), ChildGraphNode(1)), (Edge(1, 0),))
    middle = Level((EmptyNode(), ChildGraphNode(2)), (Edge(0, 1),))
    nested = attrs.evolve(graph, levels=(outer, middle, inner))
    seen: list[int] = []
    with Replay(nested, "emulated") as replay, record() as recording:
        replay.run(lambda index, _elapsed_ms: seen.append(index))
        assert numbers(replay) == [6, 6, 3, 0]
    assert seen == [1, 0]
    kept = recording.bundle()
    assert isinstance(kept, ImportedGraph)
    assert kept.recording is not None
    assert len(kept.recording.node_digests) == 2
    assert difference(kept) is None


def test_the_command(path: Path, tmp_path: Path) -> None:
    save_file({"numbers": np.array([7, 7, 7, 7], np.int32)}, tmp_path / "in.safetensors")
    options = ["--device", "emulated", "--inputs", str(tmp_path / "in.safetensors"), "--times", "2"]
    result = CliRunner().invoke(main, ["replay", str(path), *options, "--out", str(tmp_path / "out.safetensors")])
    assert result.exit_code == 0, result.output
    assert "an imported graph, 2 nodes on 1 planes" in result.stdout
    assert load_file(tmp_path / "out.safetensors")["numbers"].view(np.int32).tolist() == [6, 6, 9, 9]
    # What was written, which are bytes, is taken again.
    options[options.index("--inputs") + 1] = str(tmp_path / "out.safetensors")
    result = CliRunner().invoke(main, ["replay", str(path), *options, "--json"])
    assert json.loads(result.stdout)["nodes"] == 2


def test_the_command_records_and_verifies(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.cgb"

    def replayed(*options: object) -> Result:
        return CliRunner().invoke(main, ["replay", *map(str, options), "--device", "emulated"])

    assert "error[CG834]" in replayed(path, "--verify").stderr
    assert replayed(path, "--record", kept, "--times", 2).exit_code == 0
    result = replayed(kept, "--verify")
    assert result.exit_code == 0, result.output
    assert "verified: all 2 nodes and all memory have the bits of the recording on emulated" in result.stdout
    assert json.loads(replayed(kept, "--verify", "--json").stdout)["verified"]["holds"] is True
    assert replayed(kept, "--verify", "--tolerance", 0.1).exit_code == 2
    assert "recorded run on emulated: 1 planes, 2 commands" in CliRunner().invoke(main, ["inspect", str(kept)]).stdout
    graph = load_bundle(kept)
    assert isinstance(graph, ImportedGraph)
    save_bundle(attrs.evolve(graph, data={}), kept)
    result = replayed(kept, "--verify")
    assert result.exit_code == 1
    assert "error[CG863]: the replay differs from the recording on emulated, first in node 0 (memset)" in result.stderr
    assert "verified" not in result.stdout
    assert json.loads(replayed(kept, "--verify", "--json").stdout)["verified"]["difference"]["code"] == "CG863"
