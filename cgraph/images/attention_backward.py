"""The gradient of streaming attention, in two images that form the probabilities again from the statistics.

With P = 2^(scores - statistics), dP = contextGradient · valuesᵀ and dS = P ∘ (dP - rowDot): the gradients of values,
keys and queries are Pᵀ · contextGradient, dSᵀ · queries / sqrt(headWidth) and dS · keys / sqrt(headWidth). Both
subtractions cost nothing: one more channel, -statistics (or -rowDot) against 1, lets the product do them. Each block
is the only one to write its rows, so no sum depends on the order of blocks.
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from cgraph.images.attention import BLOCK, LOG2_E, masked_corner, penalty_of
from cgraph.images.context import Array, DType, HostContext, Scratch
from cgraph.images.convert import widened
from cgraph.images.registry import meaning


@meaning("attention_backward.cu", "cgAttentionBackwardKeys")
def attention_backward_keys(
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
    causal: int,
    **_: object,
) -> None:
    """Gradients of keys and values[h,s,c]. A block owns keys; its planes are [keys, queries from the block on]."""
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
        penalties=None,
    )


def differentiate_keys(
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
    causal: int,
    penalties: Array | None,
) -> None:
    """As `attention_backward_keys`, with penalties as `attention.attend` has them."""
    heads, seq, head_width = queries.shape
    wide = statistics.dtype
    corner = np.ascontiguousarray(masked_corner(wide).T)
    scale = 1.0 / sqrt(head_width)

    def differentiate(scratch: Scratch, numbers: Iterator[int]) -> None:
        for head in numbers:
            head_keys = _with_ones(scratch, "keys", keys[head], wide)
            head_values = _with_ones(scratch, "values", values[head], wide)
            scaled_t = scratch.take("queriesT", (head_width + 1, seq), wide)
            np.multiply(queries_t[head], scale * LOG2_E, out=scaled_t[:head_width], dtype=wide)
            np.multiply(statistics[head], -LOG2_E, out=scaled_t[head_width])
            gradient_t = scratch.take("gradientT", (head_width + 1, seq), wide)
            np.copyto(gradient_t[:head_width], context_gradient_t[head])
            np.negative(row_dot[head], out=gradient_t[head_width])
            head_queries = widened(scratch, "queries", queries[head], wide)
            head_gradient = widened(scratch, "gradient", context_gradient[head], wide)
            penalty = penalty_of(penalties, head, heads)
            for start in range(0, seq, BLOCK):
                stop = min(start + BLOCK, seq)
                count, first = stop - start, start if causal else 0
                probabilities = scratch.take("probabilities", (count, seq - first), wide)
                np.matmul(head_keys[start:stop], scaled_t[:, first:], out=probabilities)
                if causal:
                    probabilities[:, :count] += corner[:count, :count]
                if penalty is not None:
                    probabilities += penalty[start:stop, None]
                np.exp2(probabilities, out=probabilities)
                np.matmul(probabilities, head_gradient[first:], out=values_gradient[head, start:stop])
                scores_gradient = scratch.take("scores", (count, seq - first), wide)
                np.matmul(head_values[start:stop], gradient_t[:, first:], out=scores_gradient)
                np.multiply(scores_gradient, probabilities, out=scores_gradient)
                result = keys_gradient[head, start:stop]
                np.matmul(scores_gradient, head_queries[first:], out=result)
                np.multiply(result, scale, out=result)

    with context.blas_alone():
        context.share(heads, differentiate)


@meaning("attention_backward.cu", "cgAttentionBackwardQueries")
def attention_backward_queries(
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
    causal: int,
    **_: object,
) -> None:
    """Gradient of queries[h,s,c]. A block owns queries; its planes are [queries, keys that they may see]."""
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
        penalties=None,
    )


def differentiate_queries(
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
    causal: int,
    penalties: Array | None,
) -> None:
    """As `attention_backward_queries`, with penalties as `attention.attend` has them."""
    heads, seq, head_width = queries.shape
    wide = statistics.dtype
    corner = masked_corner(wide)
    scale = 1.0 / sqrt(head_width)

    def differentiate(scratch: Scratch, numbers: Iterator[int]) -> None:
        for head in numbers:
            scaled = scratch.take("scaled", (seq, head_width + 1), wide)
            np.multiply(queries[head], scale * LOG2_E, out=scaled[:, :head_width], dtype=wide)
            np.multiply(statistics[head], -LOG2_E, out=scaled[:, head_width])
            gradient = scratch.take("gradient", (seq, head_width + 1), wide)
            np.copyto(gradient[:, :head_width], context_gradient[head])
            np.negative(row_dot[head], out=gradient[:, head_width])
            head_keys_t = scratch.take("keysT", (head_width + 1, seq), wide)
            np.copyto(head_keys_t[:head_width], keys_t[head])
            head_keys_t[head_width] = 1.0
            head_values = _with_ones(scratch, "values", values[head], wide)
            head_keys = widened(scratch, "keys", keys[head], wide)
            penalty = penalty_of(penalties, head, heads)
            for start in range(0, seq, BLOCK):
                stop = min(start + BLOCK, seq)
                count, seen = stop - start, stop if causal else seq
                probabilities = scratch.take("probabilities", (count, seen), wide)
                np.matmul(scaled[start:stop], head_keys_t[:, :seen], out=probabilities)
                if causal:
                    probabilities[:, start:] += corner[:count, :count]
                if penalty is not None:
                    probabilities += penalty[:seen]
                np.exp2(probabilities, out=probabilities)
                scores_gradient = scratch.take("scores", (count, seen), wide)
                np.matmul(gradient[start:stop], head_values[:seen].T, out=scores_gradient)
                np.multiply(scores_gradient, probabilities, out=scores_gradient)
                result = queries_gradient[head, start:stop]
                np.matmul(scores_gradient, head_keys[:seen], out=result)
                np.multiply(result, scale, out=result)

    with context.blas_alone():
        context.share(heads, differentiate)


def _with_ones(scratch: Scratch, name: str, source: Array, wide: DType) -> Array:
    """source[rows, channels] in the wide type with a column of ones behind it."""
    rows, channels = source.shape
    result = scratch.take(name, (rows, channels + 1), wide)
    np.copyto(result[:, :channels], source)
    result[:, channels] = 1.0
    return result
