"""Between tokens [seq, heads · headWidth] and heads [heads, seq, headWidth]."""

from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array


def split_heads(tokens: ArrayLike, heads: int) -> FloatArray:
    """[seq, width] to [heads, seq, width / heads]; head h has the channels from h · headWidth on.

    Raises:
        ValueError: heads is below 1 or does not divide the width, or a value is not finite.
    """
    tokens = real_array("tokens", tokens, ("seq", "width"))
    seq, width = tokens.shape
    if heads < 1 or width % heads:
        raise ValueError(f"heads: expected a divisor of the width {width}, got {heads}")
    return tokens.reshape(seq, heads, width // heads).transpose(1, 0, 2)


def merge_heads(per_head: ArrayLike) -> FloatArray:
    """[heads, seq, headWidth] to [seq, heads · headWidth], the inverse (and so the gradient) of `split_heads`.

    Raises:
        ValueError: there are not three axes, or a value is not finite.
    """
    per_head = real_array("per_head", per_head, ("heads", "seq", "headWidth"))
    heads, seq, head_width = per_head.shape
    return per_head.transpose(1, 0, 2).reshape(seq, heads * head_width)
