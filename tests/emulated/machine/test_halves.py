"""f16 and bf16 arithmetic against exact sums in f64, rounded once by ml_dtypes and NumPy."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.support.instructions import Array, apply, float_edges, pairs, triples

KINDS: dict[str, np.dtype[np.generic]] = {"f16": np.dtype("f2"), "bf16": np.dtype(ml_dtypes.bfloat16)}


def values_of(kind: str) -> Array:
    if kind == "f16":
        return np.concatenate([float_edges("f2"), np.array([0.3333, 2049, 2051, 1e-7, 65504], "f2")])
    wide = [0, 1e-40, 1.0, 1.0078125, 0.1, 3.0, 257.0, 1e30, 3.3e38, np.inf, 2.0**-126, 2.0**-133]
    return np.array([*wide, *(-value for value in wide), np.nan]).astype(ml_dtypes.bfloat16)


def check(found: Array, expected: Array, message: str) -> None:
    unknown = np.isnan(found.astype("f4")) & np.isnan(expected.astype("f4"))
    np.testing.assert_array_equal(np.where(unknown, 0, found.view("u2")), np.where(unknown, 0, expected.view("u2")),
                                  err_msg=message)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic_is_rounded_once(kind: str) -> None:
    dtype = KINDS[kind]
    a, b = pairs(values_of(kind), values_of(kind))
    x, y = a.astype("f8"), b.astype("f8")
    with np.errstate(all="ignore"):
        # Sums and products of two halves are exact in f64, but for bf16 numbers that lie very far apart; rounding such
        # a sum to f64 first leaves it on the same side of every tie.
        exact = {"add": x + y, "sub": x - y, "mul": x * y}
        for name, value in exact.items():
            found = apply(f"{name}.{kind} D, A, B", np.zeros(len(a), dtype), a, b)
            check(found, value.astype(dtype), f"{name}.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_fma_is_rounded_once(kind: str) -> None:
    dtype = KINDS[kind]
    some = values_of(kind)[::2]
    near = np.array([1.0, 1.0 + 2.0**-7, 3.0, -1.0, 2.0**-8, 2.0**-9, 2.0**-12], dtype)
    a, b, c = triples(near, np.concatenate([near, some[:6]]), np.concatenate([near, some[:6]]))
    with np.errstate(all="ignore"):
        exact = a.astype("f8") * b.astype("f8") + c.astype("f8")
        expected = exact.astype(dtype)
    check(apply(f"fma.rn.{kind} D, A, B, C", np.zeros(len(a), dtype), a, b, c), expected, kind)
    relu = apply(f"fma.rn.relu.{kind} D, A, B, C", np.zeros(len(a), dtype), a, b, c).astype("f4")
    wide = expected.astype("f4")
    np.testing.assert_array_equal(relu, np.where(wide > 0, wide, np.where(np.isnan(wide), relu, 0)))


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_two_halves(kind: str) -> None:
    values = values_of(kind)
    values = values[~np.isnan(values.astype("f4"))]
    a, b = pairs(values[: len(values) // 2 * 2], values[: len(values) // 2 * 2])
    found = apply(f"mul.{kind}x2 D, A, B", np.zeros(len(a) // 2, "u4"), a.view("u4"), b.view("u4"))
    one = apply(f"mul.{kind} D, A, B", np.zeros(len(a), a.dtype), a, b)
    check(found.view(a.dtype), one, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_extremes_and_signs(kind: str) -> None:
    dtype = KINDS[kind]
    a, b = pairs(values_of(kind), values_of(kind))
    x, y = a.astype("f4"), b.astype("f4")
    different = (x != y) | (np.signbit(x) == np.signbit(y))
    a, b, x, y = a[different], b[different], x[different], y[different]
    check(apply(f"max.{kind} D, A, B", np.zeros(len(a), dtype), a, b), np.fmax(x, y).astype(dtype), "max")
    check(apply(f"min.{kind} D, A, B", np.zeros(len(a), dtype), a, b), np.fmin(x, y).astype(dtype), "min")
    negative = apply(f"neg.{kind} D, A", np.zeros(len(a), dtype), a)
    np.testing.assert_array_equal(negative.view("u2"), a.view("u2") ^ 0x8000)
    absolute = apply(f"abs.{kind} D, A", np.zeros(len(a), dtype), a)
    np.testing.assert_array_equal(absolute.view("u2"), a.view("u2") & 0x7FFF)


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons(kind: str) -> None:
    a, b = pairs(values_of(kind), values_of(kind))
    x, y = a.astype("f8"), b.astype("f8")
    for name, answer in {"lt": x < y, "geu": ~(x < y), "eq": x == y, "nan": np.isnan(x) | np.isnan(y)}.items():
        code = f"{{ .reg .pred %q; setp.{name}.{kind} %q, A, B; selp.u32 D, 1, 0, %q; }} //"
        np.testing.assert_array_equal(apply(code, np.zeros(len(a), "u4"), a, b), answer, err_msg=name)


def test_conversions_round_to_nearest_even() -> None:
    generator = np.random.default_rng(3)
    exponents = generator.integers(-150, 124, 4000)
    wide = (generator.standard_normal(4000) * 2.0**exponents).astype("f4")
    ties = np.array(
        [1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 65520, 65519, 2.0**-25, 3.39e38, np.inf]
    )
    values = np.concatenate([wide, ties.astype("f4"), -ties.astype("f4")])
    with np.errstate(over="ignore"):
        for kind, dtype in KINDS.items():
            found = apply(f"cvt.rn.{kind}.f32 D, A", np.zeros(len(values), dtype), values)
            check(found, values.astype(dtype), kind)
            back = apply(f"cvt.f32.{kind} D, A", np.zeros(len(values), "f4"), found)
            np.testing.assert_array_equal(back, found.astype("f4"))
            both = apply(f"cvt.rn.{kind}x2.f32 D, A, B", np.zeros(len(values), "u4"), values, values[::-1].copy())
            halves = both.view(dtype)
            check(halves[1::2], values.astype(dtype), "upper")
            check(halves[0::2], values[::-1].astype(dtype), "lower")


def test_conversions_toward_zero() -> None:
    values = np.random.default_rng(4).standard_normal(1000).astype("f4")
    for kind, dtype in KINDS.items():
        found = apply(f"cvt.rz.{kind}.f32 D, A", np.zeros(1000, dtype), values).astype("f4")
        nearest = values.astype(dtype)
        assert (np.abs(found) <= np.abs(values)).all()
        step = np.abs(nearest.astype("f4") - found)
        assert (step <= np.abs(values) * 2.0 ** (-7 if kind == "bf16" else -10)).all()
    packed = apply("cvt.rz.f16x2.f32 D, A, B", np.zeros(1000, "u4"), values, values).view("f2")
    assert (np.abs(packed[::2].astype("f4")) <= np.abs(values)).all()


def test_integers_become_halves_in_one_rounding() -> None:
    values = np.arange(-4000, 70000, 37, dtype="i4")
    with np.errstate(over="ignore"):
        check(
            apply("cvt.rn.f16.s32 D, A", np.zeros(len(values), "f2"), values), values.astype("f8").astype("f2"), "s32"
        )
    back = apply("cvt.rzi.s32.f16 D, A", np.zeros(4, "i4"), np.array([1.9, -1.9, np.inf, 65504], "f2"))
    np.testing.assert_array_equal(back, [1, -1, np.iinfo("i4").max, 65504])


FUNCTIONS: dict[str, Callable[[Array], Array]] = {"ex2.approx": np.exp2, "tanh.approx": np.tanh}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_approximations_are_within_their_bounds(name: str, kind: str) -> None:
    values = np.linspace(-8, 8, 999).astype(KINDS[kind])
    instruction = f"{name}.ftz.{kind}" if (name, kind) == ("ex2.approx", "bf16") else f"{name}.{kind}"
    found = apply(f"{instruction} D, A", np.zeros(999, KINDS[kind]), values).astype("f8")
    exact = FUNCTIONS[name](values.astype("f8"))
    # ex2: 2^-9.9 relative in f16, 2^-7 in bf16; tanh: 2^-10.987 and 2^-8 absolute.
    bound = {"f16": 2.0**-9.9, "bf16": 2.0**-7}[kind]
    assert (np.abs(found - exact) <= bound * np.maximum(np.abs(exact), 2.0**-14)).all()
