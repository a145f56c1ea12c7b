"""The arrays of a whole model, which its weights and its gradients share; `model_shapes` says how they are called.

Guarantees that an object, once made, has every array, in shapes that fit each other and of one element type. Whether
the values are finite is left to whoever computes with them. The arrays are kept as given, not copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

import numpy as np
from attrs import field, fields, frozen

from cgraph.models.config import GptConfig
from cgraph.models.model_shapes import (
    FloatArray,
    block_shapes,
    check_kinds,
    check_matrices,
    check_shapes,
    model_shapes,
    sized_shapes,
)


@frozen(eq=False, kw_only=True)
class BlockArrays:
    """One array for each weight of a block.

    Args:
        attn_wq, attn_wk, attn_wv: [width, width]; head h has the rows from h · headWidth on.
        attn_wo: [width, width]; head h has the columns from h · headWidth on.
        attn_ln_gamma, attn_ln_beta: [width], of the norm before the attention.
        ffn_w1: [ffn, width]. ffn_w2: [width, ffn]. ffn_b1: [ffn]. ffn_b2: [width].
        ffn_ln_gamma, ffn_ln_beta: [width], of the norm before the feed-forward part.

    Raises:
        ValueError: an array has another shape or element type than the others ask for; the message names the field.
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

    def __attrs_post_init__(self) -> None:
        named = self.named()
        check_kinds(named)
        check_matrices(named, "attn_wq", "ffn_w1")
        check_shapes(named, block_shapes(width=self.attn_wq.shape[1], ffn=self.ffn_w1.shape[0]))

    def named(self) -> dict[str, FloatArray]:
        """Name and array, in the order above."""
        return {name: getattr(self, name) for name in BLOCK_NAMES}


BLOCK_NAMES: tuple[str, ...] = tuple(item.name for item in fields(BlockArrays))
BlockT = TypeVar("BlockT", bound=BlockArrays)


def _as_tuple(blocks: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(blocks)


@frozen(eq=False, kw_only=True)
class ModelArrays(ABC, Generic[BlockT]):
    """One array for each weight of a model.

    Args:
        wte: [vocab, width], the embeddings of tokens. wpe: [context, width], those of positions.
        blocks: the lowest first; any iterable.
        ln_gamma, ln_beta: [width], of the norm before the head.
        head: [vocab, width]. head_b: [vocab].

    Raises:
        ValueError: an array has another shape or element type than the others ask for; the message names it as `named`
            does.
    """

    wte: FloatArray
    wpe: FloatArray
    blocks: tuple[BlockT, ...] = field(converter=_as_tuple)
    ln_gamma: FloatArray
    ln_beta: FloatArray
    head: FloatArray
    head_b: FloatArray

    @classmethod
    @abstractmethod
    def block_type(cls) -> type[BlockT]:
        """What `blocks` holds."""

    def __attrs_post_init__(self) -> None:
        if not self.blocks:
            raise ValueError("blocks: expected one or more, got none")
        expected = self.block_type()
        for layer, block in enumerate(self.blocks):
            if not isinstance(block, expected):
                raise ValueError(  # noqa: TRY004  (every misfit of a field is one kind of error)
                    f"blocks.{layer}: expected {expected.__name__}, got {type(block).__name__}"
                )
        named = self.named()
        check_kinds(named)
        check_matrices(named, "wte", "wpe")
        shapes = sized_shapes(
            vocab=self.wte.shape[0],
            context=self.wpe.shape[0],
            width=self.wte.shape[1],
            layers=len(self.blocks),
            ffn=self.blocks[0].ffn_w1.shape[0],
        )
        check_shapes(named, shapes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of every array, float32 or float64."""
        return self.wte.dtype

    def named(self) -> dict[str, FloatArray]:
        """Name and array: `wte`, `wpe`, `blocks.0.attn_wq` and so on, `ln_gamma`, `ln_beta`, `head`, `head_b`."""
        blocks = {
            f"blocks.{layer}.{name}": array
            for layer, block in enumerate(self.blocks)
            for name, array in block.named().items()
        }
        return {
            "wte": self.wte,
            "wpe": self.wpe,
            **blocks,
            "ln_gamma": self.ln_gamma,
            "ln_beta": self.ln_beta,
            "head": self.head,
            "head_b": self.head_b,
        }

    @classmethod
    def from_named(cls, config: GptConfig, arrays: Mapping[str, FloatArray]) -> Self:
        """The object whose `named` are these arrays.

        Args:
            config: what sizes the arrays must have.
            arrays: under the names that `named` gives, in any order.

        Raises:
            ValueError: an array is missing, does not belong to the model or does not fit; the message names it.
        """
        shapes = model_shapes(config)
        for name in shapes:
            if name not in arrays:
                raise ValueError(f"{name}: missing")
        for name in arrays:
            if name not in shapes:
                raise ValueError(f"{name}: a model of these sizes has no such array")
        check_kinds(arrays)
        check_shapes(arrays, shapes)
        make = cls.block_type()
        blocks = [
            make(**{name: arrays[f"blocks.{layer}.{name}"] for name in BLOCK_NAMES}) for layer in range(config.layers)
        ]
        outside = {name: array for name, array in arrays.items() if not name.startswith("blocks.")}
        return cls(blocks=blocks, **outside)

    def check_fits(self, config: GptConfig) -> None:
        """Checks that the arrays have the configuration's sizes.

        Raises:
            ValueError: there are more or fewer blocks, or an array has another shape; the message names it.
        """
        if len(self.blocks) != config.layers:
            raise ValueError(f"blocks: expected {config.layers}, got {len(self.blocks)}")
        check_shapes(self.named(), model_shapes(config))
