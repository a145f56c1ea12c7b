"""Sizes at which the kernels of a training step are tried."""

from collections.abc import Iterator

from bounds import Rounding
from launches import Case


def optimizer_cases(*, reduced: bool) -> Iterator[Case]:
    """Norms, what a step decides, and the updates of a weight; control and update are drawn such that all is finite."""
    sizes = [(1030, 1)] if reduced else [(1, 0), (1023, 1), (1030, 0), (4_000_019, 0), (4_000_019, 1)]
    ranges = {"control": (0.1, 0.9), "update": (0.5, 1.0), "moment2": (0.5, 2.0)}
    for n, shift in sizes:
        blocks = min(128, -(-n // 4096))
        yield Case("cgImageSquareParts", {"n": n, "blocks": blocks}, Rounding(), shift=shift)
        for decays in (0, 1):
            numbers = {"n": n, "decays": decays}
            yield Case("cgImageAdamW", numbers, Rounding(singles=24), shift=shift, ranges=ranges)
        yield Case("cgImageDescent", {"n": n}, Rounding(singles=4), shift=shift, ranges=ranges)
    decided = {"parts": (0.5, 2.0), "progress": (3.0, 40.0), "control": (0.1, 0.9), "scale": (1.0, 64.0)}
    for count, microbatches in [(300, 3)] if reduced else [(1, 1), (300, 3), (40_000, 16)]:
        numbers = {"count": count, "microbatches": microbatches}
        yield Case("cgImageStepControl", numbers, Rounding(singles=8), shift=count % 2, ranges=decided)
