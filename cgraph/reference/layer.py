"""One transformer layer: pre-norm, fused queries-keys-values, RoPE, attention, gated GELU, no biases.

    norm1 = layer_norm(x)              qkv = norm1 · qkvᵀ            context = attention(rope(q), rope(k), v)
    projection = x + context · outputᵀ
    norm2 = layer_norm(projection)     gated = gelu(norm2 · gateᵀ) · (norm2 · upᵀ)
    y = projection + gated · downᵀ

The backward pass computes the forward pass again and then walks it from the end.
"""

from typing import NotRequired, TypedDict

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from cgraph.reference.arrays import BoolArray, FloatArray, real_array
from cgraph.reference.attention import attention, attention_bwd
from cgraph.reference.gated_gelu import gated_gelu, gated_gelu_bwd
from cgraph.reference.heads import merge_heads, split_heads
from cgraph.reference.linear import linear, linear_bwd
from cgraph.reference.norm import layer_norm, layer_norm_bwd
from cgraph.reference.rotary import rope, rope_bwd
from cgraph.reference.weights import LayerGradients, LayerWeights, checked_weights


class LayerOptions(TypedDict):
    """What a layer needs besides planes and weights, as keyword arguments of the functions below."""

    heads: int
    causal: bool
    epsilon: float
    rope_base: float
    mask: NotRequired[BoolArray | None]


@frozen(eq=False)
class LayerSaved:
    """What the forward pass computed on its way.

    Args:
        norm1, norm2: [seq, width]. norm1_statistics, norm2_statistics: [seq, 2], mean and reciprocal deviation.
        queries, keys: [heads, seq, headWidth], turned by RoPE. values: the same shape.
        probabilities: [heads, seq, seq]. merged: [seq, width], the heads' contexts side by side.
        projection: [seq, width], the input plus the attention's part. up, gate, gated: [seq, ffn].
    """

    norm1: FloatArray
    norm1_statistics: FloatArray
    queries: FloatArray
    keys: FloatArray
    values: FloatArray
    probabilities: FloatArray
    merged: FloatArray
    projection: FloatArray
    norm2: FloatArray
    norm2_statistics: FloatArray
    up: FloatArray
    gate: FloatArray
    gated: FloatArray


def layer_forward(
    x: ArrayLike,
    weights: LayerWeights,
    *,
    heads: int,
    causal: bool,
    epsilon: float,
    rope_base: float,
    mask: BoolArray | None = None,
) -> tuple[FloatArray, LayerSaved]:
    """The layer's output.

    Args:
        x: [seq, width].
        weights: of this width.
        heads: divides the width into heads of an even width.
        causal: whether a token attends only to itself and earlier ones.
        epsilon: of both norms.
        rope_base: of the rotation's angles.
        mask: booleans that broadcast to [heads, seq, seq]; False keeps a query (row) from a key (column). Positions
            count as if there were no mask. None: nowhere.

    Returns:
        y: [seq, width]; and all that was computed on the way.

    Raises:
        ValueError: a shape does not fit, a value is not finite, or a number is out of range; it names which.
    """
    x = real_array("x", x, ("seq", "width"))
    weights = checked_weights(weights, width=x.shape[1])
    norm1, norm1_statistics = layer_norm(x, weights.norm1_gain, weights.norm1_shift, epsilon=epsilon)
    q, k, v = (split_heads(part, heads) for part in np.split(linear(norm1, weights.qkv), 3, axis=1))
    queries, keys = rope(q, base=rope_base), rope(k, base=rope_base)
    context, probabilities = attention(queries, keys, v, causal=causal, mask=mask)
    merged = merge_heads(context)
    projection = x + linear(merged, weights.output)
    norm2, norm2_statistics = layer_norm(projection, weights.norm2_gain, weights.norm2_shift, epsilon=epsilon)
    up, gate = linear(norm2, weights.up), linear(norm2, weights.gate)
    gated = gated_gelu(up, gate)
    saved = LayerSaved(
        norm1, norm1_statistics, queries, keys, v, probabilities, merged, projection,
        norm2, norm2_statistics, up, gate, gated,
    )  # fmt: skip
    return projection + linear(gated, weights.down), saved


def layer_backward(
    x: ArrayLike,
    weights: LayerWeights,
    dy: ArrayLike,
    *,
    heads: int,
    causal: bool,
    epsilon: float,
    rope_base: float,
    mask: BoolArray | None = None,
) -> tuple[FloatArray, LayerGradients]:
    """Gradients of the layer's input and of every weight.

    Args:
        x: [seq, width], the layer's input.
        weights: as for `layer_forward`.
        dy: [seq, width], the gradient of the layer's output.
        heads: as for `layer_forward`.
        causal: as for `layer_forward`.
        epsilon: as for `layer_forward`.
        rope_base: as for `layer_forward`.
        mask: as for `layer_forward`.

    Returns:
        dx: [seq, width]; and the weights' gradients.

    Raises:
        ValueError: as for `layer_forward`.
    """
    x = real_array("x", x, ("seq", "width"))
    dy = real_array("dy", dy, x.shape)
    weights = checked_weights(weights, width=x.shape[1])
    _, saved = layer_forward(x, weights, heads=heads, causal=causal, epsilon=epsilon, rope_base=rope_base, mask=mask)

    dgated, ddown = linear_bwd(saved.gated, weights.down, dy)
    dup_out, dgate_out = gated_gelu_bwd(saved.up, saved.gate, dgated)
    dnorm2_up, dup = linear_bwd(saved.norm2, weights.up, dup_out)
    dnorm2_gate, dgate = linear_bwd(saved.norm2, weights.gate, dgate_out)
    dprojection, dnorm2_gain, dnorm2_shift = layer_norm_bwd(
        saved.projection, weights.norm2_gain, saved.norm2_statistics, dnorm2_up + dnorm2_gate
    )
    dprojection = dprojection + dy

    dmerged, doutput = linear_bwd(saved.merged, weights.output, dprojection)
    dqueries, dkeys, dvalues = attention_bwd(
        saved.queries, saved.keys, saved.values, saved.probabilities, split_heads(dmerged, heads)
    )
    parts = (rope_bwd(dqueries, base=rope_base), rope_bwd(dkeys, base=rope_base), dvalues)
    dnorm1, dqkv = linear_bwd(saved.norm1, weights.qkv, np.hstack([merge_heads(part) for part in parts]))
    dx, dnorm1_gain, dnorm1_shift = layer_norm_bwd(x, weights.norm1_gain, saved.norm1_statistics, dnorm1)

    gradients = LayerGradients(
        qkv=dqkv, output=doutput, up=dup, gate=dgate, down=ddown,
        norm1_gain=dnorm1_gain, norm1_shift=dnorm1_shift, norm2_gain=dnorm2_gain, norm2_shift=dnorm2_shift,
    )  # fmt: skip
    return dx + dprojection, gradients
