"""Bundles that were saved here, replayed in another process without program, kernels and compiler: the same bits."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgraph.backends.devices import parse_device
from cgraph.backends.dtypes import DTYPES
from cgraph.capture import record
from cgraph.core.elements import Element
from cgraph.graph.model import CommandGraph
from cgraph.graph.purposes import given_planes
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from tests.support.bundles import LAYER

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "replaying_process.py"
MODEL = {
    "cgSeq": 5,
    "cgBatch": 2,
    "cgVocab": 11,
    "cgContext": 8,
    "cgHeads": 2,
    "cgHeadWidth": 8,
    "cgFfn": 12,
    "cgLayers": 1,
    "cgMicrobatches": 1,
}
PROGRAMS: dict[str, tuple[str, str, Mapping[str, int], Element]] = {
    "layer": ("layer_backward.cg", "main", LAYER, Element.F16),
    "layer f32": ("layer_backward.cg", "main", LAYER, Element.F32),
    "step": ("gpt.cg", "step", MODEL, Element.F32),
    "step bf16": ("gpt.cg", "step", MODEL, Element.BF16),
    "own kernel": ("examples/rms_norm.cg", "main", {}, Element.F16),
}


def compiled(name: str) -> Compiled:
    file, entry, parameters, half = PROGRAMS[name]
    return compile_program(load_source(programs_directory() / file), parameters, entry=entry, half=half)


def values(graph: CommandGraph) -> dict[str, NDArray[Any]]:
    """Small numbers, and small natural numbers where a plane holds those."""
    generator = np.random.default_rng(3)
    drawn = {}
    for plane in given_planes(graph):
        dtype = DTYPES[plane.element]
        if plane.element is Element.I32:
            drawn[plane.name] = generator.integers(1, 5, plane.extent).astype(dtype)
        else:
            drawn[plane.name] = (0.1 * np.abs(generator.standard_normal(plane.extent)) + 0.01).astype(dtype)
    return drawn


def save(name: str, device: str, path: Path) -> None:
    program = compiled(name)
    executable = lower(program.graph, program.schedule, program.plan, parse_device(device))
    for plane, array in values(program.graph).items():
        executable.set(plane, array)
    with record() as recording:
        executable.run()
    executable.close()
    assert any(np.abs(array.astype(np.float64)).max() > 0 for array in recording.last.outputs.values())
    recording.save(path)


def replay_elsewhere(path: Path, device: str, times: int, packages: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(path), device, str(times), packages],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{times} replays, ")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_host(name: str, tmp_path: Path) -> None:
    """No package of CUDA is needed, also where the host executes a kernel's PTX."""
    save(name, "host", tmp_path / "run.cgb")
    replay_elsewhere(tmp_path / "run.cgb", "host", 3, "nothing")


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_host_a_thousand_times(name: str, tmp_path: Path) -> None:
    save(name, "host", tmp_path / "run.cgb")
    replay_elsewhere(tmp_path / "run.cgb", "host", 1000, "nothing")


@pytest.mark.parametrize("name", ["own kernel"])
def test_the_emulated_device(name: str, tmp_path: Path) -> None:
    save(name, "emulated", tmp_path / "run.cgb")
    replay_elsewhere(tmp_path / "run.cgb", "emulated", 20, "cuda")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["layer", "step bf16"])
def test_whole_programs_on_the_emulated_device(name: str, tmp_path: Path) -> None:
    save(name, "emulated", tmp_path / "run.cgb")
    replay_elsewhere(tmp_path / "run.cgb", "emulated", 10, "cuda")
