"""Seed 001's primitives and whole models against central differences, relative error at most 1e-8."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from central_differences import Array, gradient, relative_error

from cgraph.reference.cross_entropy import (
    cross_entropy,
    cross_entropy_bwd,
    masked_cross_entropy,
    masked_cross_entropy_bwd,
)
from cgraph.reference.embedding import embedding, embedding_bwd
from cgraph.reference.gelu import GeluForm
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named, random_parameters
from cgraph.reference.primitives import (
    gelu,
    gelu_bwd,
    layer_norm,
    layer_norm_bwd,
    linear,
    linear_bwd,
    softmax,
    softmax_bwd,
)
from cgraph.reference.whole_model import bert_backward, bert_loss, gpt_backward, gpt_loss

TOLERANCE = 1e-8
IDS = np.array([[2, 0, 2, 4], [1, 4, 3, 4]])
TARGETS = np.array([[0, 2, -1, 4], [1, 3, 3, -1]])
MASK = np.array([[True, False, True, True], [False, True, True, True]])
PADDING = np.array([[False, False, False, False], [True, True, False, False]])


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def agrees(function: Callable[[Array], Array], x: Array, dy: Array, claimed: Array) -> None:
    agrees_with_scalar(lambda moved: float((function(moved) * dy).sum()), x, claimed)


def agrees_with_scalar(function: Callable[[Array], float], x: Array, claimed: Array) -> None:
    assert claimed.shape == x.shape
    assert relative_error(claimed, gradient(function, x)) <= TOLERANCE


def test_linear() -> None:
    x, w, b, dy = draw(3, 5), draw(4, 5), draw(4), draw(3, 4)
    dx, dw, db = linear_bwd(x, w, dy)
    agrees(lambda moved: linear(moved, w, b), x, dy, dx)
    agrees(lambda moved: linear(x, moved, b), w, dy, dw)
    agrees(lambda moved: linear(x, w, moved), b, dy, db)


@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm(eps: float) -> None:
    x, gamma, beta, dy = draw(4, 5), draw(5), draw(5, seed=1), draw(4, 5, seed=2)
    dx, dgamma, dbeta = layer_norm_bwd(x, gamma, beta, eps, dy)
    agrees(lambda moved: layer_norm(moved, gamma, beta, eps), x, dy, dx)
    agrees(lambda moved: layer_norm(x, moved, beta, eps), gamma, dy, dgamma)
    agrees(lambda moved: layer_norm(x, gamma, moved, eps), beta, dy, dbeta)


def test_gelu() -> None:
    x, dy = 2 * draw(5, 8), draw(5, 8, seed=1)
    agrees(gelu, x, dy, gelu_bwd(x, dy))
    agrees(lambda moved: gelu(moved, "erf"), x, dy, gelu_bwd(x, dy, "erf"))


def test_softmax() -> None:
    scores, dp = 2 * draw(4, 6), draw(4, 6, seed=1)
    agrees(softmax, scores, dp, softmax_bwd(softmax(scores), dp))


def test_embedding() -> None:
    table, dy, ids = draw(5, 3), draw(6, 3), [4, 1, 1, 0, 4, 1]
    agrees(lambda moved: embedding(moved, ids), table, dy, embedding_bwd(ids, dy, 5))


@pytest.mark.parametrize("targets", [[0, 4, 2, 2], [-1, 4, -1, 0], [-1, -1, -1, 3]])
def test_cross_entropy(targets: list[int]) -> None:
    logits = 2 * draw(4, 5)
    loss, dlogits = cross_entropy_bwd(logits, targets)
    assert loss == cross_entropy(logits, targets)
    agrees_with_scalar(lambda moved: cross_entropy(moved, targets), logits, dlogits)


@pytest.mark.parametrize("mask", [[True, True, True, True], [True, False, False, True]])
def test_masked_cross_entropy(mask: list[bool]) -> None:
    logits, targets = 2 * draw(4, 5), [3, 0, -1, 1]
    loss, dlogits = masked_cross_entropy_bwd(logits, targets, mask)
    assert loss == masked_cross_entropy(logits, targets, mask)
    agrees_with_scalar(lambda moved: masked_cross_entropy(moved, targets, mask), logits, dlogits)


@pytest.mark.parametrize("padding", [None, PADDING])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("layers", "heads", "form"), [(1, 2, "tanh"), (2, 1, "erf"), (3, 2, "tanh")])
def test_every_weight_of_a_model(
    *, layers: int, heads: int, form: GeluForm, causal: bool, padding: np.ndarray | None
) -> None:
    config = ModelConfig(vocab=5, context=5, width=4, heads=heads, layers=layers, ffn=3, epsilon=1e-2, gelu=form)
    weights = random_parameters(np.random.default_rng(layers), config)

    def loss_of(named: dict[str, Array]) -> float:
        moved = parameters_from_named(config, named)
        if causal:
            return gpt_loss(config, moved, IDS, TARGETS, padding=padding)
        return bert_loss(config, moved, IDS, TARGETS, MASK, padding=padding)

    if causal:
        loss, gradients = gpt_backward(config, weights, IDS, TARGETS, padding=padding)
    else:
        loss, gradients = bert_backward(config, weights, IDS, TARGETS, MASK, padding=padding)
    named = weights.named()
    assert loss == loss_of(named)

    def moved_whole(name: str, x: Array) -> float:
        return loss_of(named | {name: x})

    def moved_along(name: str, directions: Array, steps: Array) -> float:
        return loss_of(named | {name: named[name] + np.tensordot(steps, directions, axes=1)})

    for name, claimed in gradients.named().items():
        whole = named[name]
        # Every element of vectors; of matrices a few directions, which together mix all elements.
        if whole.ndim == 1:
            agrees_with_scalar(partial(moved_whole, name), whole, claimed)
            continue
        directions = draw(3, *whole.shape, seed=9)
        along = np.tensordot(directions, claimed, axes=2)
        agrees_with_scalar(partial(moved_along, name, directions), np.zeros(3), along)


@pytest.mark.slow
@pytest.mark.parametrize("causal", [True, False])
def test_every_element_of_a_model(*, causal: bool) -> None:
    config = ModelConfig(vocab=5, context=4, width=4, heads=2, layers=2, ffn=3, epsilon=1e-2)
    weights = random_parameters(np.random.default_rng(0), config)
    named = weights.named()
    ids, targets, mask = IDS[0], TARGETS[0], MASK[0]
    if causal:
        _, gradients = gpt_backward(config, weights, ids, targets)
    else:
        _, gradients = bert_backward(config, weights, ids, targets, mask)

    def loss_of(name: str, x: Array) -> float:
        moved = parameters_from_named(config, named | {name: x})
        return gpt_loss(config, moved, ids, targets) if causal else bert_loss(config, moved, ids, targets, mask)

    for name, claimed in gradients.named().items():
        agrees_with_scalar(partial(loss_of, name), named[name], claimed)
