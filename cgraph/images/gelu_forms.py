"""Both forms of the GELU, x times a gate, and their derivatives, on memory that the caller gives.

tanh: the gate is s(x) = 1 / (1 + 2^-(x·(LINEAR + CUBIC·x²))), which is (1 + tanh(sqrt(2/π)·(x + 0.044715·x³)))/2, as
`gelu` says. erf: the gate is the normal distribution Φ(x) = (1 + erf(x/√2))/2. They differ by up to 4.73e-4.
"""

import math

import numpy as np

from cgraph.images.context import Array
from cgraph.images.gelu import CUBIC, LINEAR, SATURATED
from cgraph.images.normal_distribution import LARGEST, upper_tail

# The derivative of the tanh form's exponent, in base e.
_SLOPE_LINEAR, _SLOPE_CUBIC = LINEAR * math.log(2), 3.0 * CUBIC * math.log(2)
_DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)
# Arrays of x's shape that both functions work in.
WORK = 3


def gelu_into(out: Array, x: Array, work: list[Array], *, erf: int) -> None:
    """Into out: gelu(x), in the erf form where erf is 1; out may be x, work are `WORK` arrays of its shape."""
    gate = work[0]
    if erf:
        _normal_gate(gate, x, work[1], work[2])
    else:
        _tanh_gate(gate, x)
    np.multiply(x, gate, out=out)


def gelu_slope_into(out: Array, x: Array, work: list[Array], *, erf: int) -> None:
    """Into out: gelu'(x), in the erf form where erf is 1; out may be x, work are `WORK` arrays of its shape.

    tanh: s·(1 + x·(1-s)·(LINEAR + 3·CUBIC·x²)·ln 2). erf: Φ(x) + x·exp(-x²/2)/sqrt(2π).
    """
    gate, other = work[0], work[1]
    if erf:
        _normal_gate(gate, x, other, work[2])
        np.multiply(other, _DENSITY_AT_0, out=other)
        np.multiply(other, x, out=other)
        np.add(other, gate, out=out)
        return
    # Beyond this the derivative is 0 or 1, and x² would overflow at last.
    np.clip(x, -SATURATED, SATURATED, out=out)
    _tanh_gate(gate, out)
    np.multiply(out, out, out=other)
    np.multiply(other, _SLOPE_CUBIC, out=other)
    np.add(other, _SLOPE_LINEAR, out=other)
    np.multiply(other, out, out=other)
    np.subtract(1.0, gate, out=out)
    np.multiply(out, other, out=out)
    np.add(out, 1.0, out=out)
    np.multiply(out, gate, out=out)


def _tanh_gate(gate: Array, x: Array) -> None:
    """The gate of the tanh form; gate may not be x. An exponential that overflows gives the right limit, 0."""
    np.multiply(x, x, out=gate)
    np.multiply(gate, -CUBIC, out=gate)
    np.subtract(gate, LINEAR, out=gate)
    np.multiply(gate, x, out=gate)
    np.exp2(gate, out=gate)
    np.add(gate, 1.0, out=gate)
    np.divide(1.0, gate, out=gate)


def _normal_gate(gate: Array, x: Array, density: Array, work: Array) -> None:
    """The gate of the erf form, and exp(-x²/2) into density; work is used on the way."""
    np.multiply(x, x, out=density)
    np.multiply(density, -0.5, out=density)
    np.exp(density, out=density)
    # Beyond LARGEST the density alone makes the tail vanish.
    upper_tail(np.minimum(np.abs(x), LARGEST), density, gate, work)
    np.subtract(1.0, gate, out=gate, where=x > 0)
