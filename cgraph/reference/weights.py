"""The weights of one layer, and their gradients. Matrices are stored [outputs, inputs]; there are no biases."""

import math

import numpy as np
from attrs import fields, frozen

from cgraph.reference.arrays import FloatArray, real_array


@frozen(eq=False)
class _LayerParameters:
    """One array for each weight of a layer.

    Args:
        qkv: [3 · width, width]; rows of the queries, then the keys, then the values, each [heads, headWidth] row-major.
        output: [width, width]. up, gate: [ffn, width]. down: [width, ffn].
        norm1_gain, norm1_shift, norm2_gain, norm2_shift: [width].
    """

    qkv: FloatArray
    output: FloatArray
    up: FloatArray
    gate: FloatArray
    down: FloatArray
    norm1_gain: FloatArray
    norm1_shift: FloatArray
    norm2_gain: FloatArray
    norm2_shift: FloatArray

    def named(self) -> dict[str, FloatArray]:
        """Name and array, in the order above."""
        return {name: getattr(self, name) for name in LAYER_WEIGHT_NAMES}


@frozen(eq=False)
class LayerWeights(_LayerParameters):
    """The weights of one layer; see the fields' shapes above."""


@frozen(eq=False)
class LayerGradients(_LayerParameters):
    """The gradient of each weight, in the weight's shape."""


LAYER_WEIGHT_NAMES: tuple[str, ...] = tuple(item.name for item in fields(_LayerParameters))


def checked_weights(weights: LayerWeights, *, width: int) -> LayerWeights:
    """The weights as float64 arrays, with the shapes that a layer of this width needs.

    Raises:
        ValueError: a shape does not fit or a value is not finite; the message names the weight.
    """
    ffn = real_array("up", weights.up, ("ffn", width)).shape[0]
    shapes = layer_shapes(width=width, ffn=ffn)
    return LayerWeights(**{name: real_array(name, array, shapes[name]) for name, array in weights.named().items()})


def layer_shapes(*, width: int, ffn: int) -> dict[str, tuple[int, ...]]:
    """Name and shape of each weight of a layer."""
    matrices = {
        "qkv": (3 * width, width),
        "output": (width, width),
        "up": (ffn, width),
        "gate": (ffn, width),
        "down": (width, ffn),
    }
    return {name: matrices.get(name, (width,)) for name in LAYER_WEIGHT_NAMES}


def random_weights(generator: np.random.Generator, *, width: int, ffn: int) -> LayerWeights:
    """Weights that keep activations near 1: matrices of deviation 1/sqrt(inputs), gains near 1, shifts near 0."""
    drawn = {}
    for name, shape in layer_shapes(width=width, ffn=ffn).items():
        normal = generator.standard_normal(shape)
        if name.endswith("gain"):
            drawn[name] = 1 + 0.1 * normal
        elif name.endswith("shift"):
            drawn[name] = 0.1 * normal
        else:
            drawn[name] = normal / math.sqrt(shape[-1])
    return LayerWeights(**drawn)
