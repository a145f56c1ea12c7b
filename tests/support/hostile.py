"""Valid bundles as manifest and blobs, to be changed and refused."""

import copy
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgraph.capture.container import read_container, write_container
from cgraph.capture.loading import load_bundle
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tools.fuzz.samples import LAYER, PARTS

Manifest = dict[str, Any]
Blobs = dict[str, bytes]
Stored = tuple[Manifest, Blobs]


@cache
def parts() -> Stored:
    """Copies, fills and a launch, on parts of planes; without code. Not to be changed."""
    return _stored(compile_program(Source("parts.cg", PARTS)), {})


@cache
def layer() -> Stored:
    """A small layer with contents of one plane. Not to be changed."""
    program = compile_program(load_source(programs_directory() / "layer_backward.cg"), LAYER)
    given = next(plane for plane in program.graph.planes if plane.name == "cgInput")
    return _stored(program, {"cgInput": np.zeros(given.extent, np.float32)})


def refusal(tmp_path: Path, manifest: Manifest, blobs: Blobs) -> tuple[list[str], str]:
    """Codes and titles of what a bundle is refused with."""
    path = tmp_path / "hostile.cgb"
    write_container(path, manifest, blobs)
    with pytest.raises(ProblemsFound) as stopped:
        load_bundle(path)
    problems = stopped.value.problems
    return [problem.code for problem in problems], " | ".join(problem.render_title() for problem in problems)


def changed(manifest: Manifest, place: str, value: object) -> Manifest:
    """A copy with another value at a place, e.g. `graph.planes.extent.0`; a function gives it from the old one."""
    result = copy.deepcopy(manifest)
    holder: Any = result
    *way, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    for step in way:
        holder = holder[step]
    holder[last] = value(holder[last]) if callable(value) else value
    return result


def _stored(program: Compiled, data: dict[str, Any]) -> Stored:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.cgb"
        save_bundle(make_bundle(program.graph, program.schedule, program.plan, data=data), path)
        manifest, blobs = read_container(path)
        return manifest, {name: blobs.read(name) for name in blobs.names}
