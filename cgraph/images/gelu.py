"""The gated GELU in its tanh form, and its gradient.

gelu(x) = x/2 · (1 + tanh(sqrt(2/π)·(x + 0.044715·x³))) is written as x · s(x) with
s(x) = 1 / (1 + 2^-(x·(LINEAR + CUBIC·x²))), which is the same function: (1 + tanh u)/2 = 1/(1 + e^-2u). It needs one
exponential, base 2 being NumPy's fastest, and no difference of nearly equal numbers. An exponential that overflows
gives s = 0, which is the right limit.
"""

from collections.abc import Iterator
from math import e, log2, pi, sqrt

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.convert import store, working
from cgraph.images.registry import meaning

# 2u in base 2: 2·sqrt(2/π)·log2(e)·(x + 0.044715·x³).
LINEAR = 2.0 * sqrt(2.0 / pi) * log2(e)
CUBIC = 0.044715 * LINEAR
# Beyond this, s is 0 or 1 exactly in f64 as in f32, and the derivative does not change any more.
SATURATED = 32.0


@meaning("gelu.cu", "cgGatedGelu")
def gated_gelu(context: HostContext, *, gelu: Array, gated_half: Array, up: Array, gate: Array, **_: object) -> None:
    """gelu[n] = gelu(gate[n]); gatedHalf[n] = gelu[n] · up[n]."""
    wide = gelu.dtype

    def compute(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memory = scratch.take("power", (chunk,), wide)
        for part in parts:
            x, activated, power = gate[part], gelu[part], memory[: part.stop - part.start]
            np.multiply(x, x, out=power)
            np.multiply(power, -CUBIC, out=power)
            np.subtract(power, LINEAR, out=power)
            np.multiply(power, x, out=power)
            np.exp2(power, out=power)
            np.add(power, 1.0, out=power)
            np.divide(x, power, out=activated)
            target = gated_half[part]
            product = working(scratch, "product", target, wide)
            np.multiply(activated, up[part], out=product)
            store(target, product)

    context.share_rows(gate.size, 1, compute)


@meaning("gelu.cu", "cgGatedGeluBackward")
def gated_gelu_backward(
    context: HostContext,
    *,
    up_gradient_half: Array,
    gate_gradient_half: Array,
    d_gated: Array,
    gelu: Array,
    up: Array,
    gate: Array,
    **_: object,
) -> None:
    """upGradient[n] = dGated · gelu; gateGradient[n] = dGated · up · gelu'(gate).

    gelu'(x) = s·(1 + x·(1-s)·(LINEAR + 3·CUBIC·x²)·ln 2), with s as above.
    """
    wide = gelu.dtype
    linear, cubic = LINEAR / log2(e), 3.0 * CUBIC / log2(e)

    def compute(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memories = [scratch.take(name, (chunk,), wide) for name in ("clipped", "square", "sigmoid", "slope")]
        for part in parts:
            x, square, sigmoid, slope = (memory[: part.stop - part.start] for memory in memories)
            np.clip(gate[part], -SATURATED, SATURATED, out=x)
            np.multiply(x, x, out=square)
            np.multiply(square, -CUBIC, out=sigmoid)
            np.subtract(sigmoid, LINEAR, out=sigmoid)
            np.multiply(sigmoid, x, out=sigmoid)
            np.exp2(sigmoid, out=sigmoid)
            np.add(sigmoid, 1.0, out=sigmoid)
            np.divide(1.0, sigmoid, out=sigmoid)
            np.multiply(square, cubic, out=slope)
            np.add(slope, linear, out=slope)
            np.multiply(slope, x, out=slope)
            np.subtract(1.0, sigmoid, out=x)
            np.multiply(slope, x, out=slope)
            np.add(slope, 1.0, out=slope)
            np.multiply(slope, sigmoid, out=slope)
            np.multiply(slope, up[part], out=slope)
            for target, factor in ((gate_gradient_half[part], slope), (up_gradient_half[part], gelu[part])):
                product = working(scratch, "product", target, wide)
                np.multiply(d_gated[part], factor, out=product)
                store(target, product)

    context.share_rows(gate.size, 1, compute)
