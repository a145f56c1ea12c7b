"""One block of seed 001's model: pre-norm, separate Wq, Wk, Wv and Wo without biases, feed-forward with biases.

    norm1 = layer_norm(x)            context = attention(norm1 · wqᵀ, norm1 · wkᵀ, norm1 · wvᵀ)
    projection = x + context · woᵀ
    norm2 = layer_norm(projection)   y = projection + gelu(norm2 · w1ᵀ + b1) · w2ᵀ + b2

Rows are the tokens of all sequences, one sequence after the other. What a token attends to is given as a table of
booleans for each sequence, so that nothing here depends on causality or padding.
"""

import numpy as np
from attrs import frozen

from cgraph.reference.arrays import BoolArray, FloatArray
from cgraph.reference.attention import attention, attention_bwd
from cgraph.reference.heads import merge_heads, split_heads
from cgraph.reference.model_parameters import BlockParameters, ModelConfig
from cgraph.reference.primitives import gelu, gelu_bwd, layer_norm, layer_norm_bwd, linear, linear_bwd


@frozen(eq=False)
class BlockSaved:
    """What the forward pass computed on its way.

    Args:
        x, norm1, queries, keys, values, context, projection, norm2: [rows, width].
        probabilities: one [heads, seq, seq] for each sequence.
        hidden, activated: [rows, ffn], before and after the GELU.
    """

    x: FloatArray
    norm1: FloatArray
    queries: FloatArray
    keys: FloatArray
    values: FloatArray
    probabilities: tuple[FloatArray, ...]
    context: FloatArray
    projection: FloatArray
    norm2: FloatArray
    hidden: FloatArray
    activated: FloatArray


def block_forward(
    config: ModelConfig, weights: BlockParameters, x: FloatArray, visible: BoolArray
) -> tuple[FloatArray, BlockSaved]:
    """The block's output.

    Args:
        config: heads, epsilon and the GELU's form are read.
        weights: of the block.
        x: [batch · seq, width].
        visible: [batch, seq, seq] booleans; True where a query (row) attends to a key (column).

    Returns:
        y: [batch · seq, width]; and all that was computed on the way.

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    norm1 = layer_norm(x, weights.attn_ln_gamma, weights.attn_ln_beta, config.epsilon)
    queries, keys, values = (linear(norm1, w) for w in (weights.attn_wq, weights.attn_wk, weights.attn_wv))
    contexts, probabilities = [], []
    parts = (_by_sequence(plane, visible) for plane in (queries, keys, values))
    for q, k, v, mask in zip(*parts, visible, strict=True):
        context, p = attention(*(split_heads(part, config.heads) for part in (q, k, v)), causal=False, mask=mask)
        contexts.append(merge_heads(context))
        probabilities.append(p)
    merged = np.vstack(contexts)
    projection = x + linear(merged, weights.attn_wo)
    norm2 = layer_norm(projection, weights.ffn_ln_gamma, weights.ffn_ln_beta, config.epsilon)
    hidden = linear(norm2, weights.ffn_w1, weights.ffn_b1)
    activated = gelu(hidden, config.gelu)
    saved = BlockSaved(
        x, norm1, queries, keys, values, tuple(probabilities), merged, projection, norm2, hidden, activated
    )
    return projection + linear(activated, weights.ffn_w2, weights.ffn_b2), saved


def block_backward(
    config: ModelConfig, weights: BlockParameters, saved: BlockSaved, dy: FloatArray
) -> tuple[FloatArray, BlockParameters]:
    """Gradients of the block's input and of every weight.

    Args:
        config: as for `block_forward`.
        weights: of the block.
        saved: what `block_forward` computed.
        dy: [batch · seq, width], the gradient of the block's output.

    Returns:
        dx: [batch · seq, width]; and the weights' gradients.

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    dactivated, dffn_w2, dffn_b2 = linear_bwd(saved.activated, weights.ffn_w2, dy)
    dhidden = gelu_bwd(saved.hidden, dactivated, config.gelu)
    dnorm2, dffn_w1, dffn_b1 = linear_bwd(saved.norm2, weights.ffn_w1, dhidden)
    dprojection, dffn_ln_gamma, dffn_ln_beta = layer_norm_bwd(
        saved.projection, weights.ffn_ln_gamma, weights.ffn_ln_beta, config.epsilon, dnorm2
    )
    dprojection = dprojection + dy

    dcontext, dattn_wo, _ = linear_bwd(saved.context, weights.attn_wo, dprojection)
    dqueries, dkeys, dvalues = _attention_bwd(config, saved, dcontext)
    dnorm1_q, dattn_wq, _ = linear_bwd(saved.norm1, weights.attn_wq, dqueries)
    dnorm1_k, dattn_wk, _ = linear_bwd(saved.norm1, weights.attn_wk, dkeys)
    dnorm1_v, dattn_wv, _ = linear_bwd(saved.norm1, weights.attn_wv, dvalues)
    dx, dattn_ln_gamma, dattn_ln_beta = layer_norm_bwd(
        saved.x, weights.attn_ln_gamma, weights.attn_ln_beta, config.epsilon, dnorm1_q + dnorm1_k + dnorm1_v
    )
    gradients = BlockParameters(
        attn_wq=dattn_wq, attn_wk=dattn_wk, attn_wv=dattn_wv, attn_wo=dattn_wo,
        attn_ln_gamma=dattn_ln_gamma, attn_ln_beta=dattn_ln_beta,
        ffn_w1=dffn_w1, ffn_w2=dffn_w2, ffn_b1=dffn_b1, ffn_b2=dffn_b2,
        ffn_ln_gamma=dffn_ln_gamma, ffn_ln_beta=dffn_ln_beta,
    )  # fmt: skip
    return dx + dprojection, gradients


def _attention_bwd(
    config: ModelConfig, saved: BlockSaved, dcontext: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients of queries, keys and values, [batch · seq, width] each."""
    sequences = len(saved.probabilities)
    planes = (saved.queries, saved.keys, saved.values, dcontext)
    per_sequence = []
    for p, *parts in zip(saved.probabilities, *(np.split(plane, sequences) for plane in planes), strict=True):
        q, k, v, dc = (split_heads(part, config.heads) for part in parts)
        per_sequence.append([merge_heads(part) for part in attention_bwd(q, k, v, p, dc)])
    dqueries, dkeys, dvalues = (np.vstack(parts) for parts in zip(*per_sequence, strict=True))
    return dqueries, dkeys, dvalues


def _by_sequence(plane: FloatArray, visible: BoolArray) -> list[FloatArray]:
    return np.split(plane, len(visible))
