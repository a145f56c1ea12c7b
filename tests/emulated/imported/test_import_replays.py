"""Imported graphs as bundles: `Replay` and `cgraph replay` run them like any other."""

import ctypes as c
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from cuda.bindings import driver as cu
from driver_fixtures import fill_params, function, kernel_params, upload
from safetensors.numpy import load_file, save_file

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.capture import Replay, from_cuda_graph, record, save_bundle
from cgraph.cli.main import main
from cgraph.diagnostics import ProblemsFound
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


def test_it_is_not_recorded(path: Path) -> None:
    with Replay(path, "emulated") as replay, record() as recording:
        replay.run()
    with pytest.raises(ProblemsFound) as stopped:
        recording.bundle()
    assert [problem.code for problem in stopped.value.problems] == ["CG838"]


def test_the_command(path: Path, tmp_path: Path) -> None:
    save_file({"numbers": np.array([7, 7, 7, 7], np.int32)}, tmp_path / "in.safetensors")
    options = ["--device", "emulated", "--inputs", str(tmp_path / "in.safetensors"), "--times", "2"]
    result = CliRunner().invoke(main, ["replay", str(path), *options, "--out", str(tmp_path / "out.safetensors")])
    assert result.exit_code == 0, result.output
    assert "an imported graph, 2 nodes on 1 planes" in result.stdout
    assert load_file(tmp_path / "out.safetensors")["numbers"].view(np.int32).tolist() == [6, 6, 9, 9]
    result = CliRunner().invoke(main, ["replay", str(path), *options, "--json"])
    assert json.loads(result.stdout)["nodes"] == 2
    for option in (["--verify"], ["--record", str(tmp_path / "kept.cgb")]):
        result = CliRunner().invoke(main, ["replay", str(path), "--device", "emulated", *option])
        assert result.exit_code == 1
        assert "error[CG834]" in result.stderr
