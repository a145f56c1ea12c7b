"""Bundles in memory, made from programs without a file."""

import re
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiler import OPTIONS, compile_images
from cgraph.backends.cuda.sources import HALF_MACRO, find_kernel_source
from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.backends.dtypes import DTYPES
from cgraph.capture.model import Bundle, Recording, launched_images
from cgraph.capture.recording import Recorder
from cgraph.core.elements import Element
from cgraph.graph.model import CommandGraph
from cgraph.graph.purposes import given_planes
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source

Planes = dict[str, NDArray[Any]]
_VERSION = re.compile(rb"\.version (\d+)\.(\d+)")
LAYER = {"cgSeq": 16, "cgHeads": 2, "cgHeadWidth": 16, "cgFfn": 24, "cgLayers": 1}


def layer_backward(half: Element = Element.F16, **parameters: int) -> Compiled:
    source = load_source(programs_directory() / "layer_backward.cg")
    return compile_program(source, {**LAYER, **parameters}, half=half)


def drawn_planes(graph: CommandGraph, seed: int = 0) -> Planes:
    """Small random numbers for every plane that holds data before a run."""
    generator = np.random.default_rng(seed)
    return {
        plane.name: (0.2 * generator.standard_normal(plane.extent)).astype(DTYPES[plane.element])
        for plane in given_planes(graph)
    }


def bundle_of(compiled: Compiled, data: Mapping[str, NDArray[Any]] | None = None, *, code: bool = True) -> Bundle:
    """A program's bundle, with PTX of its kernels for the emulated device, or without any code."""
    graph = compiled.graph
    modules, module_of = modules_of(graph) if code else ((), (None,) * len(launched_images(graph)))
    return Bundle(
        graph, compiled.schedule, compiled.plan, modules, module_of, drawn_planes(graph) if data is None else data
    )


def recorded(bundle: Bundle, recorder: Recorder) -> Bundle:
    """The bundle with what a recorder recorded of its run."""
    run = recorder.last
    return attrs.evolve(bundle, recording=Recording(run.device, run.outputs, tuple(run.node_digests)))


def modules_of(graph: CommandGraph) -> tuple[tuple[KernelModule, ...], tuple[int, ...]]:
    images = launched_images(graph)
    kernels = compile_images(images, graph.half, "sm_80", CodeKind.PTX)
    keys = list(dict.fromkeys(kernel.module.key for kernel in kernels))
    modules = []
    for key in keys:
        mine = [kernel for kernel in kernels if kernel.module.key == key]
        source, compiled = find_kernel_source(mine[0].image.signature), mine[0].module
        constants = {name: str(value) for kernel in mine for name, value in kernel.image.constants}
        half = {"CG_HALF": HALF_MACRO[graph.half]} if graph.half in HALF_MACRO else {}
        version = _VERSION.search(compiled.code)
        assert version is not None
        stored = Code(CodeKind.PTX, "compute_80", (int(version[1]), int(version[2])), compiled.code, compiled.entries)
        includes = tuple((path.name, text) for path, text in source.includes)
        file = mine[0].image.signature.file
        macros = tuple({**half, **dict(sorted(constants.items()))}.items())
        modules.append(KernelModule(file, source.text, includes, OPTIONS, macros, (stored,)))
    return tuple(modules), tuple(keys.index(kernel.module.key) for kernel in kernels)
