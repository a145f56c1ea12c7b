"""Streaming attention: softmax(queries · keysᵀ / sqrt(headWidth)) · values, and the row sums of its gradient.

A worker takes a head at a time and walks it in blocks of queries; the scores of one block against all keys that it may
see are the largest thing in memory. Scores are kept in base 2, whose exponential is NumPy's fastest; the statistics
handed on are natural logarithms. All sums and functions are in the statistics' element type.
"""

from collections.abc import Iterator
from math import e, log, log2, sqrt

import numpy as np

from cgraph.images.context import Array, DType, HostContext, Scratch
from cgraph.images.convert import store, widened, working
from cgraph.images.layout import transpose
from cgraph.images.registry import meaning

# Queries (or keys) of one block.
BLOCK = 128
LOG2_E = log2(e)
LOG_2 = log(2.0)


def masked_corner(dtype: DType) -> Array:
    """[BLOCK, BLOCK]: 0 where the row's token may see the column's, -inf where the column's comes later."""
    return np.triu(np.full((BLOCK, BLOCK), -np.inf, dtype), 1)


def penalty_of(penalties: Array | None, head: int, heads: int) -> Array | None:
    """The penalties[seq] of a head's keys, where there are any."""
    return None if penalties is None else penalties[head * len(penalties) // heads]


@meaning("attention.cu", "cgAttention")
def attention(
    context: HostContext,
    *,
    merged_half: Array,
    statistics: Array,
    queries: Array,
    keys: Array,
    values_t: Array,
    causal: int,
    **_: object,
) -> None:
    """mergedHalf[s,h,c]: each head's output; statistics[h,s]: the logarithm of each row's softmax denominator."""
    attend(
        context,
        merged_half=merged_half,
        statistics=statistics,
        queries=queries,
        keys=keys,
        values_t=values_t,
        causal=causal,
        penalties=None,
    )


def attend(
    context: HostContext,
    *,
    merged_half: Array,
    statistics: Array,
    queries: Array,
    keys: Array,
    values_t: Array,
    causal: int,
    penalties: Array | None,
) -> None:
    """As `attention`; penalties[sequences,seq] are -inf at keys that nobody may see and 0 elsewhere.

    The heads of the first sequence stand first. A row that sees no key has the output 0 and statistics 0.
    """
    heads, seq, head_width = queries.shape
    wide = statistics.dtype
    corner = masked_corner(wide)
    scale = LOG2_E / sqrt(head_width)

    def walk(scratch: Scratch, numbers: Iterator[int]) -> None:
        # A column of ones behind the values makes the product form the softmax's denominator too.
        values = scratch.take("values", (seq, head_width + 1), wide)
        values[:, head_width] = 1.0
        scaled_memory = scratch.take("scaled", (BLOCK, head_width), wide)
        sums_memory = scratch.take("sums", (BLOCK, head_width + 1), wide)
        largest_memory = scratch.take("largest", (BLOCK, 1), wide)
        for head in numbers:
            head_keys = widened(scratch, "keys", keys[head], wide)
            transpose(scratch, values[:, :head_width], values_t[head])
            penalty = penalty_of(penalties, head, heads)
            for start in range(0, seq, BLOCK):
                stop = min(start + BLOCK, seq)
                count, seen = stop - start, stop if causal else seq
                scaled, sums, largest = scaled_memory[:count], sums_memory[:count], largest_memory[:count]
                scores = scratch.take("scores", (count, seen), wide)
                np.multiply(queries[head, start:stop], scale, out=scaled, dtype=wide)
                np.matmul(scaled, head_keys[:seen].T, out=scores)
                if causal:
                    scores[:, start:] += corner[:count, :count]
                if penalty is not None:
                    scores += penalty[:seen]
                np.maximum.reduce(scores, axis=1, out=largest, keepdims=True)
                if penalty is not None:
                    largest[np.isneginf(largest)] = 0
                np.subtract(scores, largest, out=scores)
                np.exp2(scores, out=scores)
                np.matmul(scores, values[:seen], out=sums)
                if penalty is not None:
                    sums[sums[:, head_width] == 0, head_width] = 1
                target = merged_half[start:stop, head]
                result = working(scratch, "result", target, wide)
                np.divide(sums[:, :head_width], sums[:, head_width:], out=result)
                store(target, result)
                log_sum = statistics[head, start:stop]
                np.log2(sums[:, head_width], out=log_sum)
                np.add(log_sum, largest[:, 0], out=log_sum)
                np.multiply(log_sum, LOG_2, out=log_sum)

    with context.blas_alone():
        context.share(heads, walk)


@meaning("attention_backward.cu", "cgAttentionRowDot")
def attention_row_dot(
    context: HostContext, *, row_dot: Array, merged_half: Array, context_gradient: Array, **_: object
) -> None:
    """rowDot[h,s] = Σ over channels of mergedHalf[s,h,c] · contextGradient[h,s,c]."""
    wide = row_dot.dtype

    def dot(scratch: Scratch, numbers: Iterator[int]) -> None:
        for head in numbers:
            merged = widened(scratch, "merged", merged_half[:, head], wide)
            np.vecdot(merged, widened(scratch, "gradient", context_gradient[head], wide), out=row_dot[head])

    with context.blas_alone():
        context.share(row_dot.shape[0], dot)
