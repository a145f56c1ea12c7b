"""The layer norm over rows, and its gradient in two steps.

The backward pass sums the gradients of gain and shift over blocks of rows first and over the blocks, in their order,
second: the same sums as the kernels form, whatever thread does which block.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.convert import store, working
from cgraph.images.registry import meaning


@meaning("norm.cu", "cgLayerNorm")
def layer_norm(
    context: HostContext,
    *,
    out_half: Array,
    statistics: Array,
    in_: Array,
    gain: Array,
    shift: Array,
    epsilon: float,
    **_: object,
) -> None:
    """outHalf[rows,width] = (in - mean)·reciprocal·gain + shift; statistics[rows,2] = mean, 1/sqrt(variance + epsilon).

    The variance is the mean of squared differences from the mean (computed first), over `width`.
    """
    rows, width = in_.shape
    wide = statistics.dtype

    def compute(scratch: Scratch, chunk: int, parts: Iterator[slice]) -> None:
        memory = scratch.take("centred", (chunk, width), wide)
        for part in parts:
            centred = memory[: part.stop - part.start]
            mean, reciprocal = statistics[part, :1], statistics[part, 1:]
            np.add.reduce(in_[part], axis=1, out=mean, keepdims=True)
            np.divide(mean, width, out=mean)
            np.subtract(in_[part], mean, out=centred)
            np.vecdot(centred, centred, out=reciprocal[:, 0])
            np.divide(reciprocal, width, out=reciprocal)
            np.add(reciprocal, epsilon, out=reciprocal)
            np.sqrt(reciprocal, out=reciprocal)
            np.divide(1.0, reciprocal, out=reciprocal)
            target = out_half[part]
            result = working(scratch, "result", target, wide)
            np.multiply(centred, reciprocal, out=centred)
            np.multiply(centred, gain, out=centred)
            np.add(centred, shift, out=result)
            store(target, result)

    context.share_rows(rows, width, compute)


@meaning("norm.cu", "cgLayerNormBackwardRows")
def layer_norm_backward_rows(
    context: HostContext,
    *,
    input_gradient: Array,
    gain_parts: Array,
    shift_parts: Array,
    in_: Array,
    dy: Array,
    gain: Array,
    statistics: Array,
    cg_norm_block_rows: int,
    **_: object,
) -> None:
    """The input's gradient, per row reciprocal·(g - mean(g) - x̂·mean(g·x̂)), with g = dy·gain and x̂ the normalised in.

    gainParts[b] = Σ dy·x̂ and shiftParts[b] = Σ dy over the rows of block b.
    """
    rows, width = in_.shape
    wide = statistics.dtype

    def compute(scratch: Scratch, parts: Iterator[int]) -> None:
        memories = [scratch.take(name, (cg_norm_block_rows, width), wide) for name in ("normal", "product")]
        means = scratch.take("means", (2, cg_norm_block_rows, 1), wide)
        for block in parts:
            part = slice(block * cg_norm_block_rows, min(rows, (block + 1) * cg_norm_block_rows))
            count = part.stop - part.start
            normal, product = (memory[:count] for memory in memories)
            mean, mean_normal = means[:, :count]
            dy_part, result, reciprocal = dy[part], input_gradient[part], statistics[part, 1:]
            np.subtract(in_[part], statistics[part, :1], out=normal)
            np.multiply(normal, reciprocal, out=normal)
            np.multiply(dy_part, normal, out=product)
            np.add.reduce(product, axis=0, out=gain_parts[block])
            np.add.reduce(dy_part, axis=0, out=shift_parts[block])
            np.vecdot(product, gain, out=mean_normal[:, 0])
            np.vecdot(dy_part, gain, out=mean[:, 0])
            np.divide(means, width, out=means)
            np.multiply(normal, mean_normal, out=normal)
            np.add(normal, mean, out=normal)
            np.multiply(dy_part, gain, out=product)
            np.subtract(product, normal, out=product)
            np.multiply(product, reciprocal, out=result)

    context.share(-(-rows // cg_norm_block_rows), compute)


@meaning("norm.cu", "cgLayerNormBackwardSum")
def layer_norm_backward_sum(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    gain_gradient: Array,
    shift_gradient: Array,
    gain_parts: Array,
    shift_parts: Array,
    **_: object,
) -> None:
    """gainGradient[width] and shiftGradient[width] = the sums of the parts over the blocks, first block first."""
    np.add.reduce(gain_parts, axis=0, out=gain_gradient)
    np.add.reduce(shift_parts, axis=0, out=shift_gradient)
