"""The GELU (Hendrycks, Gimpel 2016) in both forms in use.

`erf` is x · Φ(x), Φ the normal distribution. `tanh` is the paper's approximation of it. They differ by up to 4.73e-4,
so the form has no default: whoever calls says which one is meant.
"""

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array

GeluForm: TypeAlias = Literal["tanh", "erf"]

_SLOPE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
# Beyond ±20 the tanh form's gate differs from 0 or 1 by less than 1e-260, and the exponential would soon overflow.
_SATURATED = 20.0

_complementary_error = np.vectorize(math.erfc, otypes=[np.float64])


def gelu(x: ArrayLike, *, form: GeluForm) -> FloatArray:
    """The input times a smooth gate.

    erf: x · Φ(x). tanh: x · (1 + tanh(u)) / 2 with u = sqrt(2/π) · (x + 0.044715 x³).

    Args:
        x: any shape.
        form: which of the two.

    Returns:
        The same shape as x.

    Raises:
        ValueError: the form is unknown or a value is not finite.
    """
    x = real_array("x", x, (...,))
    gate, _ = _gate(x, form)
    return x * gate


def gelu_bwd(x: ArrayLike, dy: ArrayLike, *, form: GeluForm) -> FloatArray:
    """Gradient of `gelu`: dx = dy · (gate + x · gate').

    Args:
        x: any shape.
        dy: the same shape.
        form: as for `gelu`.

    Raises:
        ValueError: the shapes differ, the form is unknown, or a value is not finite.
    """
    x = real_array("x", x, (...,))
    dy = real_array("dy", dy, x.shape)
    gate, slope = _gate(x, form)
    return dy * (gate + x * slope)


def _gate(x: FloatArray, form: GeluForm) -> tuple[FloatArray, FloatArray]:
    """The factor of x and its derivative, both exact in the tails: neither subtracts from 1."""
    if form == "erf":
        gate = np.asarray(_complementary_error(-x / math.sqrt(2))) / 2
        bounded = np.clip(x, -40, 40)
        return gate, np.exp(-bounded * bounded / 2) / math.sqrt(2 * math.pi)
    if form == "tanh":
        bounded = np.clip(x, -_SATURATED, _SATURATED)
        inner = _SLOPE * (bounded + _CUBIC * bounded**3)
        gate = 1 / (1 + np.exp(-2 * inner))  # (1 + tanh u) / 2
        rest = 1 / (1 + np.exp(2 * inner))  # (1 - tanh u) / 2
        return gate, 2 * gate * rest * _SLOPE * (1 + 3 * _CUBIC * bounded**2)
    raise ValueError(f"form: expected 'tanh' or 'erf', got {form!r}")
