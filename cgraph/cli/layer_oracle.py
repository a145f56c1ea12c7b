"""What the library's layer programs should compute, by the reference.

Receives a graph and the values of its planes; guarantees float64 values of the results by plane name, or None for a
graph that is no such program. A program counts as one by its parameters and planes: whoever takes the library's planes
from input to output, or from the output's gradient down to the input's, claims to compute the library's layer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.graph.purposes import written_planes
from cgraph.reference.bounds import UNIT_ROUNDOFF, Half, gradient_bound
from cgraph.reference.layer import LayerOptions
from cgraph.reference.stack import stack_backward_from_boundaries, stack_forward
from cgraph.reference.weights import LayerGradients, LayerWeights

# The reference's name of a weight, the family of its planes, and the family of their gradients.
WEIGHTS = (
    ("qkv", "cgQkvWeight", "cgQkvGradient"),
    ("output", "cgOutputWeight", "cgOutputWeightGradient"),
    ("up", "cgUpWeight", "cgUpGradient"),
    ("gate", "cgGateWeight", "cgGateGradient"),
    ("down", "cgDownWeight", "cgDownGradient"),
    ("norm1_gain", "cgNorm1Gain", "cgNorm1GainGradient"),
    ("norm1_shift", "cgNorm1Shift", "cgNorm1ShiftGradient"),
    ("norm2_gain", "cgNorm2Gain", "cgNorm2GainGradient"),
    ("norm2_shift", "cgNorm2Shift", "cgNorm2ShiftGradient"),
)
HALVES: dict[Element, Half] = {Element.F16: "f16", Element.BF16: "bf16", Element.F32: "f32"}

Planes = dict[str, NDArray[np.float64]]


@frozen
class LayerParameters:
    """The parameters of the library's layer programs."""

    seq: int
    heads: int
    head_width: int
    ffn: int
    layers: int
    causal: bool
    epsilon: float
    rope_base: float

    @property
    def options(self) -> LayerOptions:
        """What the reference takes besides planes."""
        return {"heads": self.heads, "causal": self.causal, "epsilon": self.epsilon, "rope_base": self.rope_base}


def layer_expectations(graph: CommandGraph, planes: Mapping[str, NDArray[Any]]) -> Planes | None:
    """The results of a layer program: the output and the boundaries, or the gradients.

    A backward program is judged from the boundaries that it was given, which a forward program has rounded.

    Args:
        graph: built from any program.
        planes: values by name of all planes that the results depend on: the input and the weights, or the boundaries,
            the weights and the output's gradient. Others may be among them.

    Returns:
        Arrays by name, of every result that the graph writes and the reference knows; None where the graph is no layer
        program, a plane has no value, or the reference does not take the values (they are not finite, say).
    """
    parameters = _parameters(graph)
    if parameters is None:
        return None
    written = written_planes(graph)
    results = {plane.name for plane in graph.planes if plane.index in written}
    try:
        if _reads(graph, "cgOutputGradient") and "cgInputGradient" in results:
            expected = _backward(parameters, planes)
        elif _reads(graph, "cgInput") and "cgOutput" in results:
            expected = _forward(parameters, planes)
        else:
            return None
    except (KeyError, ValueError):
        return None
    return {name: plane for name, plane in expected.items() if name in results}


def layer_bound(graph: CommandGraph) -> float | None:
    """The relative error that every result of a layer program should keep below.

    It is the reference's bound on gradients; a forward pass makes only some of the roundings that it counts. None where
    the graph lacks the parameters of a layer program.
    """
    parameters = _parameters(graph)
    if parameters is None:
        return None
    sizes = {
        "seq": max(1, parameters.seq),
        "width": max(2, parameters.heads * parameters.head_width),
        "ffn": max(1, parameters.ffn),
        "layers": max(1, parameters.layers),
    }
    if graph.half in HALVES:
        return gradient_bound(HALVES[graph.half], **sizes)
    # With f64 for half the f32 planes are f64 too, so every rounding that the bound for f32 counts is one of f64.
    return gradient_bound("f32", **sizes) * UNIT_ROUNDOFF["f64"] / UNIT_ROUNDOFF["f32"]


def _parameters(graph: CommandGraph) -> LayerParameters | None:
    values: dict[str, Any] = dict(graph.parameters)
    try:
        return LayerParameters(
            seq=values["cgSeq"],
            heads=values["cgHeads"],
            head_width=values["cgHeadWidth"],
            ffn=values["cgFfn"],
            layers=values["cgLayers"],
            causal=bool(values["cgCausal"]),
            epsilon=values["cgNormEpsilon"],
            rope_base=values["cgRopeBase"],
        )
    except KeyError:
        return None


def _reads(graph: CommandGraph, name: str) -> bool:
    given = {plane.index for plane in graph.planes if plane.name == name and plane.role in (Role.INPUT, Role.GRADIENT)}
    return any(access.plane in given and access.mode.reads for node in graph.nodes for access in node.accesses)


def _forward(parameters: LayerParameters, planes: Mapping[str, NDArray[Any]]) -> Planes:
    boundaries = stack_forward(planes["cgInput"], _weights(parameters, planes), **parameters.options)
    named = {f"cgBoundary {layer}": boundary for layer, boundary in enumerate(boundaries)}
    return {**named, "cgOutput": boundaries[-1]}


def _backward(parameters: LayerParameters, planes: Mapping[str, NDArray[Any]]) -> Planes:
    boundaries = [planes[f"cgBoundary {layer}"] for layer in range(parameters.layers)]
    dx, of_layers = stack_backward_from_boundaries(
        boundaries, _weights(parameters, planes), planes["cgOutputGradient"], **parameters.options
    )
    expected = {"cgInputGradient": dx}
    for layer, gradients in enumerate(of_layers):
        expected |= _named_gradients(layer, gradients)
    return expected


def _named_gradients(layer: int, gradients: LayerGradients) -> Planes:
    named = gradients.named()
    return {f"{family} {layer}": named[name] for name, _, family in WEIGHTS}


def _weights(parameters: LayerParameters, planes: Mapping[str, NDArray[Any]]) -> list[LayerWeights]:
    return [
        LayerWeights(**{name: planes[f"{family} {layer}"] for name, family, _ in WEIGHTS})
        for layer in range(parameters.layers)
    ]
