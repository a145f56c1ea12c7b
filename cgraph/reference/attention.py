"""Attention (Vaswani et al. 2017) with the whole matrix of probabilities in memory."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgraph.reference.arrays import FloatArray, real_array, spread_mask
from cgraph.reference.softmax import softmax, softmax_bwd


def attention(
    queries: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    *,
    causal: bool,
    mask: NDArray[np.bool_] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The context, softmax(queries · keysᵀ / sqrt(headWidth)) · values, head by head.

    Args:
        queries: [heads, seq, headWidth].
        keys: [heads, seq, headWidth].
        values: [heads, seq, headWidth].
        causal: whether a token attends only to itself and earlier ones.
        mask: booleans that broadcast to [heads, seq, seq]; False keeps a query (row) from a key (column). A row that is
            masked in full gives 0.

    Returns:
        context: [heads, seq, headWidth]; probabilities: [heads, seq, seq].

    Raises:
        ValueError: shapes differ, the mask is not boolean or does not broadcast, or a value is not finite.
    """
    queries = real_array("queries", queries, ("heads", "seq", "headWidth"))
    keys = real_array("keys", keys, queries.shape)
    values = real_array("values", values, queries.shape)
    scores = queries @ keys.swapaxes(-1, -2) / math.sqrt(queries.shape[-1])
    visible = np.ones(scores.shape, dtype=np.bool_) if mask is None else spread_mask(mask, scores.shape)
    if causal:
        visible = visible & np.tri(scores.shape[-1], dtype=np.bool_)
    probabilities = softmax(scores, mask=visible)
    return probabilities @ values, probabilities


def attention_bwd(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, probabilities: ArrayLike, dcontext: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients of `attention`.

    dvalues = probabilitiesᵀ · dcontext; dscores = softmax_bwd(dcontext · valuesᵀ) / sqrt(headWidth);
    dqueries = dscores · keys; dkeys = dscoresᵀ · queries. Masked entries have probability 0, so no mask is needed.

    Args:
        queries: [heads, seq, headWidth].
        keys: [heads, seq, headWidth].
        values: [heads, seq, headWidth].
        probabilities: [heads, seq, seq], from `attention`.
        dcontext: [heads, seq, headWidth].

    Returns:
        dqueries, dkeys, dvalues: [heads, seq, headWidth] each.

    Raises:
        ValueError: shapes differ or a value is not finite.
    """
    queries = real_array("queries", queries, ("heads", "seq", "headWidth"))
    heads, seq, head_width = queries.shape
    keys = real_array("keys", keys, queries.shape)
    values = real_array("values", values, queries.shape)
    probabilities = real_array("probabilities", probabilities, (heads, seq, seq))
    dcontext = real_array("dcontext", dcontext, queries.shape)
    dvalues = probabilities.swapaxes(-1, -2) @ dcontext
    dscores = softmax_bwd(probabilities, dcontext @ values.swapaxes(-1, -2)) / math.sqrt(head_width)
    return dscores @ keys, dscores.swapaxes(-1, -2) @ queries, dvalues
