"""Biases: one number for each column of a matrix, added to every row; and their gradients, sums over the rows.

The sums are formed over blocks of rows first and over the blocks, in their order, second, as the kernels do.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.registry import meaning


@meaning("bias.cu", "cgAddBias")
def add_bias(context: HostContext, *, out: Array, in_: Array, bias: Array, **_: object) -> None:
    """out[rows,n] = in[rows,n] + bias[n]; out may be in."""

    def add(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.add(in_[part], bias, out=out[part])

    context.share_rows(in_.shape[0], in_.shape[1], add)


@meaning("bias.cu", "cgColumnParts")
def column_parts(context: HostContext, *, parts: Array, in_: Array, cg_sum_rows: int, **_: object) -> None:
    """parts[b,n] = Σ over the rows of block b of in[row,n]."""

    def add(_scratch: Scratch, numbers: Iterator[int]) -> None:
        for number in numbers:
            np.add.reduce(in_[number * cg_sum_rows : (number + 1) * cg_sum_rows], axis=0, out=parts[number])

    context.share(parts.shape[0], add)


@meaning("bias.cu", "cgColumnSum")
def column_sum(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    out: Array,
    parts: Array,
    **_: object,
) -> None:
    """out[n] = Σ over the blocks of parts[b,n], the first block first."""
    np.add.reduce(parts, axis=0, out=out)
