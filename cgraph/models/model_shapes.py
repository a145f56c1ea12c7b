"""Names and shapes of the arrays of a whole model, and the check of arrays against them.

The names are those of seed 001's gradient types in snake case and without the prefixes `gg` and `bg`: `ggWte` is `wte`,
`bgAttnWq` of the first block is `blocks.0.attn_wq`. A weight and its gradient have one name, in files as well. Matrices
are stored [outputs, inputs], as everywhere in cgraph.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cgraph.models.config import GptConfig

FloatArray: TypeAlias = NDArray[np.floating[Any]]
Shapes: TypeAlias = dict[str, tuple[int, ...]]

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def block_shapes(*, width: int, ffn: int) -> Shapes:
    """Name and shape of each weight of a block, in seed 001's order."""
    square, vector = (width, width), (width,)
    return {
        "attn_wq": square,
        "attn_wk": square,
        "attn_wv": square,
        "attn_wo": square,
        "attn_ln_gamma": vector,
        "attn_ln_beta": vector,
        "ffn_w1": (ffn, width),
        "ffn_w2": (width, ffn),
        "ffn_b1": (ffn,),
        "ffn_b2": vector,
        "ffn_ln_gamma": vector,
        "ffn_ln_beta": vector,
    }


def model_shapes(config: GptConfig) -> Shapes:
    """Name and shape of each weight of a model: `wte`, `wpe`, `blocks.0.attn_wq` and so on, `ln_gamma`, … `head_b`."""
    return sized_shapes(
        vocab=config.vocab, context=config.context, width=config.width, layers=config.layers, ffn=config.ffn
    )


def sized_shapes(*, vocab: int, context: int, width: int, layers: int, ffn: int) -> Shapes:
    """As `model_shapes`."""
    of_block = block_shapes(width=width, ffn=ffn)
    return {
        "wte": (vocab, width),
        "wpe": (context, width),
        **{f"blocks.{layer}.{name}": shape for layer in range(layers) for name, shape in of_block.items()},
        "ln_gamma": (width,),
        "ln_beta": (width,),
        "head": (vocab, width),
        "head_b": (vocab,),
    }


def check_kinds(arrays: Mapping[str, object]) -> None:
    """Checks that all are arrays of float32, or all of float64.

    Raises:
        ValueError: one is not; the message names it.
    """
    first: np.dtype[Any] | None = None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(  # noqa: TRY004  (every misfit of an array is one kind of error)
                f"{name}: expected an array, got {type(array).__name__}"
            )
        if array.dtype not in DTYPES:
            raise ValueError(f"{name}: expected float32 or float64, got {array.dtype}")
        first = first or array.dtype
        if array.dtype != first:
            raise ValueError(f"{name}: expected {first}, as the arrays before it, got {array.dtype}")


def check_matrices(arrays: Mapping[str, FloatArray], *names: str) -> None:
    """Checks that the named arrays have two axes and elements, so that sizes can be read from them.

    Raises:
        ValueError: one has not; the message names it.
    """
    for name in names:
        if arrays[name].ndim != 2 or not arrays[name].size:
            raise ValueError(f"{name}: expected a matrix with elements, got shape {list(arrays[name].shape)}")


def check_shapes(arrays: Mapping[str, FloatArray], shapes: Shapes) -> None:
    """Checks the shape of every array.

    Raises:
        ValueError: one has another shape; the message names it.
    """
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name}: expected shape {list(shape)}, got {list(arrays[name].shape)}")
