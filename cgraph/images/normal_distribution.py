"""The upper tail of the normal distribution, which NumPy does not have, for the GELU in its erf form.

For x ≥ 0 the tail erfc(x/√2)/2 is exp(-x²/2) · smooth(x) / (1 + x), and smooth is a polynomial in a fraction of x that
moves 0 … LARGEST to -1 … 1. The polynomial is interpolated at Chebyshev's points when the module is loaded, from
Python's own erfc. Beyond LARGEST the tail is below 1e-23: added to 1, or times any activation, it does not count.
"""

import math

import numpy as np
from numpy.polynomial import chebyshev

from cgraph.images.context import Array

LARGEST = 10.0
# (x - MIDDLE)/(x + MIDDLE) is where the interpolation needs the fewest terms; found by trying.
MIDDLE = 4.0
# Terms that leave an error of about a unit in the last place, next to 1.
TERMS = {np.dtype(np.float64): 20, np.dtype(np.float32): 10}
_HIGHEST = (LARGEST - MIDDLE) / (LARGEST + MIDDLE)


def _smooth(point: Array) -> Array:
    """erfc(x/√2)/2 · exp(x²/2) · (1 + x) at the x that `_powers` moves to the point."""
    fraction = (point * (_HIGHEST + 1) + (_HIGHEST - 1)) / 2
    x = MIDDLE * (1 + fraction) / (1 - fraction)
    tails = [math.erfc(value / math.sqrt(2)) / 2 * math.exp(value * value / 2) for value in x]
    return np.array(tails) * (1 + x)


def _powers(terms: int) -> tuple[float, ...]:
    """The polynomial's coefficients, the highest power first."""
    points = chebyshev.chebpts1(terms)
    series = chebyshev.cheb2poly(np.linalg.solve(chebyshev.chebvander(points, terms - 1), _smooth(points)))
    return tuple(float(coefficient) for coefficient in series[::-1])


_POWERS = {dtype: _powers(terms) for dtype, terms in TERMS.items()}


def upper_tail(magnitude: Array, density: Array, out: Array, work: Array) -> None:
    """The probability that a normal number is greater than each of some numbers.

    Args:
        magnitude: numbers from 0 to LARGEST, f32 or f64.
        density: exp(-magnitude²/2), or less where the true number lies beyond LARGEST.
        out: receives the probabilities; other memory than the rest.
        work: memory that is used on the way.
    """
    powers = _POWERS[magnitude.dtype]
    np.add(magnitude, MIDDLE, out=work)
    np.divide(-4 * MIDDLE / (_HIGHEST + 1), work, out=work)
    np.add(work, (2 - (_HIGHEST - 1)) / (_HIGHEST + 1), out=work)
    np.multiply(work, powers[0], out=out)
    for coefficient in powers[1:-1]:
        np.add(out, coefficient, out=out)
        np.multiply(out, work, out=out)
    np.add(out, powers[-1], out=out)
    np.multiply(out, density, out=out)
    np.add(magnitude, 1.0, out=work)
    np.divide(out, work, out=out)
