"""The layer norm (Ba, Kiros, Hinton 2016) with gain and shift; the variance is the biased one."""

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array


def layer_norm(x: ArrayLike, gain: ArrayLike, shift: ArrayLike, *, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Row by row (x - mean) · reciprocal · gain + shift, with reciprocal = 1 / sqrt(variance + epsilon).

    Args:
        x: [rows, width].
        gain: [width].
        shift: [width].
        epsilon: added to the variance; 0 or more.

    Returns:
        y: [rows, width]; statistics: [rows, 2], each row's mean and reciprocal.

    Raises:
        ValueError: a shape does not fit, a value is not finite, epsilon is below 0, or it is 0 and a row is constant.
    """
    x = real_array("x", x, ("rows", "width"))
    gain = real_array("gain", gain, (x.shape[1],))
    shift = real_array("shift", shift, (x.shape[1],))
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon: expected a finite number, 0 or more, got {epsilon}")
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    if (variance + epsilon == 0).any():
        row = int(np.argmin(variance))
        raise ValueError(f"epsilon: 0 divides by zero where a row is constant, as row {row} of x is")
    reciprocal = 1 / np.sqrt(variance + epsilon)
    y = (x - mean) * reciprocal * gain + shift
    return y, np.hstack([mean, reciprocal])


def layer_norm_bwd(
    x: ArrayLike, gain: ArrayLike, statistics: ArrayLike, dy: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gradients of `layer_norm`.

    With n = (x - mean) · reciprocal and g = dy · gain, row by row:
    dx = reciprocal · (g - mean(g) - n · mean(g · n)); over the rows: dgain = sum(dy · n), dshift = sum(dy).

    Args:
        x: [rows, width].
        gain: [width].
        statistics: [rows, 2], as `layer_norm` returns them.
        dy: [rows, width].

    Returns:
        dx: [rows, width]; dgain: [width]; dshift: [width].

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    x = real_array("x", x, ("rows", "width"))
    gain = real_array("gain", gain, (x.shape[1],))
    statistics = real_array("statistics", statistics, (x.shape[0], 2))
    dy = real_array("dy", dy, x.shape)
    mean, reciprocal = statistics[:, :1], statistics[:, 1:]
    normal = (x - mean) * reciprocal
    dnormal = dy * gain
    dx = reciprocal * (
        dnormal - dnormal.mean(axis=1, keepdims=True) - normal * (dnormal * normal).mean(axis=1, keepdims=True)
    )
    return dx, (dy * normal).sum(axis=0), dy.sum(axis=0)
