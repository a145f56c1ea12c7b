"""A stack of layers computed as a device does: f32 planes, half planes where products read them, f32 sums in order.

It follows the command list of the layer, not the reference, and rounds at every place where a plane is half: weights,
norm outputs, queries, keys, values, probabilities, merged heads, gated, and every gradient that enters a product.
Sums run one term after the other, the order with the greatest error.
"""

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.reference.layer import LayerOptions
from cgraph.reference.weights import LayerWeights

Plane = NDArray[np.float32]
Round = Callable[[Plane], Plane]

_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def rounding(half: str) -> Round:
    """Rounds to the nearest value of the element type, and back to f32."""

    def rounded(plane: Plane) -> Plane:
        result: Plane = plane.astype(_TYPES[half]).astype(np.float32)
        return result

    return rounded


def product(a: Plane, b: Plane) -> Plane:
    """a[..., m, k] · b[..., k, n], each sum over k in order."""
    total = a[..., :, :1] * b[..., :1, :]
    for k in range(1, a.shape[-1]):
        total += a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return total


def total(plane: Plane, axis: int) -> Plane:
    """The sum along an axis, in order; the axis stays, with size 1."""
    return np.take(np.add.accumulate(plane, axis=axis, dtype=np.float32), [-1], axis=axis)


@frozen(eq=False)
class _Norm:
    normal: Plane
    reciprocal: Plane
    out: Plane


def _norm(x: Plane, gain: Plane, shift: Plane, epsilon: float) -> _Norm:
    width = np.float32(x.shape[1])
    centred = x - total(x, 1) / width
    reciprocal = 1 / np.sqrt(total(centred * centred, 1) / width + np.float32(epsilon))
    normal = centred * reciprocal
    return _Norm(normal, reciprocal, normal * gain + shift)


def _norm_backward(norm: _Norm, gain: Plane, dy: Plane) -> tuple[Plane, Plane, Plane]:
    width = np.float32(dy.shape[1])
    scaled = dy * gain
    mean, slope = total(scaled, 1) / width, total(scaled * norm.normal, 1) / width
    dx = norm.reciprocal * (scaled - mean - norm.normal * slope)
    return dx, total(dy * norm.normal, 0)[0], total(dy, 0)[0]


