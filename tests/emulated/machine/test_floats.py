"""Floating-point instructions at edge values, against rational arithmetic."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tests.support.instructions import Array, apply, float_edges, integer_edges, pairs, triples

KINDS = {"f32": "f4", "f64": "f8"}
MODES = ("rn", "rz", "rm", "rp")


def round_exactly(value: Fraction, dtype: str, mode: str) -> float:
    """A rational number in a floating type, in a rounding mode: by comparing with its neighbours."""
    kind = np.dtype(dtype).type
    info = np.finfo(dtype)
    precision = info.nmant + 1
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    ulp = Fraction(2) ** (max(exponent, int(info.minexp)) - precision + 1)
    down = size // ulp
    rest = size - down * ulp
    up = {
        "rn": rest * 2 > ulp or (rest * 2 == ulp and down % 2 == 1),
        "rz": False,
        "rm": value < 0 and rest > 0,
        "rp": value > 0 and rest > 0,
    }[mode]
    result = (down + up) * ulp
    if result > Fraction(float(info.max)):
        grows = mode == "rn" or (mode == "rm" and value < 0) or (mode == "rp" and value > 0)
        limit = math.inf if grows else float(info.max)
        return float(kind(limit if value > 0 else -limit))
    return float(kind(math.copysign(float(result), 1 if value > 0 else -1)))


def expect(function: Callable[..., Fraction], ieee: Array, dtype: str, mode: str, *sources: Array) -> Array:
    """The exact value rounded where all sources are finite and the result is not zero, else what IEEE says."""
    result = np.array(ieee)
    for place, row in enumerate(zip(*sources, strict=True)):
        if all(math.isfinite(value) for value in row) and (exact := function(*(Fraction(float(v)) for v in row))):
            result[place] = round_exactly(exact, dtype, mode)
    return result


def check_bits(found: Array, expected: Array, message: str) -> None:
    both_nan = np.isnan(found) & np.isnan(expected)
    bits = np.dtype(f"u{found.dtype.itemsize}")
    np.testing.assert_array_equal(np.where(both_nan, 0, found.view(bits)), np.where(both_nan, 0, expected.view(bits)),
                                  err_msg=message)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_sums_and_products_are_rounded_once_in_every_mode(kind: str, mode: str) -> None:
    dtype = KINDS[kind]
    edges = np.concatenate([float_edges(dtype), np.array([1 / 3, -1e10, 3e-9, 1.0 + 3e-7], dtype)])
    a, b = pairs(edges, edges)
    with np.errstate(all="ignore"):
        total, product = a + b, a * b
    # Rounding down, numbers that cancel give -0.
    cancels = (a == -b) & (a != 0) & np.isfinite(a)
    total = np.where(cancels, np.array(-0.0 if mode == "rm" else 0.0, dtype), total)
    found = apply(f"add.{mode}.{kind} D, A, B", np.zeros(len(a), dtype), a, b)
    check_bits(found, expect(lambda x, y: x + y, total, dtype, mode, a, b), f"add.{mode}.{kind}")
    if kind == "f64" and mode != "rn":
        # The remainder of a product below 2^-1022 is not an f64: directed modes are for normal results.
        normal = (np.abs(product) > 1e-280) & (np.abs(product) < 1e280) & (np.abs(a) < 1e150) & (np.abs(b) < 1e150)
        a, b, product = a[normal], b[normal], product[normal]
    found = apply(f"mul.{mode}.{kind} D, A, B", np.zeros(len(a), dtype), a, b)
    check_bits(found, expect(lambda x, y: x * y, product, dtype, mode, a, b), f"mul.{mode}.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_fma_is_rounded_once(kind: str) -> None:
    dtype = KINDS[kind]
    info = np.finfo(dtype)
    eps, tiny = float(info.eps), float(info.tiny)
    ties = np.array(
        [1 + eps, 1 - eps / 2, 1 + eps * (1 << 11), 3.0, 2.0**-12, -1.0, tiny, tiny * 1.5, 0.0, -0.0], dtype
    )
    addends = np.array([eps / 2, -eps / 2, 1.0, -1.0, eps**2, tiny, -tiny, tiny * eps, 0.0, -0.0, 1e30], dtype)
    a, b, c = triples(np.concatenate([ties, float_edges(dtype)[::6]]), ties, addends)
    with np.errstate(all="ignore"):
        ieee = (a * b + c).astype(dtype)
    expected = expect(lambda x, y, z: x * y + z, ieee, dtype, "rn", a, b, c)
    zero = np.array([Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) == 0
                     if np.isfinite([x, y, z]).all() else False for x, y, z in zip(a, b, c, strict=True)])  # fmt: skip
    found = apply(f"fma.rn.{kind} D, A, B, C", np.zeros(len(a), dtype), a, b, c)
    check_bits(found[~zero], expected[~zero], "fma")
    assert (found[zero] == 0).all()


def test_random_f32_fma_against_rational_arithmetic() -> None:
    generator = np.random.default_rng(5)
    a, b = (generator.standard_normal(3000).astype("f4") for _ in range(2))
    # Addends that nearly cancel, and ones far below the product: where rounding twice shows.
    product = a.astype("f8") * b
    c = np.where(np.arange(3000) % 2, -product * (1 + generator.standard_normal(3000) * 1e-7), product * 2.0**-24)
    c = c.astype("f4")
    expected = [round_exactly(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), "f4", "rn")
                for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    np.testing.assert_array_equal(apply("fma.rn.f32 D, A, B, C", np.zeros(3000, "f4"), a, b, c), expected)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_f32_fma(mode: str) -> None:
    edges = np.array([1 / 3, 1.0, -1.5, 1 + 2**-23, 3e-39, 1e30, 12345.678], "f4")
    a, b, c = triples(edges, edges, edges)
    expected = [round_exactly(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), "f4", mode)
                for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    found = apply(f"fma.{mode}.f32 D, A, B, C", np.zeros(len(a), "f4"), a, b, c)
    np.testing.assert_array_equal(found, np.array(expected, "f4"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_quotients_and_roots(kind: str, mode: str) -> None:
    dtype = KINDS[kind]
    normal = np.array([1.0, 2.0, 3.0, 10.0, 1 / 3, 0.7, 1e10, 1e-10, 123.456, 1 + np.finfo(dtype).eps], dtype)
    a, b = pairs(np.concatenate([normal, -normal]), normal)
    expected = [round_exactly(Fraction(float(x)) / Fraction(float(y)), dtype, mode) for x, y in zip(a, b, strict=True)]
    found = apply(f"div.{mode}.{kind} D, A, B", np.zeros(len(a), dtype), a, b)
    np.testing.assert_array_equal(found, np.array(expected, dtype))
    inverse = [round_exactly(1 / Fraction(float(x)), dtype, mode) for x in normal]
    np.testing.assert_array_equal(
        apply(f"rcp.{mode}.{kind} D, A", np.zeros(10, dtype), normal), np.array(inverse, dtype)
    )
    roots = apply(f"sqrt.{mode}.{kind} D, A", np.zeros(10, dtype), normal)
    for value, root in zip(normal, roots, strict=True):
        # The root is right if its square, and those of its neighbours, lie around the value as the mode asks.
        below, here, above = (Fraction(float(each)) ** 2 for each in
                              (np.nextafter(root, -np.inf), root, np.nextafter(root, np.inf)))  # fmt: skip
        exact = Fraction(float(value))
        if mode in {"rz", "rm"}:
            assert here <= exact < above
        elif mode == "rp":
            assert below < exact <= here
        else:
            assert abs(here - exact) <= min(abs(below - exact), abs(above - exact))


@pytest.mark.parametrize("kind", KINDS)
def test_quotients_at_the_edges(kind: str) -> None:
    dtype = KINDS[kind]
    a, b = pairs(float_edges(dtype), float_edges(dtype))
    with np.errstate(all="ignore"):
        check_bits(apply(f"div.rn.{kind} D, A, B", np.zeros(len(a), dtype), a, b), a / b, "div")
        check_bits(apply(f"rcp.rn.{kind} D, A", np.zeros(len(a), dtype), a), (np.array(1, dtype) / a), "rcp")
        check_bits(apply(f"sqrt.rn.{kind} D, A", np.zeros(len(a), dtype), a), np.sqrt(a), "sqrt")


@pytest.mark.parametrize("kind", KINDS)
def test_extremes_signs_and_classes(kind: str) -> None:
    dtype = KINDS[kind]
    a, b = pairs(float_edges(dtype), float_edges(dtype))

    def smaller(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        if x == y == 0:
            return -0.0 if math.copysign(1, x) < 0 or math.copysign(1, y) < 0 else 0.0
        return min(x, y)

    expected = np.array([smaller(float(x), float(y)) for x, y in zip(a, b, strict=True)], dtype)
    check_bits(apply(f"min.{kind} D, A, B", np.zeros(len(a), dtype), a, b), expected, "min")
    larger = np.array([-smaller(-float(x), -float(y)) for x, y in zip(a, b, strict=True)], dtype)
    check_bits(apply(f"max.{kind} D, A, B", np.zeros(len(a), dtype), a, b), larger, "max")
    if kind == "f32":
        unknown = np.isnan(a) | np.isnan(b)
        found = apply("max.NaN.f32 D, A, B", np.zeros(len(a), dtype), a, b)
        check_bits(found, np.where(unknown, np.array(np.nan, dtype), larger), "max.NaN")
    sign = np.array([math.copysign(float(y), float(x)) for x, y in zip(a, b, strict=True)], dtype)
    check_bits(apply(f"copysign.{kind} D, A, B", np.zeros(len(a), dtype), a, b), sign, "copysign")
    check_bits(apply(f"neg.{kind} D, A", np.zeros(len(a), dtype), a), -a, "neg")
    check_bits(apply(f"abs.{kind} D, A", np.zeros(len(a), dtype), a), np.abs(a), "abs")
    values = float_edges(dtype)
    tests = {
        "finite": np.isfinite(values),
        "infinite": np.isinf(values),
        "number": ~np.isnan(values),
        "notanumber": np.isnan(values),
        "normal": np.isfinite(values) & (np.abs(values) >= np.finfo(dtype).tiny),
        "subnormal": (values != 0) & (np.abs(values) < np.finfo(dtype).tiny),
    }
    for name, answer in tests.items():
        code = f"{{ .reg .pred %q; testp.{name}.{kind} %q, A; selp.u32 D, 1, 0, %q; }} //"
        np.testing.assert_array_equal(apply(code, np.zeros(len(values), "u4"), values), answer)


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons_with_nan(kind: str) -> None:
    a, b = pairs(float_edges(KINDS[kind]), float_edges(KINDS[kind]))
    unknown = np.isnan(a) | np.isnan(b)
    ordered = {"eq": a == b, "ne": (a != b) & ~unknown, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    tests = {**ordered, **{f"{name}u": answer | unknown for name, answer in ordered.items()}}
    for name, answer in {**tests, "num": ~unknown, "nan": unknown}.items():
        code = f"{{ .reg .pred %q; setp.{name}.{kind} %q, A, B; selp.u32 D, 1, 0, %q; }} //"
        np.testing.assert_array_equal(apply(code, np.zeros(len(a), "u4"), a, b), answer, err_msg=name)
    found = apply(f"set.le.f32.{kind} D, A, B", np.zeros(len(a), "f4"), a, b)
    np.testing.assert_array_equal(found, ordered["le"].astype("f4"))


def flushed(values: Array) -> Array:
    return np.where(np.abs(values) < np.finfo("f4").tiny, np.copysign(np.float32(0), values), values)


def test_flushing_and_saturating() -> None:
    a, b = pairs(float_edges("f4"), float_edges("f4"))
    with np.errstate(all="ignore"):
        total, product = flushed(flushed(a) + flushed(b)), flushed(flushed(a) * flushed(b))
    check_bits(apply("add.ftz.f32 D, A, B", np.zeros(len(a), "f4"), a, b), total, "add.ftz")
    check_bits(apply("mul.ftz.f32 D, A, B", np.zeros(len(a), "f4"), a, b), product, "mul.ftz")
    with np.errstate(all="ignore"):
        clipped = np.where(np.isnan(a + b), 0, np.clip(a + b, 0, 1)).astype("f4") + np.float32(0)
    check_bits(apply("add.sat.f32 D, A, B", np.zeros(len(a), "f4"), a, b), clipped, "add.sat")
    kept = apply("add.f32 D, A, B", np.zeros(1, "f4"), np.array([1e-45], "f4"), np.array([0], "f4"))
    assert kept[0] > 0  # without .ftz, subnormal numbers stay
    less = apply("set.lt.ftz.u32.f32 D, A, B", np.zeros(1, "u4"), np.array([1e-45], "f4"), np.array([1e-39], "f4"))
    assert less[0] == 0


# The ISA's bounds on the error, relative to the exact value.
BOUNDS = {"ex2": 2.0**-22, "rsqrt": 2.0**-22.9, "tanh": 2.0**-11, "rcp": 2.0**-23, "sqrt": 2.0**-23}


def test_approximations_are_within_their_bounds() -> None:
    values = np.random.default_rng(1).uniform(0.01, 30, 2000).astype("f4")
    exact: dict[str, Callable[[float], float]] = {
        "ex2": lambda x: 2.0**x,
        "rsqrt": lambda x: 1 / math.sqrt(x),
        "tanh": math.tanh,
        "rcp": lambda x: 1 / x,
        "sqrt": math.sqrt,
    }
    for name, function in exact.items():
        expected = np.array([function(float(value)) for value in values])
        found = apply(f"{name}.approx.f32 D, A", np.zeros(2000, "f4"), values)
        assert np.max(np.abs(found / expected - 1)) <= BOUNDS[name], name
    angles = np.linspace(-math.pi, math.pi, 1000, dtype="f4")
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        expected = np.array([function(float(angle)) for angle in angles])
        found = apply(f"{name}.approx.f32 D, A", np.zeros(1000, "f4"), angles)
        assert np.max(np.abs(found - expected)) <= 2.0**-20.5
    logarithms = apply("lg2.approx.f32 D, A", np.zeros(2000, "f4"), values)
    assert np.max(np.abs(logarithms - np.array([math.log2(float(value)) for value in values]))) <= 2.0**-22 * 5


def test_approximations_at_the_edges() -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 200.0, -200.0], "f4")
    inf, nan = np.inf, np.nan
    tables = {
        "ex2.approx.f32": [1, 1, inf, 0, nan, 1, inf, 0],
        "ex2.approx.ftz.f32": [1, 1, inf, 0, nan, 1, inf, 0],
        "rcp.approx.f32": [inf, -inf, 0, -0.0, nan, inf, 0.005, -0.005],
        "rcp.approx.ftz.f32": [inf, -inf, 0, -0.0, nan, inf, 0.005, -0.005],
        "rsqrt.approx.ftz.f32": [inf, -inf, 0, nan, nan, inf, 1 / math.sqrt(200), nan],
        "sqrt.approx.f32": [0, -0.0, inf, nan, nan, math.sqrt(float(np.float32(1e-42))), math.sqrt(200), nan],
        "lg2.approx.ftz.f32": [-inf, -inf, inf, nan, nan, -inf, math.log2(200), nan],
        "tanh.approx.f32": [0, -0.0, 1, -1, nan, 1e-42, 1, -1],
    }
    for name, expected in tables.items():
        found = apply(f"{name} D, A", np.zeros(8, "f4"), values)
        check_bits(found, np.array(expected, "f4"), name)


INTEGERS = {"s32": "i4", "u32": "u4", "s64": "i8", "u64": "u8", "s16": "i2", "u16": "u2"}


def clamped(value: float, function: Callable[[float], int], dtype: str) -> int:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, function(value)))


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize(("source", "dtype"), [("f32", "f4"), ("f64", "f8")])
def test_conversions_to_integers_clamp(source: str, dtype: str, target: str) -> None:
    more = [2.0**31, -(2.0**31), 2.0**63, 2.0**64, -0.5, 127.5]
    values = np.concatenate([float_edges(dtype), np.array(more, dtype)])
    values = values[~np.isnan(values)]
    whole = INTEGERS[target]
    modes: dict[str, Callable[[float], int]] = {"rzi": math.trunc, "rni": round, "rmi": math.floor, "rpi": math.ceil}
    for mode, function in modes.items():
        expected = np.array([clamped(float(value), function, whole) for value in values], whole)
        found = apply(f"cvt.{mode}.{target}.{source} D, A", np.zeros(len(values), whole), values)
        np.testing.assert_array_equal(found, expected, err_msg=mode)


def test_nan_becomes_an_integer() -> None:
    nothing = np.array([np.nan], "f4")
    assert apply("cvt.rzi.s32.f32 D, A", np.ones(1, "i4"), nothing)[0] == 0
    assert apply("cvt.rzi.s64.f32 D, A", np.ones(1, "i8"), nothing)[0] == np.iinfo("i8").min


@pytest.mark.parametrize("mode", MODES)
def test_conversions_from_integers(mode: str) -> None:
    for kind, dtype in {"s32": "i4", "u32": "u4", "s64": "i8", "u64": "u8", "s16": "i2"}.items():
        values = np.concatenate([integer_edges(dtype), np.array([(1 << 24) + 1, (1 << 25) + 3], "i8").astype(dtype)])
        for target, name in (("f4", "f32"), ("f8", "f64"), ("f2", "f16")):
            expected = [round_exactly(Fraction(int(value)), target, mode) for value in values]
            found = apply(f"cvt.{mode}.{name}.{kind} D, A", np.zeros(len(values), target), values)
            np.testing.assert_array_equal(found, np.array(expected, target), err_msg=f"{name} {kind}")


@pytest.mark.parametrize("mode", MODES)
def test_conversions_between_floats(mode: str) -> None:
    wide = np.concatenate([float_edges("f4").astype("f8"), np.array([1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 1e-46])])
    finite = wide[np.isfinite(wide)]
    for name, target in (("f32", "f4"), ("f16", "f2")):
        expected = [round_exactly(Fraction(float(value)), target, mode) for value in finite]
        found = apply(f"cvt.{mode}.{name}.f64 D, A", np.zeros(len(finite), target), finite)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(found, np.array(expected, target), err_msg=name)
    rest = np.array([np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(apply(f"cvt.{mode}.f32.f64 D, A", np.zeros(3, "f4"), rest), rest)


def test_rounding_to_whole_floats() -> None:
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.7, 1e20, np.inf], "f4")
    for mode, function in {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}.items():
        check_bits(apply(f"cvt.{mode}.f32.f32 D, A", np.zeros(8, "f4"), values), function(values), mode)
    found = apply("cvt.sat.f32.f32 D, A", np.zeros(5, "f4"), np.array([-1, 0.25, 7, np.nan, np.inf], "f4"))
    np.testing.assert_array_equal(found, np.array([0, 0.25, 1, 0, 1], "f4"))


def test_tf32_keeps_ten_bits() -> None:
    values = np.array([1 + 2.0**-11, 1 + 2.0**-10, 1 + 3 * 2.0**-11, -(1 + 2.0**-11), 1.2345678], "f4")
    found = apply("cvt.rna.tf32.f32 D, A", np.zeros(5, "f4"), values)
    expected = np.sign(values) * np.floor(np.abs(values.astype("f8")) * 1024 + 0.5) / 1024
    np.testing.assert_array_equal(found, expected.astype("f4"))
