"""RoPE in the halves layout: channel c of the first half of a head turns with channel c of the second half.

Angle of pair c at position p: p · base^(-2c/headWidth). The inverse is the rotation by the negative angle.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
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
    """Queries and keys[h,s,c] = the rotated parts 0 and 1 of qkv[s,3,h·headWidth + c]; valuesT[h,c,s] = part 2."""
    tokens = qkv.reshape(-1, 1, 3, cg_heads, cg_head_width)
    _turn_heads(context, queries, keys, values_t, tokens, _factors(context, cosine, sine))


@meaning("rope.cu", "cgBatchRope")
def batch_rope(
    context: HostContext,
    *,
    queries: Array,
    keys: Array,
    values_t: Array,
    qkv: Array,
    cosine: Array,
    sine: Array,
    batch: int,
    cg_heads: int,
    cg_head_width: int,
    **_: object,
) -> None:
    """The same of qkv[s,b,3,h·headWidth + c] for every sequence b, whose heads are those from b · heads on."""
    tokens = qkv.reshape(-1, batch, 3, cg_heads, cg_head_width)
    _turn_heads(context, queries, keys, values_t, tokens, _factors(context, cosine, sine))


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
    tokens = qkv_gradient_half.reshape(-1, 1, 3, cg_heads, cg_head_width)
    factors = _factors(context, cosine, sine)
    _turn_back_heads(context, tokens, queries_gradient, keys_gradient, values_gradient, factors)


@meaning("rope.cu", "cgBatchInverseRope")
def batch_inverse_rope(
    context: HostContext,
    *,
    qkv_gradient_half: Array,
    queries_gradient: Array,
    keys_gradient: Array,
    cosine: Array,
    sine: Array,
    values_gradient: Array,
    batch: int,
    cg_heads: int,
    cg_head_width: int,
    **_: object,
) -> None:
    """The same for qkvGradientHalf[s,b,3,h·headWidth + c] from the heads of every sequence b."""
    tokens = qkv_gradient_half.reshape(-1, batch, 3, cg_heads, cg_head_width)
    factors = _factors(context, cosine, sine)
    _turn_back_heads(context, tokens, queries_gradient, keys_gradient, values_gradient, factors)


def _turn_heads(
    context: HostContext, queries: Array, keys: Array, values_t: Array, tokens: Array, factors: tuple[Array, Array]
) -> None:
    """From tokens[s,b,3,h,c] to the heads of all sequences."""
    heads = tokens.shape[3]

    def turn(scratch: Scratch, numbers: Iterator[int]) -> None:
        for number in numbers:
            source = tokens[:, number // heads, :, number % heads]
            for part, out in enumerate((queries[number], keys[number])):
                result = working(scratch, "turned", out, factors[0].dtype)
                _rotate(scratch, result, source[:, part], factors)
                store(out, result)
            transpose(scratch, values_t[number], source[:, 2])

    context.share(len(queries), turn)


def _turn_back_heads(
    context: HostContext, tokens: Array, queries: Array, keys: Array, values: Array, factors: tuple[Array, Array]
) -> None:
    """Into tokens[s,b,3,h,c] from the gradients of the heads of all sequences."""
    heads = tokens.shape[3]
    cosines, sines = factors
    np.negative(sines, out=sines)

    def turn(scratch: Scratch, numbers: Iterator[int]) -> None:
        for number in numbers:
            out = tokens[:, number // heads, :, number % heads]
            for part, source in enumerate((queries[number], keys[number])):
                result = scratch.take("turned", source.shape, cosines.dtype)
                _rotate(scratch, result, source, factors)
                np.copyto(out[:, part], result, casting="unsafe")
            np.copyto(out[:, 2], values[number], casting="unsafe")

    context.share(len(queries), turn)


def _factors(context: HostContext, cosine: Array, sine: Array) -> tuple[Array, Array]:
    """Factors [rows, headWidth] of a channel and of its partner: cosine twice, and sine with either sign."""
    rows, pairs = cosine.shape
    cosines = context.scratch[0].take("cosines", (rows, 2, pairs), cosine.dtype)
    sines = context.scratch[0].take("sines", (rows, 2, pairs), cosine.dtype)
    np.copyto(cosines, cosine[:, None])
    np.negative(sine, out=sines[:, 0])
    np.copyto(sines[:, 1], sine)
    return cosines.reshape(rows, -1), sines.reshape(rows, -1)


def _rotate(scratch: Scratch, out: Array, source: Array, factors: tuple[Array, Array]) -> None:
    """Into out[s,headWidth]: source times the first factor plus its other half times the second.

    Both halves are copied first: arithmetic on rows of half a head's width is twice as slow as copying them.
    """
    pairs = source.shape[1] // 2
    partner = scratch.take("partner", source.shape, out.dtype)
    np.copyto(partner[:, :pairs], source[:, pairs:])
    np.copyto(partner[:, pairs:], source[:, :pairs])
    np.multiply(partner, factors[1], out=partner)
    np.copyto(out, source)
    np.multiply(out, factors[0], out=out)
    np.add(out, partner, out=out)
