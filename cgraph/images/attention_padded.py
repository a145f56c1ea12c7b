"""Streaming attention over padded sequences, and its gradient: keys of tokens that are not there are seen by none.

The work is done by `attention` and `attention_backward`; here their penalties are made. A token that sees no key at all
has the output 0, statistics 0 and gradients 0: each of its probabilities is 2^-inf.
"""

import numpy as np

from cgraph.images.attention import attend
from cgraph.images.attention_backward import differentiate_keys, differentiate_queries
from cgraph.images.context import Array, DType, HostContext
from cgraph.images.registry import meaning


def _penalties(present: Array, dtype: DType) -> Array:
    """[batch, seq]: 0 where present[seq,batch] has a token, -inf elsewhere."""
    penalties: Array = np.where(present.T != 0, 0.0, -np.inf).astype(dtype)
    return penalties


@meaning("attention_padded.cu", "cgAttentionPadded")
def attention_padded(
    context: HostContext,
    *,
    merged_half: Array,
    statistics: Array,
    queries: Array,
    keys: Array,
    values_t: Array,
    present: Array,
    causal: int,
    **_: object,
) -> None:
    """As `attention.attention`; head h belongs to sequence h // heads."""
    attend(
        context,
        merged_half=merged_half,
        statistics=statistics,
        queries=queries,
        keys=keys,
        values_t=values_t,
        causal=causal,
        penalties=_penalties(present, statistics.dtype),
    )


@meaning("attention_padded_backward.cu", "cgAttentionPaddedBackwardKeys")
def attention_padded_backward_keys(
    context: HostContext,
    *,
    keys_gradient: Array,
    values_gradient: Array,
    queries: Array,
    keys: Array,
    values: Array,
    context_gradient: Array,
    queries_t: Array,
    context_gradient_t: Array,
    statistics: Array,
    row_dot: Array,
    present: Array,
    causal: int,
    **_: object,
) -> None:
    """As `attention_backward.attention_backward_keys`; head h belongs to sequence h // heads."""
    differentiate_keys(
        context,
        keys_gradient=keys_gradient,
        values_gradient=values_gradient,
        queries=queries,
        keys=keys,
        values=values,
        context_gradient=context_gradient,
        queries_t=queries_t,
        context_gradient_t=context_gradient_t,
        statistics=statistics,
        row_dot=row_dot,
        causal=causal,
        penalties=_penalties(present, statistics.dtype),
    )


@meaning("attention_padded_backward.cu", "cgAttentionPaddedBackwardQueries")
def attention_padded_backward_queries(
    context: HostContext,
    *,
    queries_gradient: Array,
    queries: Array,
    keys: Array,
    values: Array,
    context_gradient: Array,
    keys_t: Array,
    statistics: Array,
    row_dot: Array,
    present: Array,
    causal: int,
    **_: object,
) -> None:
    """As `attention_backward.attention_backward_queries`; head h belongs to sequence h // heads."""
    differentiate_queries(
        context,
        queries_gradient=queries_gradient,
        queries=queries,
        keys=keys,
        values=values,
        context_gradient=context_gradient,
        keys_t=keys_t,
        statistics=statistics,
        row_dot=row_dot,
        causal=causal,
        penalties=_penalties(present, statistics.dtype),
    )
