"""Between the stored element type and the one that is computed in.

`half` planes may hold f16 or bf16; sums and functions are computed in the type of the image's f32 slots (f32, or f64
in an f64 build). Where both are the same type, nothing is copied.
"""

import numpy as np

from cgraph.images.context import Array, DType, Scratch


def widened(scratch: Scratch, name: str, source: Array, wide: DType) -> Array:
    """The array itself where it has the type already, else its values in scratch memory of that name."""
    if source.dtype == wide:
        return source
    copy = scratch.take(name, source.shape, wide)
    np.copyto(copy, source)
    return copy


def working(scratch: Scratch, name: str, target: Array, wide: DType) -> Array:
    """Where to compute what `target` shall hold: the array itself, or scratch memory; `store` then brings it there."""
    return target if target.dtype == wide else scratch.take(name, target.shape, wide)


def store(target: Array, values: Array) -> None:
    """Rounds to nearest even into the target, beyond its range to infinity; nothing to do where they are the same."""
    if values is not target:
        np.copyto(target, values, casting="unsafe")
