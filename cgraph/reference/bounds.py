"""How far a layer's gradients may lie from the reference when planes are rounded: bounds that follow from the layer.

The bounds are norm-wise and relative, ‖computed - exact‖ / ‖exact‖ for each gradient plane, to first order in the
roundoffs. They count every rounding between the inputs and a gradient:

- each half plane is rounded once to the half type (`HALF_PLANES`), each f32 plane once to f32 (`F32_PLANES`);
- a sum of n terms is kept in f32 and rounded n times (`SUM_LENGTHS`).

**Random roundings** (`gradient_bound`). Rounding to nearest with unit roundoff u makes a relative error that is uniform
in the significand's last place; over significands that follow Benford's law its mean square is κ²u², κ² = 1/(8 ln 2).
Independent errors add in squares. Partial sums of n terms of random sign grow like the root of their number, so the
rounding of the k-th adds κ²u²·k/n to the result's mean square relative error, and all of them κ²u²·n/2. With L layers,
where each gradient depends on all of them (those below through the boundaries, those above through dy), this gives

    error² = L · κ² · ( HALF · u_half² + ( F32 + Σ n / 2 ) · u_f32² ).

Each influence is taken as 1, which random weights with activations and attention scores near 1 come close to. Two
things make it larger. A row that is almost constant is divided by its small deviation, once in the norm and once in its
gradient: of R = 2·L·seq normal rows of this width the smallest deviation is about R^(-1/(width-1)). And a plane with
few elements strays from its mean square; MARGIN covers that, and planes of a thousand elements use a quarter of it:

    bound = MARGIN · R^(2/(width-1)) · error.

Where it may not hold: attention scores far above 1 (an error in a score is as large as the score, and each layer
multiplies it: scores near 10 make errors about four times larger in one layer, fifty times in four), gradients below
the smallest normal f16 (6.1e-5), and widths below 16, whose smallest deviation has a long tail.

**Worst case** (`worst_case_bound`). If every rounding errs by the full roundoff and all in one direction, errors add as
they are: L · ( HALF · u_half + ( F32 + Σ n ) · u_f32 ), relative to the products of the factors' norms instead of the
result's norm (Higham 2002, section 3.5). It grows with n instead of its root and is shown for comparison only.
"""

import math
from typing import Literal, TypeAlias

Half: TypeAlias = Literal["f64", "f32", "f16", "bf16"]

UNIT_ROUNDOFF: dict[str, float] = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}

HALF_PLANES = (
    "qkv weight", "output weight", "up weight", "gate weight", "down weight",
    "norm1", "queries", "keys", "values", "probabilities", "merged", "norm2", "gated",
    "dy", "up gradient", "gate gradient", "projection gradient", "context gradient", "scores gradient", "qkv gradient",
)  # fmt: skip

F32_PLANES = (
    "qkv", "norm1 statistics", "scores", "powers", "context", "projection", "norm2 statistics", "up", "gate", "gelu",
    "gated gradient", "norm2 gradient, up part", "norm2 gradient", "norm2 input gradient", "merged gradient",
    "probabilities gradient", "queries, keys and values gradients", "norm1 gradient", "norm1 input gradient", "dx",
)  # fmt: skip

# Of each kind of length, the sums that have it. A head's width counts as the width. A mean of n numbers does not count:
# its error is divided by n again and so stays near one rounding.
SUM_LENGTHS: dict[str, tuple[str, ...]] = {
    "width": (
        "norm1 variance", "qkv", "scores", "output", "norm2 variance", "up", "gate",
        "gated gradient", "merged gradient", "probabilities gradient", "context times its gradient",
        "norm1 gradient, queries part", "norm1 gradient, keys part", "norm1 gradient, values part",
    ),
    "ffn": ("down", "norm2 gradient, up part", "norm2 gradient, gate part"),
    "seq": ("denominator", "context", "queries gradient", "keys gradient", "values gradient", "weight gradient"),
}  # fmt: skip

MEAN_SQUARE = 1 / (8 * math.log(2))
MARGIN = 4.0


def gradient_bound(half: Half, *, seq: int, width: int, ffn: int, layers: int) -> float:
    """The relative, norm-wise error below which every gradient plane of a stack of layers should lie.

    Args:
        half: what the half planes are: f16, bf16, f32 or f64.
        seq: tokens.
        width: channels of a token; the bound is meant for 16 and more.
        ffn: inner width of the feed-forward part.
        layers: of the stack.

    Raises:
        ValueError: half is unknown, width is below 2 or another size below 1.
    """
    roundoff = _checked_roundoff(half, seq=seq, width=width, ffn=ffn, layers=layers)
    single = UNIT_ROUNDOFF["f32"]
    terms = _summed_terms(seq=seq, width=width, ffn=ffn)
    squares = len(HALF_PLANES) * roundoff**2 + (len(F32_PLANES) + terms / 2) * single**2
    flat_rows: float = (2 * layers * seq) ** (2 / (width - 1))
    return MARGIN * flat_rows * math.sqrt(layers * MEAN_SQUARE * squares)


def worst_case_bound(half: Half, *, seq: int, width: int, ffn: int, layers: int) -> float:
    """The error if every rounding were the worst and all of one sign, relative to the products of norms.

    Args:
        half: as for `gradient_bound`.
        seq: as for `gradient_bound`.
        width: as for `gradient_bound`.
        ffn: as for `gradient_bound`.
        layers: as for `gradient_bound`.

    Raises:
        ValueError: as for `gradient_bound`.
    """
    roundoff = _checked_roundoff(half, seq=seq, width=width, ffn=ffn, layers=layers)
    terms = _summed_terms(seq=seq, width=width, ffn=ffn)
    return layers * (len(HALF_PLANES) * roundoff + (len(F32_PLANES) + terms) * UNIT_ROUNDOFF["f32"])


def _summed_terms(**lengths: int) -> int:
    return sum(lengths[name] * len(sums) for name, sums in SUM_LENGTHS.items())


def _checked_roundoff(half: str, **sizes: int) -> float:
    if half not in UNIT_ROUNDOFF:
        raise ValueError(f"half: expected one of {', '.join(UNIT_ROUNDOFF)}, got {half!r}")
    for name, size in sizes.items():
        least = 2 if name == "width" else 1
        if size < least:
            raise ValueError(f"{name}: expected {least} or more, got {size}")
    return UNIT_ROUNDOFF[half]
