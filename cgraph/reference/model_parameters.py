"""The sizes of a whole model and one array for each of its weights, or for each weight's gradient.

Fields are called as in seed 001, in snake case and without the prefixes `gg` and `bg`. Matrices are [outputs, inputs].
"""

import math
from collections.abc import Mapping

import numpy as np
from attrs import fields, frozen
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array
from cgraph.reference.gelu import GeluForm


@frozen(kw_only=True)
class ModelConfig:
    """Sizes and constants.

    Args:
        vocab: tokens of the vocabulary. context: positions that have an embedding.
        width: channels of a token. heads: of the attention; divides the width.
        layers: blocks. ffn: inner width of the feed-forward part.
        epsilon: of every norm. gelu: the form of the GELU.
    """

    vocab: int
    context: int
    width: int
    heads: int
    layers: int
    ffn: int
    epsilon: float = 1e-5
    gelu: GeluForm = "tanh"


@frozen(eq=False, kw_only=True)
class BlockParameters:
    """One array for each weight of a block.

    Args:
        attn_wq, attn_wk, attn_wv, attn_wo: [width, width]. attn_ln_gamma, attn_ln_beta: [width].
        ffn_w1: [ffn, width]. ffn_w2: [width, ffn]. ffn_b1: [ffn]. ffn_b2: [width].
        ffn_ln_gamma, ffn_ln_beta: [width].
    """

    attn_wq: FloatArray
    attn_wk: FloatArray
    attn_wv: FloatArray
    attn_wo: FloatArray
    attn_ln_gamma: FloatArray
    attn_ln_beta: FloatArray
    ffn_w1: FloatArray
    ffn_w2: FloatArray
    ffn_b1: FloatArray
    ffn_b2: FloatArray
    ffn_ln_gamma: FloatArray
    ffn_ln_beta: FloatArray


@frozen(eq=False, kw_only=True)
class ModelParameters:
    """One array for each weight of a model.

    Args:
        wte: [vocab, width], embeddings of tokens. wpe: [context, width], embeddings of positions.
        blocks: the lowest first.
        ln_gamma, ln_beta: [width], of the last norm. head: [vocab, width]. head_b: [vocab].
    """

    wte: FloatArray
    wpe: FloatArray
    blocks: tuple[BlockParameters, ...]
    ln_gamma: FloatArray
    ln_beta: FloatArray
    head: FloatArray
    head_b: FloatArray

    def named(self) -> dict[str, FloatArray]:
        """Name and array; those of block 0 are called `blocks.0.attn_wq` and so on."""
        outside = {name: getattr(self, name) for name in OUTSIDE_NAMES}
        blocks = {
            f"blocks.{layer}.{name}": getattr(block, name)
            for layer, block in enumerate(self.blocks)
            for name in BLOCK_NAMES
        }
        return outside | blocks


BLOCK_NAMES: tuple[str, ...] = tuple(item.name for item in fields(BlockParameters))
OUTSIDE_NAMES: tuple[str, ...] = tuple(item.name for item in fields(ModelParameters) if item.name != "blocks")


def parameter_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of each weight of a model."""
    matrices = {
        "wte": (config.vocab, config.width),
        "wpe": (config.context, config.width),
        "head": (config.vocab, config.width),
        "head_b": (config.vocab,),
        "attn_wq": (config.width, config.width),
        "attn_wk": (config.width, config.width),
        "attn_wv": (config.width, config.width),
        "attn_wo": (config.width, config.width),
        "ffn_w1": (config.ffn, config.width),
        "ffn_w2": (config.width, config.ffn),
        "ffn_b1": (config.ffn,),
    }
    vector = (config.width,)
    outside = {name: matrices.get(name, vector) for name in OUTSIDE_NAMES}
    blocks = {
        f"blocks.{layer}.{name}": matrices.get(name, vector) for layer in range(config.layers) for name in BLOCK_NAMES
    }
    return outside | blocks


def parameters_from_named(config: ModelConfig, arrays: Mapping[str, ArrayLike]) -> ModelParameters:
    """The parameters whose `named` are these arrays, as float64.

    Args:
        config: what shapes the arrays must have.
        arrays: by name, in any order.

    Raises:
        ValueError: an array is missing, does not belong to the model, has another shape, or a value in it is not
            finite; the message names it.
    """
    shapes = parameter_shapes(config)
    if different := sorted(shapes.keys() ^ arrays.keys()):
        raise ValueError(f"{different[0]}: {'missing' if different[0] in shapes else 'no weight of this model'}")
    checked = {name: real_array(name, arrays[name], shape) for name, shape in shapes.items()}
    blocks = tuple(
        BlockParameters(**{name: checked[f"blocks.{layer}.{name}"] for name in BLOCK_NAMES})
        for layer in range(config.layers)
    )
    return ModelParameters(blocks=blocks, **{name: checked[name] for name in OUTSIDE_NAMES})


def random_parameters(generator: np.random.Generator, config: ModelConfig) -> ModelParameters:
    """Weights for tests: none is 0, and activations and attention scores stay near 1.

    Matrices have deviation 1/sqrt(inputs), embeddings 1, gammas are near 1, betas and biases near 0.
    """
    drawn = {}
    for name, shape in parameter_shapes(config).items():
        normal = generator.standard_normal(shape)
        if name in ("wte", "wpe"):
            drawn[name] = normal
        elif name.endswith("gamma"):
            drawn[name] = 1 + 0.2 * normal
        elif len(shape) == 1:
            drawn[name] = 0.2 * normal
        else:
            drawn[name] = normal / math.sqrt(shape[-1])
    return parameters_from_named(config, drawn)
