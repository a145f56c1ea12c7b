"""The GELU behind a bias, and the gradients of its input and of the bias.

The bias's gradient sums values that are not yet rounded to half: over blocks of rows here, and over the blocks by
`bias.column_sum`.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.convert import store
from cgraph.images.gelu_forms import WORK, gelu_into, gelu_slope_into
from cgraph.images.registry import meaning


@meaning("bias_gelu.cu", "cgBiasGelu")
def bias_gelu(context: HostContext, *, out_half: Array, in_: Array, bias: Array, erf: int, **_: object) -> None:
    """outHalf[rows,n] = gelu(in + bias) in half, in the erf form where erf is 1 and the tanh form where it is 0."""
    rows, n = in_.shape

    def compute(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memories = [scratch.take(f"gelu {number}", (chunk, n), in_.dtype) for number in range(WORK + 1)]
        for part in parts:
            x, *work = (memory[: part.stop - part.start] for memory in memories)
            np.add(in_[part], bias, out=x)
            gelu_into(x, x, work, erf=erf)
            store(out_half[part], x)

    context.share_rows(rows, n, compute)


@meaning("bias_gelu.cu", "cgBiasGeluBackward")
def bias_gelu_backward(
    context: HostContext,
    *,
    in_gradient_half: Array,
    bias_parts: Array,
    dy: Array,
    in_: Array,
    bias: Array,
    erf: int,
    cg_sum_rows: int,
    **_: object,
) -> None:
    """inGradient[rows,n] = dy · gelu'(in + bias), rounded to half; biasParts[b,n] = its sums over block b's rows."""
    rows, n = in_.shape

    def compute(scratch: Scratch, numbers: Iterator[int]) -> None:
        memories = [scratch.take(f"gelu {number}", (cg_sum_rows, n), in_.dtype) for number in range(WORK + 1)]
        for number in numbers:
            part = slice(number * cg_sum_rows, min(rows, (number + 1) * cg_sum_rows))
            x, *work = (memory[: part.stop - part.start] for memory in memories)
            np.add(in_[part], bias, out=x)
            gelu_slope_into(x, x, work, erf=erf)
            np.multiply(x, dy[part], out=x)
            np.add.reduce(x, axis=0, out=bias_parts[number])
            store(in_gradient_half[part], x)

    context.share(bias_parts.shape[0], compute)
