"""The backward pass of a whole model, GPT or BERT, with the interface of seed 001.

    x = wte[ids] + wpe[position]                    logits = layer_norm(blocks(x)) · headᵀ + head_b
    loss = mean of the cross entropy over the supervised positions of all sequences

In GPT (Radford et al. 2019) a token attends to itself and earlier ones, in BERT (Devlin et al. 2019) to all; the blocks
are pre-norm in both. One sequence or several of one length; positions count from 0 in each. `padding` marks positions
that fill a sequence up: none attends to them as keys. They are no exception otherwise, so leave their targets at -1 or
their mask at False.
"""

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from cgraph.reference.arrays import BoolArray, FloatArray, IntArray, boolean_array, integer_array
from cgraph.reference.block import BlockSaved, block_backward, block_forward
from cgraph.reference.cross_entropy import (
    cross_entropy,
    cross_entropy_bwd,
    masked_cross_entropy,
    masked_cross_entropy_bwd,
)
from cgraph.reference.embedding import embedding, embedding_bwd
from cgraph.reference.model_parameters import ModelConfig, ModelParameters, parameters_from_named
from cgraph.reference.primitives import layer_norm, layer_norm_bwd, linear, linear_bwd


def gpt_forward(
    config: ModelConfig, gpt: ModelParameters, ids: ArrayLike, *, padding: ArrayLike | None = None
) -> FloatArray:
    """The logits of a model in which a token attends to itself and earlier ones.

    Args:
        config: sizes and constants.
        gpt: the weights.
        ids: [seq] or [batch, seq], each 0 or more and below vocab; seq is at most context.
        padding: booleans in the shape of ids; True where no token attends to. None: nowhere.

    Returns:
        logits: [seq, vocab] or [batch, seq, vocab].

    Raises:
        ValueError: a shape does not fit, an id is out of range, or a value is not finite; the message names it.
    """
    walk = _forward(config, gpt, ids, padding, causal=True)
    return walk.logits.reshape(*walk.ids.shape, -1)


def bert_forward(
    config: ModelConfig, gpt: ModelParameters, ids: ArrayLike, *, padding: ArrayLike | None = None
) -> FloatArray:
    """The logits of a model in which a token attends to all; arguments, result and errors as for `gpt_forward`."""
    walk = _forward(config, gpt, ids, padding, causal=False)
    return walk.logits.reshape(*walk.ids.shape, -1)


def gpt_loss(
    config: ModelConfig, gpt: ModelParameters, ids: ArrayLike, targets: ArrayLike, *, padding: ArrayLike | None = None
) -> float:
    """The loss that `gpt_backward` returns, from the forward pass alone; arguments and errors as there."""
    walk = _forward(config, gpt, ids, padding, causal=True)
    return cross_entropy(walk.logits, _targets(config, walk, targets))


def bert_loss(
    config: ModelConfig,
    gpt: ModelParameters,
    ids: ArrayLike,
    targets: ArrayLike,
    mask: ArrayLike,
    *,
    padding: ArrayLike | None = None,
) -> float:
    """The loss that `bert_backward` returns, from the forward pass alone; arguments and errors as there."""
    walk = _forward(config, gpt, ids, padding, causal=False)
    supervised = boolean_array("mask", mask, walk.ids.shape).ravel()
    return masked_cross_entropy(walk.logits, _targets(config, walk, targets), supervised)


def gpt_backward(
    config: ModelConfig, gpt: ModelParameters, ids: ArrayLike, targets: ArrayLike, *, padding: ArrayLike | None = None
) -> tuple[float, ModelParameters]:
    """The loss of a model in which a token attends to itself and earlier ones, and its gradient for every weight.

    Args:
        config: sizes and constants.
        gpt: the weights.
        ids: [seq] or [batch, seq], each 0 or more and below vocab; seq is at most context.
        targets: the shape of ids; the token to predict at each position, or -1 where the position does not count.
        padding: booleans in the shape of ids; True where no token attends to. None: nowhere.

    Returns:
        The mean loss over all positions that count, 0 where none does; and the gradients.

    Raises:
        ValueError: a shape does not fit, an id or target is out of range, or a value is not finite; the message names
            it.
    """
    walk = _forward(config, gpt, ids, padding, causal=True)
    loss, dlogits = cross_entropy_bwd(walk.logits, _targets(config, walk, targets))
    return loss, _backward(config, walk, dlogits)


