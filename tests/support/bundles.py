"""Bundles in memory, made from programs without a file."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.capture.model import Bundle, Recording, launched_images
from cgraph.capture.recording import Recorder
from cgraph.capture.saving import make_bundle
from cgraph.core.elements import Element
from cgraph.graph.model import CommandGraph
from cgraph.graph.purposes import given_planes
from cgraph.pipeline import Compiled, compile_program
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source

Planes = dict[str, NDArray[Any]]
# y and z are 3·x.
THRICE = """
import "operations.cg"
parameter n : Nat = 40
plane x : f32 [n] input
plane h : f32 [n] scratch
plane y : f32 [n] output
plane z : f32 [n] output
def main = (cgThen (cgBinary cgImageAdd h x x n) (cgThen (cgBinary cgImageAdd y h x n) (cgCopy z y)))
"""
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
    contents = drawn_planes(graph) if data is None else data
    if code:
        return make_bundle(graph, compiled.schedule, compiled.plan, data=contents)
    return Bundle(graph, compiled.schedule, compiled.plan, (), (None,) * len(launched_images(graph)), contents)


def recorded(bundle: Bundle, recorder: Recorder) -> Bundle:
    """The bundle with what a recorder recorded of its run."""
    run = recorder.last
    return attrs.evolve(bundle, recording=Recording(run.device, run.outputs, tuple(run.node_digests)))
