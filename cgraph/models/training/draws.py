"""Random numbers that depend on what they are for and on nothing drawn before.

A stream is named by the run's seed, a purpose and a number (a step): a resumed run needs no state of a generator. The
numbers are Philox's own words, which NumPy keeps from version to version, unlike its distributions.
Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Purpose(IntEnum):
    """What numbers are drawn for; each has streams of its own."""

    BATCH = 1
    SAMPLE = 2


def uniform(seed: int, purpose: Purpose, number: int, count: int) -> NDArray[np.float64]:
    """Numbers in [0, 1), multiples of 2⁻⁵³.

    Args:
        seed: 0 or more, below 2⁶⁴.
        purpose: what for.
        number: 0 or more, below 2⁶⁴.
        count: how many, [count].
    """
    # The lowest word counts the numbers of a stream, the others tell streams apart.
    words = np.random.Philox(key=[seed, int(purpose)], counter=[0, number, 0, 0]).random_raw(count)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
