"""Valid bundles to begin with: small, and with everything that a bundle may hold.

Gives files of programs with and without code, contents and recorded runs, in every order, with fills, copies, parts of
planes and slots that were left out; and one of an imported graph. Code needs NVRTC; without it there is none.
"""

from pathlib import Path

import numpy as np

from cgraph.backends.cuda.imported.attribute_names import FUNCTION_ATTRIBUTES
from cgraph.backends.cuda.imported.model import (
    Allocation,
    CodeForm,
    CopySide,
    Edge,
    EmptyNode,
    ImportedCode,
    ImportedGraph,
    ImportedKernel,
    ImportedPlane,
    KernelNode,
    Level,
    MemcpyNode,
    MemoryKind,
    MemsetNode,
    ParameterPlace,
    Place,
    Relocation,
)
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
    save_bundle(imported_graph(), files[-1])
    return files


def imported_graph() -> ImportedGraph:
    """A graph of four nodes on two allocations."""
    ptx = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) { ret; }\n"
    kernel = ImportedKernel(
        "k", (ParameterPlace(0, 8), ParameterPlace(8, 4)), (0,), tuple((name, 0) for name in FUNCTION_ATTRIBUTES)
    )
    target, source = CopySide(Place(1, 0), 64, 1), CopySide(Place(0, 0), 64, 1)
    return ImportedGraph(
        capability=(9, 0),
        allocations=(Allocation(64, MemoryKind.DEVICE), Allocation(64, MemoryKind.HOST)),
        planes=(ImportedPlane("a", 0, 0, 64), ImportedPlane("b", 1, 0, 64), ImportedPlane("part", 0, 16, 8)),
        codes=(ImportedCode(CodeForm.PTX, "sm_80", ptx),),
        kernels=(kernel,),
        levels=(
            Level(
                (
                    MemsetNode(Place(0, 0), 0, 7, 4, 16, 1),
                    KernelNode(0, (1, 1, 1), (32, 1, 1), 0, bytes(8) + b"\x10\0\0\0", (Relocation(0, Place(0, 0)),)),
                    MemcpyNode(target, source, 64, 1, 1),
                    EmptyNode(),
                ),
                (Edge(0, 1), Edge(1, 2), Edge(2, 3)),
            ),
        ),
        events=0,
        data={0: np.arange(64, dtype=np.uint8)},
        remarks=("made for tests",),
    )