def _turn(x: Plane, base: float, direction: int) -> Plane:
    _, seq, head_width = x.shape
    channel = np.arange(head_width // 2)
    angle = np.arange(seq)[:, None] * base ** (-2 * channel / head_width)
    cosine, sine = np.cos(angle).astype(np.float32), (direction * np.sin(angle)).astype(np.float32)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


def _gate(x: Plane) -> tuple[Plane, Plane]:
    """The tanh form's factor and its derivative, in f32."""
    one, half, cubic, slope = np.array([1, 0.5, 0.044715, 0.7978845608], dtype=np.float32)
    tangent: Plane = np.tanh(slope * (x + cubic * x * x * x))
    factor = half * (one + tangent)
    derivative = half * (one - tangent * tangent) * slope * (one + 3 * cubic * x * x)
    return factor, derivative


@frozen(eq=False)
class RoundedLayer:
    """Everything that the backward pass needs of one layer."""

    weights: dict[str, Plane]
    norm1: _Norm
    queries: Plane
    keys: Plane
    values: Plane
    probabilities: Plane
    merged: Plane
    norm2: _Norm
    up: Plane
    gate: Plane
    gated: Plane
    y: Plane


def forward(x: Plane, weights: LayerWeights, half: Round, options: LayerOptions) -> RoundedLayer:
    """One layer's planes; `y` is its output."""
    heads, epsilon = options["heads"], options["epsilon"]
    seq, width = x.shape
    w = {name: plane.astype(np.float32) for name, plane in weights.named().items()}
    w = {name: half(plane) if plane.ndim == 2 else plane for name, plane in w.items()}
    norm1 = _norm(x, w["norm1_gain"], w["norm1_shift"], epsilon)
    qkv = product(half(norm1.out), w["qkv"].T)
    q, k, v = qkv.reshape(seq, 3, heads, width // heads).transpose(1, 2, 0, 3)
    queries, keys, values = half(_turn(q, options["rope_base"], 1)), half(_turn(k, options["rope_base"], 1)), half(v)
    scores = product(queries, keys.swapaxes(1, 2)) * np.float32((width // heads) ** -0.5)
    if options["causal"]:
        scores = np.where(np.tri(seq, dtype=np.bool_), scores, np.float32(-np.inf))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    denominator = total(powers, -1)
    context = product(half(powers), values) / denominator
    merged = half(context.transpose(1, 0, 2).reshape(seq, width))
    projection = x + product(merged, w["output"].T)
    norm2 = _norm(projection, w["norm2_gain"], w["norm2_shift"], epsilon)
    up, gate = product(half(norm2.out), w["up"].T), product(half(norm2.out), w["gate"].T)
    gated = half(gate * _gate(gate)[0] * up)
    y = projection + product(gated, w["down"].T)
    return RoundedLayer(w, norm1, queries, keys, values, powers / denominator, merged, norm2, up, gate, gated, y)


def backward(layer: RoundedLayer, dy: Plane, half: Round, options: LayerOptions) -> tuple[Plane, dict[str, Plane]]:
    """The gradient of the layer's input and of its weights."""
    w, heads = layer.weights, options["heads"]
    seq, width = dy.shape
    dy_half = half(dy)
    dgated = product(dy_half, w["down"])
    factor, slope = _gate(layer.gate)
    dup = half(dgated * layer.gate * factor)
    dgate = half(dgated * layer.up * (factor + layer.gate * slope))
    dnorm2 = product(dup, w["up"]) + product(dgate, w["gate"])
    dprojection, gain2, shift2 = _norm_backward(layer.norm2, w["norm2_gain"], dnorm2)
    dprojection = dprojection + dy
    output_half = half(dprojection)
    dmerged = product(output_half, w["output"])
    dcontext = half(dmerged.reshape(seq, heads, width // heads).transpose(1, 0, 2))
    merged = layer.merged.reshape(seq, heads, width // heads).transpose(1, 0, 2)
    row = total(merged * dcontext, -1)
    dscores = layer.probabilities * (product(dcontext, layer.values.swapaxes(1, 2)) - row)
    dscores = half(dscores * np.float32((width // heads) ** -0.5))
    dqueries, dkeys = product(dscores, layer.keys), product(dscores.swapaxes(1, 2), layer.queries)
    dvalues = product(half(layer.probabilities).swapaxes(1, 2), dcontext)
    turned = np.stack([_turn(dqueries, options["rope_base"], -1), _turn(dkeys, options["rope_base"], -1), dvalues])
    dqkv = half(turned.transpose(2, 0, 1, 3).reshape(seq, 3 * width))
    dx, gain1, shift1 = _norm_backward(layer.norm1, w["norm1_gain"], product(dqkv, w["qkv"]))
    gradients = {
        "qkv": product(dqkv.T, half(layer.norm1.out)),
        "output": product(output_half.T, layer.merged),
        "up": product(dup.T, half(layer.norm2.out)),
        "gate": product(dgate.T, half(layer.norm2.out)),
        "down": product(dy_half.T, layer.gated),
        "norm1_gain": gain1,
        "norm1_shift": shift1,
        "norm2_gain": gain2,
        "norm2_shift": shift2,
    }
    return dx + dprojection, gradients


def rounded_stack_gradients(
    x: Plane, weights: Sequence[LayerWeights], dy: Plane, half: str, options: LayerOptions
) -> tuple[Plane, list[dict[str, Plane]]]:
    """The gradient of the stack's input and of each layer's weights, the lowest layer first."""
    rounded = rounding(half)
    layers: list[RoundedLayer] = []
    for layer in weights:
        layers.append(forward(layers[-1].y if layers else x, layer, rounded, options))
    gradients = []
    for saved in reversed(layers):
        dy, of_weights = backward(saved, dy, rounded, options)
        gradients.append(of_weights)
    return dy, gradients[::-1]
