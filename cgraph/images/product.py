"""Products: operands in half, sums in the type of the output (f32, or f64 in an f64 build).

Operands of the output's type go to the BLAS as they are, transposed ones as views. f16 and bf16 operands are widened
block by block first, so the memory in flight stays bounded and every sum is kept in f32.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, DType, HostContext, Scratch
from cgraph.images.registry import meaning

# Widened elements of the right operand held at once, and rows of the left one.
RIGHT_ELEMENTS = 1 << 22
LEFT_ROWS = 512
# Parts of a weight's gradient begin at multiples of so many rows.
PART_STEP = 64


@meaning("product.cu", "cgProductData")
def product_data(context: HostContext, *, out: Array, a: Array, b: Array, **_: object) -> None:
    """out[m,n] = a[m,k] · b[k,n]."""
    _multiply(context, out, a, b)


@meaning("product.cu", "cgProductDataAdding")
def product_data_adding(context: HostContext, *, out: Array, a: Array, b: Array, addend: Array, **_: object) -> None:
    """out[m,n] = a[m,k] · b[k,n] + addend[m,n]; out and addend may be the same."""
    _multiply_adding(context, out, a, b, addend)


@meaning("product.cu", "cgProductWeight")
def product_weight(context: HostContext, *, out: Array, a: Array, b: Array, **_: object) -> None:
    """out[m,n] = a[k,m]ᵀ · b[k,n]."""
    _multiply(context, out, a.T, b)


@meaning("product.cu", "cgProductWeightParts")
def product_weight_parts(context: HostContext, *, out: Array, parts: Array, a: Array, b: Array, **_: object) -> None:
    """aᵀ · b of some rows of a[k,m] and b[k,n] at a time: the first part to out[m,n], the others to parts[more,m,n].

    Of s = ceil(k / PART_STEP) steps of rows, part p has those from floor(p · s / (1 + more)) on.
    """
    steps = -(-len(a) // PART_STEP)
    count = 1 + len(parts)
    for part in range(count):
        rows = slice(*(PART_STEP * (number * steps // count) for number in (part, part + 1)))
        _multiply(context, parts[part - 1] if part else out, a[rows].T, b[rows])


@meaning("product.cu", "cgProductWeightSum")
def product_weight_sum(context: HostContext, *, out: Array, first: Array, parts: Array, **_: object) -> None:
    """out[n] = first[n] + parts[0,n] + parts[1,n] + …, added in this order; out and first may be the same."""

    def add(_scratch: Scratch, _chunk: int, columns: Iterator[slice]) -> None:
        for column in columns:
            if out is not first:
                np.copyto(out[column], first[column])
            for part in parts:
                np.add(out[column], part[column], out=out[column])

    context.share_rows(out.size, 1, add)


@meaning("product.cu", "cgProductForward")
def product_forward(context: HostContext, *, out: Array, a: Array, b: Array, **_: object) -> None:
    """out[m,n] = a[m,k] · b[n,k]ᵀ."""
    _multiply(context, out, a, b.T)


@meaning("product.cu", "cgProductForwardAdding")
def product_forward_adding(context: HostContext, *, out: Array, a: Array, b: Array, addend: Array, **_: object) -> None:
    """out[m,n] = a[m,k] · b[n,k]ᵀ + addend[m,n]; out and addend may be the same."""
    _multiply_adding(context, out, a, b.T, addend)


def _multiply(context: HostContext, out: Array, left: Array, right: Array) -> None:
    """out[m,n] = left[m,k] · right[k,n]; either operand may be a transposed view."""
    if left.dtype == out.dtype:
        np.matmul(left, right, out=out)
        return
    inner, columns = right.shape
    block = max(1, RIGHT_ELEMENTS // max(inner, 1))
    for first in range(0, columns, block):
        part = slice(first, first + block)
        wide_right = _widened(context, "right", right[:, part], out.dtype)
        for row in range(0, out.shape[0], LEFT_ROWS):
            rows = slice(row, row + LEFT_ROWS)
            np.matmul(_widened(context, "left", left[rows], out.dtype), wide_right, out=out[rows, part])


def _widened(context: HostContext, name: str, source: Array, wide: DType) -> Array:
    """The values of an operand in the wide type, in scratch memory, in the order in which they are stored."""
    if source.strides[0] < source.strides[1]:
        return _widened(context, name, source.T, wide).T
    copy = context.scratch[0].take(name, source.shape, wide)

    def fill(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.copyto(copy[part], source[part])

    context.share_rows(source.shape[0], source.shape[1], fill)
    return copy


def _multiply_adding(context: HostContext, out: Array, left: Array, right: Array, addend: Array) -> None:
    """As `_multiply`, plus addend[m,n]; where addend is out, the product is formed beside it, some rows at a time."""
    if not np.may_share_memory(out, addend):
        _multiply(context, out, left, right)
        _add(context, out, out, addend)
        return
    beside = context.scratch[0].take("product", (min(LEFT_ROWS, out.shape[0]), out.shape[1]), out.dtype)
    for row in range(0, out.shape[0], LEFT_ROWS):
        rows = out[row : row + LEFT_ROWS]
        product = beside[: rows.shape[0]]
        _multiply(context, product, left[row : row + LEFT_ROWS], right)
        _add(context, rows, product, rows)


def _add(context: HostContext, out: Array, product: Array, addend: Array) -> None:
    """Into out: product + addend, row by row."""

    def add(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.add(product[part], addend[part], out=out[part])

    context.share_rows(out.shape[0], out.shape[1], add)
