"""Every gradient of the reference against central differences, relative error at most 1e-8."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve
from central_differences import Array, gradient, relative_error

from cgraph.reference.attention import attention, attention_bwd
from cgraph.reference.gated_gelu import gated_gelu, gated_gelu_bwd
from cgraph.reference.gelu import GeluForm, gelu, gelu_bwd
from cgraph.reference.heads import merge_heads, split_heads
from cgraph.reference.layer import LayerOptions, layer_backward, layer_forward
from cgraph.reference.linear import linear, linear_bwd
from cgraph.reference.norm import layer_norm, layer_norm_bwd
from cgraph.reference.rotary import rope, rope_bwd
from cgraph.reference.softmax import softmax, softmax_bwd
from cgraph.reference.stack import stack_backward, stack_forward
from cgraph.reference.weights import LAYER_WEIGHT_NAMES, LayerWeights, random_weights

TOLERANCE = 1e-8
FORMS: tuple[GeluForm, ...] = ("tanh", "erf")


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def agrees(function: Callable[[Array], Array], x: Array, dy: Array, claimed: Array) -> None:
    assert claimed.shape == x.shape
    assert relative_error(claimed, gradient(lambda moved: float((function(moved) * dy).sum()), x)) <= TOLERANCE


def test_linear() -> None:
    x, weight, dy = draw(3, 5), draw(4, 5), draw(3, 4)
    dx, dweight = linear_bwd(x, weight, dy)
    agrees(lambda moved: linear(moved, weight), x, dy, dx)
    agrees(lambda moved: linear(x, moved), weight, dy, dweight)


@pytest.mark.parametrize("epsilon", [1e-5, 0.3])
@pytest.mark.parametrize("width", [3, 8])
def test_layer_norm(epsilon: float, width: int) -> None:
    x, gain, shift, dy = draw(4, width), draw(width), draw(width, seed=1), draw(4, width, seed=2)
    _, statistics = layer_norm(x, gain, shift, epsilon=epsilon)
    dx, dgain, dshift = layer_norm_bwd(x, gain, statistics, dy)
    agrees(lambda moved: layer_norm(moved, gain, shift, epsilon=epsilon)[0], x, dy, dx)
    agrees(lambda moved: layer_norm(x, moved, shift, epsilon=epsilon)[0], gain, dy, dgain)
    agrees(lambda moved: layer_norm(x, gain, moved, epsilon=epsilon)[0], shift, dy, dshift)


@pytest.mark.parametrize("shape", [(5, 2), (2, 3, 6)])
def test_rope(shape: tuple[int, ...]) -> None:
    dy = draw(*shape, seed=1)
    agrees(lambda moved: rope(moved, base=50.0), draw(*shape), dy, rope_bwd(dy, base=50.0))


@pytest.mark.parametrize("form", FORMS)
def test_gelu(form: GeluForm) -> None:
    x, dy = 2 * draw(40), draw(40, seed=1)
    agrees(lambda moved: gelu(moved, form=form), x, dy, gelu_bwd(x, dy, form=form))


@pytest.mark.parametrize("form", FORMS)
def test_gated_gelu(form: GeluForm) -> None:
    up, gate, dgated = draw(3, 5), draw(3, 5, seed=1), draw(3, 5, seed=2)
    dup, dgate = gated_gelu_bwd(up, gate, dgated, form=form)
    agrees(lambda moved: gated_gelu(moved, gate, form=form), up, dgated, dup)
    agrees(lambda moved: gated_gelu(up, moved, form=form), gate, dgated, dgate)


def test_softmax() -> None:
    scores, dprobabilities = 2 * draw(4, 6), draw(4, 6, seed=1)
    mask = draw(4, 6, seed=2) > -0.5
    agrees(softmax, scores, dprobabilities, softmax_bwd(softmax(scores), dprobabilities))
    masked = softmax_bwd(softmax(scores, mask=mask), dprobabilities)
    agrees(lambda moved: softmax(moved, mask=mask), scores, dprobabilities, masked)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_attention(*, causal: bool, masked: bool) -> None:
    queries, keys, values, dcontext = (draw(2, 5, 4, seed=seed) for seed in range(4))
    mask = np.ones((5, 5), dtype=np.bool_)
    if masked:
        mask = draw(5, 5, seed=4) > 0
        mask[3] = False
    _, probabilities = attention(queries, keys, values, causal=causal, mask=mask)
    dqueries, dkeys, dvalues = attention_bwd(queries, keys, values, probabilities, dcontext)
    agrees(lambda moved: attention(moved, keys, values, causal=causal, mask=mask)[0], queries, dcontext, dqueries)
    agrees(lambda moved: attention(queries, moved, values, causal=causal, mask=mask)[0], keys, dcontext, dkeys)
    agrees(lambda moved: attention(queries, keys, moved, causal=causal, mask=mask)[0], values, dcontext, dvalues)


def test_heads() -> None:
    x, dy = draw(3, 8), draw(2, 3, 4)
    agrees(lambda moved: split_heads(moved, 2), x, dy, merge_heads(dy))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("heads", "head_width", "seq", "ffn"), [(1, 4, 1, 3), (2, 2, 5, 7), (3, 4, 3, 5)])
def test_layer_and_every_weight(*, causal: bool, heads: int, head_width: int, seq: int, ffn: int) -> None:
    width = heads * head_width
    x, dy = draw(seq, width), draw(seq, width, seed=1)
    weights = random_weights(np.random.default_rng(seq), width=width, ffn=ffn)
    options: LayerOptions = {"heads": heads, "causal": causal, "epsilon": 1e-2, "rope_base": 100.0}
    dx, gradients = layer_backward(x, weights, dy, **options)
    agrees(lambda moved: layer_forward(moved, weights, **options)[0], x, dy, dx)
    for name in LAYER_WEIGHT_NAMES:

        def output(moved: Array, name: str = name) -> Array:
            return layer_forward(x, evolve(weights, **{name: moved}), **options)[0]

        agrees(output, getattr(weights, name), dy, getattr(gradients, name))


def test_stack_and_every_weight() -> None:
    x, dy = draw(3, 4), draw(3, 4, seed=1)
    generator = np.random.default_rng(5)
    weights = [random_weights(generator, width=4, ffn=3) for _ in range(3)]
    options: LayerOptions = {"heads": 2, "causal": True, "epsilon": 1e-2, "rope_base": 100.0}
    dx, gradients = stack_backward(x, weights, dy, **options)
    agrees(lambda moved: stack_forward(moved, weights, **options)[-1], x, dy, dx)
    for index, layer in enumerate(weights):
        for name in LAYER_WEIGHT_NAMES:

            def output(moved: Array, index: int = index, layer: LayerWeights = layer, name: str = name) -> Array:
                changed = [*weights]
                changed[index] = evolve(layer, **{name: moved})
                return stack_forward(x, changed, **options)[-1]

            agrees(output, getattr(layer, name), dy, getattr(gradients[index], name))
