"""Rotary position embedding (Su et al. 2021) in the layout of halves.

Channel c of the first half of a head turns with channel c of the second half. The interleaved layout, in which
neighbours turn together, is another function; weights trained for one are wrong for the other.
"""

import numpy as np
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, positive_number, real_array


def rope_table(seq: int, head_width: int, *, base: float) -> tuple[FloatArray, FloatArray]:
    """Cosine and sine of the angle position · base^(-2c / head_width), each [seq, head_width / 2].

    Raises:
        ValueError: seq is below 1, head_width is not even and positive, or base is not positive.
    """
    if seq < 1:
        raise ValueError(f"seq: expected 1 or more, got {seq}")
    if head_width < 2 or head_width % 2:
        raise ValueError(f"head_width: expected an even number from 2, got {head_width}")
    channel = np.arange(head_width // 2)
    angle = np.arange(seq)[:, None] * positive_number("base", base) ** (-2 * channel / head_width)
    return np.cos(angle), np.sin(angle)


def rope(x: ArrayLike, *, base: float) -> FloatArray:
    """Row p turned by the angles of position p: (a, b) becomes (a·cos - b·sin, a·sin + b·cos).

    Args:
        x: [..., seq, head_width].
        base: 10000 in the paper.

    Returns:
        The same shape as x.

    Raises:
        ValueError: head_width is odd, base is not positive, or a value is not finite.
    """
    return _turned("x", x, base, direction=1)


def rope_bwd(dy: ArrayLike, *, base: float) -> FloatArray:
    """Gradient of `rope`: a rotation is orthogonal, so its transpose is the turn by the negative angles.

    Args:
        dy: [..., seq, head_width].
        base: as for `rope`.

    Returns:
        dx, the same shape.

    Raises:
        ValueError: as for `rope`.
    """
    return _turned("dy", dy, base, direction=-1)


def _turned(name: str, value: ArrayLike, base: float, direction: int) -> FloatArray:
    x = real_array(name, value, (..., "seq", "head_width"))
    cosine, sine = rope_table(x.shape[-2], x.shape[-1], base=base)
    sine = direction * sine
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosine - second * sine, first * sine + second * cosine], axis=-1)
