"""The gradients of a whole model's weights, each under its weight's name and in its shape.

Sums and multiples serve the accumulation over batches: the mean of two gradients is their sum times 1/2.
"""

from collections.abc import Callable

import numpy as np
from attrs import frozen
from numpy.typing import DTypeLike

from cgraph.models.config import GptConfig
from cgraph.models.model_arrays import BlockArrays, ModelArrays
from cgraph.models.model_shapes import FloatArray, model_shapes


@frozen(eq=False, kw_only=True)
class BlockGrads(BlockArrays):
    """The gradient of each weight of one block (seed 001)."""


@frozen(eq=False, kw_only=True)
class GptGrads(ModelArrays[BlockGrads]):
    """The gradient of each weight of a model (seed 001)."""

    @classmethod
    def block_type(cls) -> type[BlockGrads]:
        """What `blocks` holds."""
        return BlockGrads


def zero_gpt_grads(config: GptConfig, *, dtype: DTypeLike = np.float64) -> GptGrads:
    """Gradients that are 0 everywhere (seed 001).

    Args:
        config: the sizes.
        dtype: float64 or float32.

    Raises:
        ValueError: the dtype is another.
    """
    return GptGrads.from_named(config, {name: np.zeros(shape, dtype) for name, shape in model_shapes(config).items()})


def add_gpt_grads(left: GptGrads, right: GptGrads) -> GptGrads:
    """The sum, array by array, as new arrays (seed 001).

    Raises:
        ValueError: the two have other shapes or element types; the message names the first such array.
    """
    others = right.named()
    if len(left.blocks) != len(right.blocks):
        raise ValueError(f"blocks: {len(left.blocks)} in one, {len(right.blocks)} in the other")
    for name, array in left.named().items():
        if array.shape != others[name].shape or array.dtype != others[name].dtype:
            found = f"{others[name].dtype} {list(others[name].shape)}"
            raise ValueError(f"{name}: {array.dtype} {list(array.shape)} in one, {found} in the other")
    return _mapped(left, lambda name, array: array + others[name])


def scale_gpt_grads(factor: float, grads: GptGrads) -> GptGrads:
    """Every array times the factor, as new arrays of the same element type (seed 001)."""
    return _mapped(grads, lambda _, array: array * array.dtype.type(factor))


def _mapped(grads: GptGrads, function: Callable[[str, FloatArray], FloatArray]) -> GptGrads:
    mapped = {name: function(name, array) for name, array in grads.named().items()}
    blocks = [
        BlockGrads(**{name: mapped[f"blocks.{layer}.{name}"] for name in block.named()})
        for layer, block in enumerate(grads.blocks)
    ]
    return GptGrads(blocks=blocks, **{name: array for name, array in mapped.items() if not name.startswith("blocks.")})
