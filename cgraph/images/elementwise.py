"""Element-wise sums, products and casts. Outputs may be the same memory as an input."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.registry import meaning


@meaning("elementwise.cu", "cgAdd")
def add(context: HostContext, *, out: Array, a: Array, b: Array, **_: object) -> None:
    """out[n] = a[n] + b[n]."""
    _each(context, np.add, out, a, b)


@meaning("elementwise.cu", "cgMultiply")
def multiply(context: HostContext, *, out: Array, a: Array, b: Array, **_: object) -> None:
    """out[n] = a[n] · b[n]."""
    _each(context, np.multiply, out, a, b)


@meaning("elementwise.cu", "cgCastDown")
def cast_down(context: HostContext, *, out: Array, in_: Array, **_: object) -> None:
    """out[n] = in[n] in half, rounded to nearest even; beyond its range, infinity."""

    def cast(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.copyto(out[part], in_[part], casting="unsafe")

    context.share_rows(out.size, 1, cast)


def _each(context: HostContext, function: Callable[..., Any], out: Array, a: Array, b: Array) -> None:
    def apply(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            function(a[part], b[part], out=out[part])

    context.share_rows(out.size, 1, apply)
