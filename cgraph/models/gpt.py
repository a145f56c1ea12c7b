"""The weights of a whole model, GPT or BERT: token and position embeddings, blocks, final norm, head with bias.

`model_arrays` says which arrays there are. One class serves both models, which differ in what a token attends to and
in which positions count for the loss, not in their weights.
"""

import math

import numpy as np
from attrs import frozen
from numpy.typing import DTypeLike

from cgraph.models.config import GptConfig
from cgraph.models.model_arrays import BlockArrays, ModelArrays
from cgraph.models.model_shapes import FloatArray, model_shapes

DEVIATION = 0.02
POSITION_DEVIATION = 0.01


@frozen(eq=False, kw_only=True)
class Block(BlockArrays):
    """The weights of one block."""


@frozen(eq=False, kw_only=True)
class Gpt(ModelArrays[Block]):
    """The weights of a model."""

    @classmethod
    def block_type(cls) -> type[Block]:
        """What `blocks` holds."""
        return Block


def random_gpt(config: GptConfig, seed: int, *, dtype: DTypeLike = np.float64) -> Gpt:
    """Weights for the start of a training, drawn as GPT-2's.

    Matrices and token embeddings are normal with deviation 0.02, position embeddings with 0.01; what writes to the
    residual stream, `attn_wo` and `ffn_w2`, is divided by the root of the number of such writers, 2 · layers. Gammas
    are 1, betas and biases 0. Source: Radford et al. 2019, section 2.3, and its published code, `model.py`.

    An array depends on its name, its shape and the seed alone, up to the number of layers and to rounding.

    Args:
        config: the sizes.
        seed: 0 or more.
        dtype: float64 or float32.

    Raises:
        ValueError: the dtype is another, or the seed is below 0.
    """
    return Gpt.from_named(
        config,
        {
            name: _initial(name, shape, config.layers, seed).astype(dtype)
            for name, shape in model_shapes(config).items()
        },
    )


def _initial(name: str, shape: tuple[int, ...], layers: int, seed: int) -> FloatArray:
    if len(shape) == 1:
        return np.full(shape, 1.0 if name.endswith("gamma") else 0.0)
    deviation = POSITION_DEVIATION if name == "wpe" else DEVIATION
    if name.endswith(("attn_wo", "ffn_w2")):
        deviation /= math.sqrt(2 * layers)
    return deviation * np.random.default_rng([seed, *name.encode()]).standard_normal(shape)