def bert_backward(
    config: ModelConfig,
    gpt: ModelParameters,
    ids: ArrayLike,
    targets: ArrayLike,
    mask: ArrayLike,
    *,
    padding: ArrayLike | None = None,
) -> tuple[float, ModelParameters]:
    """The masked-language-model loss of a model in which a token attends to all, and its gradient for every weight.

    Args:
        config: sizes and constants.
        gpt: the weights.
        ids: [seq] or [batch, seq], the tokens fed to the model, some perhaps replaced; as for `gpt_backward`.
        targets: the shape of ids; the tokens to reconstruct, as for `gpt_backward`, also where the mask is False.
        mask: booleans in the shape of ids; True where the position counts, if its target is not -1.
        padding: as for `gpt_backward`.

    Returns:
        The mean loss over all positions that count, 0 where none does; and the gradients.

    Raises:
        ValueError: as for `gpt_backward`, or the mask does not fit.
    """
    walk = _forward(config, gpt, ids, padding, causal=False)
    supervised = boolean_array("mask", mask, walk.ids.shape).ravel()
    loss, dlogits = masked_cross_entropy_bwd(walk.logits, _targets(config, walk, targets), supervised)
    return loss, _backward(config, walk, dlogits)


@frozen(eq=False)
class _Walk:
    """What a forward pass read and computed; rows are the tokens of all sequences, one sequence after the other."""

    gpt: ModelParameters
    ids: IntArray
    positions: IntArray
    blocks: tuple[BlockSaved, ...]
    top: FloatArray
    normal: FloatArray
    logits: FloatArray


def _forward(
    config: ModelConfig, gpt: ModelParameters, ids: ArrayLike, padding: ArrayLike | None, *, causal: bool
) -> _Walk:
    gpt = parameters_from_named(config, gpt.named())
    tokens = integer_array("ids", ids, None, least=0, below=config.vocab)
    if tokens.ndim not in (1, 2) or tokens.shape[-1] > config.context:
        raise ValueError(
            f"ids: expected shape [seq] or [batch, seq], seq at most {config.context}, got {list(tokens.shape)}"
        )
    positions = np.broadcast_to(np.arange(tokens.shape[-1]), tokens.shape).ravel()
    x = embedding(gpt.wte, tokens.ravel()) + embedding(gpt.wpe, positions)
    visible = _visible(tokens.shape, padding, causal=causal)
    saved = []
    for weights in gpt.blocks:
        x, of_block = block_forward(config, weights, x, visible)
        saved.append(of_block)
    normal = layer_norm(x, gpt.ln_gamma, gpt.ln_beta, config.epsilon)
    return _Walk(gpt, tokens, positions, tuple(saved), x, normal, linear(normal, gpt.head, gpt.head_b))


def _visible(shape: tuple[int, ...], padding: ArrayLike | None, *, causal: bool) -> BoolArray:
    """[batch, seq, seq] booleans: which key (column) a query (row) attends to."""
    seq = shape[-1]
    visible = np.tri(seq, dtype=np.bool_) if causal else np.ones((seq, seq), dtype=np.bool_)
    padded = np.zeros(shape, dtype=np.bool_) if padding is None else boolean_array("padding", padding, shape)
    return visible & ~padded.reshape(-1, 1, seq)


def _targets(config: ModelConfig, walk: _Walk, targets: ArrayLike) -> IntArray:
    return integer_array("targets", targets, walk.ids.shape, least=-1, below=config.vocab).ravel()


def _backward(config: ModelConfig, walk: _Walk, dlogits: FloatArray) -> ModelParameters:
    gpt = walk.gpt
    dnormal, dhead, dhead_b = linear_bwd(walk.normal, gpt.head, dlogits)
    dx, dln_gamma, dln_beta = layer_norm_bwd(walk.top, gpt.ln_gamma, gpt.ln_beta, config.epsilon, dnormal)
    blocks = []
    for weights, saved in zip(reversed(gpt.blocks), reversed(walk.blocks), strict=True):
        dx, of_block = block_backward(config, weights, saved, dx)
        blocks.append(of_block)
    return ModelParameters(
        wte=embedding_bwd(walk.ids.ravel(), dx, config.vocab),
        wpe=embedding_bwd(walk.positions, dx, config.context),
        blocks=tuple(reversed(blocks)),
        ln_gamma=dln_gamma,
        ln_beta=dln_beta,
        head=dhead,
        head_b=dhead_b,
    )
