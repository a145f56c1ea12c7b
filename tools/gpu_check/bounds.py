"""How far one kernel's result may lie from the exact one, from the roundings on the way to it.

The bound is that of `cgraph.reference.bounds`, for one kernel instead of a layer: norm-wise and relative, random
roundings, with the same margin. What a kernel rounds to half counts u_half, each rounding to f32 and each term of a sum
as that module says. Tensor cores add 16 products at a time and cut off what does not fit: at most 2^-22 of the sum so
far, always towards zero, so these errors add as they are.
"""

import math

from attrs import frozen

from cgraph.core.elements import Element
from cgraph.reference.bounds import MARGIN, MEAN_SQUARE, UNIT_ROUNDOFF

TENSOR_TERMS = 16
TENSOR_CUT = 2.0**-22


@frozen
class Rounding:
    """The roundings of one kernel.

    Args:
        halves: roundings to half on the way; that of a result that is half itself comes on top.
        singles: roundings to f32; functions that are exact to a few units count a few.
        sums: lengths of sums in f32.
        tensor: lengths of sums on tensor cores.
        moved: values are only moved: no error at all.
    """

    halves: int = 0
    singles: int = 1
    sums: tuple[int, ...] = ()
    tensor: tuple[int, ...] = ()
    moved: bool = False

    def bound(self, half: Element, *, result_is_half: bool) -> float:
        """The largest relative error of a result, in the Euclidean norm."""
        if self.moved:
            return 0.0
        single = UNIT_ROUNDOFF["f32"] ** 2 * (self.singles + sum(self.sums) / 2)
        rounded = UNIT_ROUNDOFF[half.value] ** 2 * (self.halves + result_is_half)
        cut = TENSOR_CUT * sum(math.ceil(length / TENSOR_TERMS) + TENSOR_TERMS for length in self.tensor)
        return MARGIN * math.sqrt(MEAN_SQUARE * (rounded + single)) + cut
