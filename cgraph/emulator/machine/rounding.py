"""Exact sums and products, rounded once.

A real number stands as an f64 `high` and a remainder `low` with |low| ≤ ½ ulp(high). Rounding such a pair to a narrower
type is exact when `high` is first rounded to odd: its last bit then tells that something lies below.
Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
IEEE Transactions on Computers 57(4), 2008.
"""

from fractions import Fraction
from math import copysign, isfinite

import numpy as np

from cgraph.emulator.machine.arrays import F32, F64, S64, U16, U32, Array, DType

# f64 bits below an f32's last one: all zero but the uppermost where the value lies between two f32.
_TAIL = np.int64((1 << 28) - 1)
_BELOW = np.int64((1 << 29) - 1)
_TIE = np.int64(1 << 28)
F32_TINY = float(np.finfo(np.float32).tiny)
_SPLITTER = float((1 << 27) + 1)
# Within these, no product of halves overflows or falls below the smallest f64.
_LARGE, _SMALL = 2.0**480, 2.0**-400


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum a + b as rounded sum and remainder, exact in f64 unless the sum overflows."""
    high = a + b
    back = high - a
    return high, (a - (high - back)) + (b - back)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product a · b as rounded product and remainder, exact in f64 unless halves overflow or underflow."""
    high = a * b
    a_high = _SPLITTER * a - (_SPLITTER * a - a)
    b_high = _SPLITTER * b - (_SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def to_odd(high: Array, low: Array) -> Array:
    """The pair high + low rounded to odd."""
    bits = np.asarray(high, F64).view(S64)
    inexact = (low != 0) & np.isfinite(low) & np.isfinite(high) & ((bits & 1) == 0)
    step = np.where((low > 0) == (high > 0), 1, -1)
    return np.asarray(np.where(inexact, bits + step, bits)).view(F64)


def fma_f32(a: Array, b: Array, c: Array, out: Array) -> None:
    """Computes out = a · b + c in f32 with one rounding to nearest even: an exact product, a sum that is mended."""
    product = np.multiply(a, b, dtype=F64)
    total = np.asarray(np.add(product, c))
    if total.ndim == 0:
        total = np.full(out.shape, total)
    bits = total.view(S64)
    mended = None
    if np.count_nonzero(bits & _TAIL) != total.size:
        product, addend, total = np.broadcast_arrays(product, np.asarray(c, F64), total)
        unsure = ((bits & _BELOW) == _TIE) | ((np.abs(total) < F32_TINY) & (total != 0))
        places = np.nonzero(unsure)
        if len(places[0]):
            mended = (places, to_odd(*two_sum(product[places], addend[places])).astype(F32))
    out[...] = total
    if mended is not None:
        out[mended[0]] = mended[1]


def fma_f64(a: Array, b: Array, c: Array) -> Array:
    """The value a · b + c with one rounding to nearest even, all f64."""
    a, b, c = np.broadcast_arrays(np.atleast_1d(a), b, c)
    product, low = two_product(a, b)
    upper, lower = two_sum(c, low)
    high, middle = two_sum(product, upper)
    result = np.asarray(high + to_odd(*two_sum(middle, lower)))
    sizes = np.abs(np.stack([a, b, product, c]))
    risky = ((sizes > _LARGE) | ((sizes < _SMALL) & (sizes > 0))).any(axis=0) | (product == 0) | ~np.isfinite(result)
    for place in zip(*np.nonzero(risky), strict=True):
        result[place] = _fma_exactly(float(a[place]), float(b[place]), float(c[place]))
    return result


def _fma_exactly(a: float, b: float, c: float) -> float:
    """One fma by rational arithmetic: for values whose parts would leave the range of f64."""
    if not (isfinite(a) and isfinite(b) and isfinite(c)) or not a or not b:
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return copysign(0.0, a * b) if copysign(1.0, a * b) == copysign(1.0, c) else 0.0
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def round_f32(high: Array, low: Array, mode: str) -> Array:
    """The pair high + low as f32: to nearest even (rn), zero (rz), minus (rm) or plus infinity (rp)."""
    if mode == "rn":
        return to_odd(high, low).astype(F32)
    return _direct(np.asarray(high), np.asarray(low), mode, F32)


def round_f64(high: Array, low: Array, mode: str) -> Array:
    """The pair high + low as f64; `high` is rounded to nearest even already."""
    if mode == "rn":
        return high
    return _direct(np.asarray(high), np.asarray(low), mode, F64)


def round_f16(high: Array, low: Array, mode: str) -> Array:
    """The pair high + low as f16."""
    dtype = np.dtype(np.float16)
    return to_odd(high, low).astype(dtype) if mode == "rn" else _direct(np.asarray(high), np.asarray(low), mode, dtype)


def _direct(high: Array, low: Array, mode: str, dtype: DType) -> Array:
    nearest = high.astype(dtype)
    back = nearest.astype(F64)
    # An infinite result of a finite number is too far from zero.
    rest = np.where(np.isinf(back) & np.isfinite(high), high - back, (high - back) + low)
    below, above = rest > 0, rest < 0  # where the exact number is above or below the nearest one
    down = {"rm": above, "rp": np.zeros_like(above), "rz": above & (back > 0)}[mode]
    up = {"rm": np.zeros_like(above), "rp": below, "rz": below & (back < 0)}[mode]
    infinity = dtype.type(np.inf)
    lowered = np.where(down, np.nextafter(nearest, -infinity), nearest)
    return np.asarray(np.where(up, np.nextafter(nearest, infinity), lowered))


def flush(values: Array) -> Array:
    """Subnormal numbers replaced by zero of the same sign, as .ftz asks for."""
    tiny = np.finfo(values.dtype).tiny
    return np.asarray(np.where(np.abs(values) < tiny, np.copysign(values.dtype.type(0), values), values))


def saturate(values: Array) -> Array:
    """Values within 0 … 1, NaN as +0."""
    one, zero = values.dtype.type(1), values.dtype.type(0)
    return np.asarray(np.where(values > 0, np.minimum(values, one), zero))


def widen_bf16(bits: Array) -> Array:
    """bf16 bits as f32."""
    return np.asarray(np.left_shift(bits, U32.type(16), dtype=U32)).view(F32)


def narrow_bf16(values: Array) -> Array:
    """f32 values as bf16 bits, rounded to nearest even; NaN is 0x7fff."""
    bits: Array = np.ascontiguousarray(values, F32).view(U32)
    rounded = (bits + (U32.type(0x7FFF) + (bits >> U32.type(16) & U32.type(1)))) >> U32.type(16)
    return np.asarray(np.where(np.isnan(values), U16.type(0x7FFF), rounded.astype(U16)))


def narrow_bf16_toward_zero(values: Array) -> Array:
    """f32 values as bf16 bits, cut off; NaN is 0x7fff."""
    bits = np.ascontiguousarray(values, F32).view(U32) >> U32.type(16)
    return np.asarray(np.where(np.isnan(values), U16.type(0x7FFF), bits.astype(U16)))


def odd_f32(values: Array) -> Array:
    """f64 values (rounded to odd) as f32 rounded to odd: the last bit tells that something lies below."""
    cut = _direct(values, np.zeros_like(values), "rz", F32)
    bits = cut.view(U32)
    return np.asarray(np.where((cut.astype(F64) != values) & np.isfinite(values), bits | U32.type(1), bits)).view(F32)
