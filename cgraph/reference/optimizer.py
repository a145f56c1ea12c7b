"""Steps of gradient descent in float64: AdamW, plain descent, clipping by the norm, and the loss scale's rules.

AdamW is the algorithm of Loshchilov and Hutter (Decoupled Weight Decay Regularization, 2019, algorithm 2) with a
schedule of 1, and the decay multiplied by the learning rate, as PyTorch has it. Clipping is that of
torch.nn.utils.clip_grad_norm_.
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]

CLIP_GUARD = 1e-6


@frozen(kw_only=True)
class AdamSettings:
    """What AdamW is told: `decay` is 0 for a weight that does not decay."""

    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    decay: float


def adam_w_step(
    weight: ArrayLike, moment1: ArrayLike, moment2: ArrayLike, gradient: ArrayLike, step: int, settings: AdamSettings
) -> tuple[Array, Array, Array]:
    """The next weight and moments, all of one shape; `step` counts from 1."""
    old, slope = _wide(weight), _wide(gradient)
    mean = settings.beta1 * _wide(moment1) + (1 - settings.beta1) * slope
    square = settings.beta2 * _wide(moment2) + (1 - settings.beta2) * slope**2
    corrected_mean = mean / (1 - settings.beta1**step)
    corrected_square = square / (1 - settings.beta2**step)
    direction = corrected_mean / (np.sqrt(corrected_square) + settings.epsilon)
    return old - settings.learning_rate * (direction + settings.decay * old), mean, square


def descent_step(weight: ArrayLike, gradient: ArrayLike, learning_rate: float) -> Array:
    """The next weight: weight - learning rate · gradient."""
    return _wide(weight) - learning_rate * _wide(gradient)


def global_norm(gradients: Iterable[ArrayLike]) -> float:
    """The Euclidean norm of all gradients as one vector; infinite or NaN if an element is."""
    return float(np.sqrt(sum(float(np.sum(_wide(gradient) ** 2)) for gradient in gradients)))


def clip_factor(norm: float, largest_norm: float) -> float:
    """What gradients of this norm are multiplied by; a largest norm of 0 is none."""
    return min(1.0, largest_norm / (norm + CLIP_GUARD)) if largest_norm > 0 else 1.0


@frozen(kw_only=True)
class ScaleProgress:
    """The loss scale and what led to it.

    Args:
        scale: at least 1. updates: steps that changed the weights. skipped: steps that did not.
        since_change: updates since the scale changed or a step was skipped.
    """

    scale: float
    updates: int = 0
    skipped: int = 0
    since_change: int = 0


def next_scale(progress: ScaleProgress, *, finite: bool, growth_updates: int, largest_scale: float) -> ScaleProgress:
    """After one more step: a gradient that is not finite halves the scale, enough finite ones in a row double it.

    With growth_updates = 0 the scale stays as it is.
    """
    scale = progress.scale
    if not finite:
        smaller = max(1.0, scale / 2) if growth_updates else scale
        return ScaleProgress(scale=smaller, updates=progress.updates, skipped=progress.skipped + 1)
    since = progress.since_change + 1
    if growth_updates and since >= growth_updates and 2 * scale <= largest_scale:
        scale, since = 2 * scale, 0
    return ScaleProgress(scale=scale, updates=progress.updates + 1, skipped=progress.skipped, since_change=since)


def _wide(array: ArrayLike) -> Array:
    return np.asarray(array, np.float64)
