"""The primitives of seed 001, in its order of arguments, on matrices: forward functions and their gradients.

They compute everything again that they need from the forward pass. The cross entropies of the same interface stand in
`cross_entropy`; `softmax` and `softmax_bwd` have the seed's form already and are passed on.
"""

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference import gelu as gelus
from cgraph.reference import linear as products
from cgraph.reference import norm as norms
from cgraph.reference.arrays import FloatArray, real_array
from cgraph.reference.gelu import GeluForm
from cgraph.reference.softmax import softmax, softmax_bwd

__all__ = ("gelu", "gelu_bwd", "layer_norm", "layer_norm_bwd", "linear", "linear_bwd", "softmax", "softmax_bwd")


def linear(x: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> FloatArray:
    """The product y = x · wᵀ + b.

    Args:
        x: [rows, inputs].
        w: [outputs, inputs].
        b: [outputs]; none adds nothing.

    Returns:
        y: [rows, outputs].

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    y = products.linear(*_factors(x, w))
    return y if b is None else y + real_array("b", b, (y.shape[1],))


def linear_bwd(x: ArrayLike, w: ArrayLike, dy: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients of `linear` (seed 001, `linearBwd`): dx = dy · w, dw = dyᵀ · x, db = sum of dy over the rows.

    Args:
        x: [rows, inputs].
        w: [outputs, inputs].
        dy: [rows, outputs].

    Returns:
        dx: [rows, inputs]; dw: [outputs, inputs]; db: [outputs], of no use where there is no bias.

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    x, w = _factors(x, w)
    dy = real_array("dy", dy, (x.shape[0], w.shape[0]))
    dx, dw = products.linear_bwd(x, w, dy)
    return dx, dw, dy.sum(axis=0)


def layer_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float) -> FloatArray:
    """Row by row (x - mean) / sqrt(variance + eps) · gamma + beta; the variance is the biased one.

    Args:
        x: [rows, width].
        gamma: [width].
        beta: [width].
        eps: 0 or more.

    Returns:
        y: [rows, width].

    Raises:
        ValueError: a shape does not fit, a value is not finite, eps is below 0, or it is 0 and a row is constant.
    """
    y, _ = norms.layer_norm(*_normed(x, gamma, beta, eps), epsilon=eps)
    return y


def layer_norm_bwd(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float, dy: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients of `layer_norm` (seed 001, `layerNormBwd`).

    With n = (x - mean) / sqrt(variance + eps) and g = dy · gamma, row by row:
    dx = (g - mean(g) - n · mean(g · n)) / sqrt(variance + eps); over the rows: dgamma = sum(dy · n), dbeta = sum(dy).

    Args:
        x: [rows, width].
        gamma: [width].
        beta: [width]; no gradient depends on it.
        eps: as for `layer_norm`.
        dy: [rows, width].

    Returns:
        dx: [rows, width]; dgamma: [width]; dbeta: [width].

    Raises:
        ValueError: as for `layer_norm`.
    """
    x, gamma, beta = _normed(x, gamma, beta, eps)
    _, statistics = norms.layer_norm(x, gamma, beta, epsilon=eps)
    return norms.layer_norm_bwd(x, gamma, statistics, dy)


def gelu(x: ArrayLike, form: GeluForm = "tanh") -> FloatArray:
    """The GELU, x · Φ(x), as such (`erf`) or as its approximation (`tanh`); `cgraph.reference.gelu` has the formulas.

    Args:
        x: any shape.
        form: which of the two; GPT-2 has tanh.

    Returns:
        The same shape as x.

    Raises:
        ValueError: the form is unknown or a value is not finite.
    """
    return gelus.gelu(x, form=form)


def gelu_bwd(x: ArrayLike, dy: ArrayLike, form: GeluForm = "tanh") -> FloatArray:
    """Gradient of `gelu` (seed 001, `geluBwd`): dx = dy · gelu'(x).

    Args:
        x: any shape.
        dy: the same shape.
        form: as for `gelu`.

    Returns:
        dx: the same shape.

    Raises:
        ValueError: the shapes differ, the form is unknown, or a value is not finite.
    """
    return gelus.gelu_bwd(x, dy, form=form)


def _factors(x: ArrayLike, w: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both checked under the names that they have here."""
    x = real_array("x", x, ("rows", "inputs"))
    return x, real_array("w", w, ("outputs", x.shape[1]))


def _normed(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All checked under the names that they have here."""
    x = real_array("x", x, ("rows", "width"))
    if not (np.isfinite(eps) and eps >= 0):
        raise ValueError(f"eps: expected a finite number, 0 or more, got {eps}")
    return x, real_array("gamma", gamma, (x.shape[1],)), real_array("beta", beta, (x.shape[1],))
