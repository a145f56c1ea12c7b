"""RoPE in the halves layout: channel c of the first half of a head turns with channel c of the second half.

Angle of pair c at position p: p · base^(-2c/headWidth). The inverse is the rotation by the negative angle.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, DType, HostContext, Scratch
from cgraph.images.convert import store, working
from cgraph.images.layout import transpose
from cgraph.images.registry import meaning


@meaning("rope.cu", "cgRopeTable")
def rope_table(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    cosine: Array,
    sine: Array,
    base: float,
    cg_head_width: int,
    **_: object,
) -> None:
    """Tables[rows, headWidth/2] of the cosine and sine of each position's angles, computed in f64 and rounded once."""
    rows, pairs = cosine.shape
    frequency = base ** (-2.0 * np.arange(pairs) / cg_head_width)
    angle = np.arange(rows)[:, None] * frequency
    np.copyto(cosine, np.cos(angle), casting="unsafe")
    np.copyto(sine, np.sin(angle), casting="unsafe")


@meaning("rope.cu", "cgRope")
def rope(
    context: HostContext,
    *,
    queries: Array,
    keys: Array,
    values_t: Array,
    qkv: Array,
    cosine: Array,
    sine: Array,
    cg_heads: int,
    cg_head_width: int,
    **_: object,
) -> None:
    """queries, keys[h,s,c] = the rotated parts 0 and 1 of qkv[s,3,h·headWidth + c]; valuesT[h,c,s] = part 2."""
    tokens = qkv.reshape(-1, 3, cg_heads, cg_head_width)

    def turn(scratch: Scratch, heads: Iterator[int]) -> None:
        for head in heads:
            for part, out in enumerate((queries, keys)):
                _rotate(scratch, out[head], tokens[:, part, head], cosine, sine, forward=True)
            transpose(scratch, values_t[head], tokens[:, 2, head])

    context.share(cg_heads, turn)


@meaning("rope.cu", "cgInverseRope")
def inverse_rope(
    context: HostContext,
    *,
    qkv_gradient_half: Array,
    queries_gradient: Array,
    keys_gradient: Array,
    cosine: Array,
    sine: Array,
    values_gradient: Array,
    cg_heads: int,
    cg_head_width: int,
    **_: object,
) -> None:
    """qkvGradientHalf[s,3,h·headWidth + c] = the gradients of queries and keys turned back, and that of values."""
    tokens = qkv_gradient_half.reshape(-1, 3, cg_heads, cg_head_width)

    def turn(scratch: Scratch, heads: Iterator[int]) -> None:
        for head in heads:
            for part, source in enumerate((queries_gradient, keys_gradient)):
                _rotate(scratch, tokens[:, part, head], source[head], cosine, sine, forward=False)
            np.copyto(tokens[:, 2, head], values_gradient[head], casting="unsafe")

    context.share(cg_heads, turn)


def _rotate(scratch: Scratch, out: Array, source: Array, cosine: Array, sine: Array, *, forward: bool) -> None:
    """Turns the pairs of source[s,headWidth] by the angles, or by the negative angles, into out[s,headWidth]."""
    wide: DType = cosine.dtype
    pairs = cosine.shape[1]
    first, second = source[:, :pairs], source[:, pairs:]
    result = working(scratch, "turned", out, wide)
    other = scratch.take("other", first.shape, wide)
    np.multiply(first, cosine, out=result[:, :pairs])
    np.multiply(second, sine, out=other)
    (np.subtract if forward else np.add)(result[:, :pairs], other, out=result[:, :pairs])
    np.multiply(second, cosine, out=result[:, pairs:])
    np.multiply(first, sine, out=other)
    (np.add if forward else np.subtract)(result[:, pairs:], other, out=result[:, pairs:])
    store(out, result)
