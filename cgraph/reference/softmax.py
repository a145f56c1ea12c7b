"""The softmax over the last axis, with an optional mask."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgraph.reference.arrays import FloatArray, real_array, spread_mask


def softmax(scores: ArrayLike, *, mask: NDArray[np.bool_] | None = None) -> FloatArray:
    """exp(score) / sum of exp(score) over the entries that the mask lets through.

    The row's greatest score is subtracted first, which changes nothing but keeps exp from overflowing.

    Args:
        scores: [..., entries].
        mask: booleans that broadcast to the shape of scores; False takes an entry out. A row without any entry is 0.

    Returns:
        probabilities: the shape of scores; 0 where masked.

    Raises:
        ValueError: the mask is not boolean or does not broadcast, or a score is not finite.
    """
    scores = real_array("scores", scores, (..., "entries"))
    kept = np.ones(scores.shape, dtype=np.bool_) if mask is None else spread_mask(mask, scores.shape)
    greatest = np.where(kept, scores, -np.inf).max(axis=-1, keepdims=True)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    powers = np.exp(np.where(kept, scores - greatest, -np.inf))
    total = powers.sum(axis=-1, keepdims=True)
    probabilities: FloatArray = powers / np.where(total > 0, total, 1)
    return probabilities


def softmax_bwd(probabilities: ArrayLike, dprobabilities: ArrayLike) -> FloatArray:
    """Gradient of `softmax` from its result: dscores = p · (dp - sum(p · dp)).

    A masked entry has p = 0 and so no gradient.

    Args:
        probabilities: [..., entries].
        dprobabilities: the same shape.

    Returns:
        dscores: the same shape.

    Raises:
        ValueError: the shapes differ or a value is not finite.
    """
    probabilities = real_array("probabilities", probabilities, (..., "entries"))
    dprobabilities = real_array("dprobabilities", dprobabilities, probabilities.shape)
    row = (probabilities * dprobabilities).sum(axis=-1, keepdims=True)
    dscores: FloatArray = probabilities * (dprobabilities - row)
    return dscores
