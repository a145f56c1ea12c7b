"""Valid bundles to begin with: small, and with everything that a bundle may hold.

Gives files of programs with and without code, contents and recorded runs, in every order, with fills, copies, parts of
planes and slots that were left out; and one of an imported graph with every kind of node and a
recorded run. Code needs NVRTC; without it there is none.
"""

from pathlib import Path

import attrs
import numpy as np

from cgraph.backends.cuda.imported.model import ImportedGraph, ImportedRecording
from cgraph.backends.dtypes import DTYPES
from cgraph.capture.model import Recording
from cgraph.capture.saving import make_bundle, save_bundle
from cgraph.core.elements import Element
from cgraph.graph.purposes import given_planes, result_planes
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.source import Source
from cgraph.syntax.loading import load_source
from tools.fuzz.imported_sample import every_kind

PARTS = """
import "operations.cg"
plane given : f32 [8] input
plane first : f32 [8] scratch
plane second : f32 [8] scratch
plane third : f32 [4] scratch
plane sum : f32 [8] output
plane filled : f32 [4] output
phase cgPhaseAll "all of it"
def main =
  (cgPhase cgPhaseAll
    (cgThen (cgCopy first given)
      (cgThen (cgFill second 0.5)
        (cgThen (cgFill (cgAt second 4) 2.0)
          (cgThen (cgBinary cgImageAdd sum first second 8)
            (cgThen (cgFill third 1.0)
              (cgCopy filled third)))))))
"""
LAYER = {"cgSeq": 4, "cgHeads": 1, "cgHeadWidth": 4, "cgFfn": 8, "cgLayers": 1}


def write_samples(folder: Path) -> list[Path]:
    """Writes every sample into a folder."""
    files = []
    for order in Order:
        program = compile_program(Source("parts.cg", PARTS), order=order)
        path = folder / f"parts_{order.value}.cgb"
        save_bundle(make_bundle(program.graph, program.schedule, program.plan), path)
        files.append(path)
    layer = compile_program(load_source(programs_directory() / "layer_backward.cg"), LAYER)
    generator = np.random.default_rng(0)
    data = {
        plane.name: generator.random(plane.extent).astype(DTYPES[plane.element]) for plane in given_planes(layer.graph)
    }
    outputs = {plane.name: np.zeros(plane.extent, DTYPES[plane.element]) for plane in result_planes(layer.graph)}
    recording = Recording("host", outputs, tuple(bytes([1]) * 32 for _ in layer.graph.nodes))
    files.append(folder / "layer.cgb")
    save_bundle(make_bundle(layer.graph, layer.schedule, layer.plan, data=data, recording=recording), files[-1])
    norm = compile_program(load_source(programs_directory() / "examples" / "rms_norm.cg"), half=Element.F16)
    files.append(folder / "norm.cgb")
    save_bundle(make_bundle(norm.graph, norm.schedule, norm.plan), files[-1])
    files.append(folder / "imported.cgb")
    save_bundle(_recorded_import(), files[-1])
    return files


def _recorded_import() -> ImportedGraph:
    """An imported graph with a recorded run, which left zeros."""
    graph = every_kind()
    outputs = {row: np.zeros(allocation.size_bytes, np.uint8) for row, allocation in enumerate(graph.allocations)}
    digests = tuple(bytes([1]) * 32 for _ in graph.levels[0].nodes)
    return attrs.evolve(graph, recording=ImportedRecording("cuda:0", outputs, digests))
