"""What this machine does at best, measured in a fraction of a second: the roofline of runs on the host.

The bandwidth is that of a copy far larger than a processor's caches, the rate that of a square product in f32 by
NumPy's BLAS, the overhead that of a call that does next to nothing. Each is the best of a few tries, because other work
on the machine only slows it down.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from cgraph.schedule.cost import CostModel

COPIED_BYTES = 128 * 2**20
PRODUCT_SIZE = 1024
TRIES = 5


def measure_host() -> CostModel:
    """A cost model of this machine. Takes about 0.3 s and 300 MB."""
    source = np.zeros(COPIED_BYTES, np.uint8)
    target = np.ones(COPIED_BYTES, np.uint8)
    left = np.full((PRODUCT_SIZE, PRODUCT_SIZE), 0.5, np.float32)
    out = np.empty_like(left)
    one = np.zeros(1, np.float32)
    copy_us = _best_us(lambda: np.copyto(target, source))
    product_us = _best_us(lambda: np.matmul(left, left, out=out))
    return CostModel(
        overhead_us=_best_us(lambda: one.fill(1.0)),
        bandwidth_bytes_per_us=2 * COPIED_BYTES / copy_us,  # each byte is read and written
        operations_per_us=2 * PRODUCT_SIZE**3 / product_us,
        device="this machine: a large copy and a large f32 product, measured",
    )


def _best_us(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(TRIES):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return max(1e6 * best, 1e-3)
