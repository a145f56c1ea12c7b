import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from image_cases import HALVES, Half, context, f64, normal, poisoned

from cgraph.images import product

SIZES = [(1, 1, 1), (3, 5, 7), (65, 33, 129), (700, 40, 65)]


def bound(half: Half, inner: int, magnitude: np.ndarray) -> np.ndarray:
    """A sum of `inner` products and one addend, each rounded once: inner + 1 roundings (Higham, section 3.1).

    Twice that, because in f64 the test's own product rounds as well.
    """
    return 2.0 * (inner + 1) * half.wide_unit * magnitude + 1e-300


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize(
    ("function", "a_axes", "b_axes"),
    [
        (product.product_data, "mk", "kn"),
        (product.product_weight, "km", "kn"),
        (product.product_forward, "mk", "nk"),
        (product.product_data_adding, "mk", "kn"),
        (product.product_forward_adding, "mk", "nk"),
    ],
)
def test_products(
    half: Half,
    m: int,
    n: int,
    k: int,
    function: Callable[..., None],
    a_axes: str,
    b_axes: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(product, "RIGHT_ELEMENTS", 16 * k)  # several blocks of columns where halves are widened
    size = {"m": m, "n": n, "k": k}
    a = normal(tuple(size[axis] for axis in a_axes), half.half, 1)
    b = normal(tuple(size[axis] for axis in b_axes), half.half, 2)
    equation = f"{a_axes},{b_axes}->mn"
    expected = np.einsum(equation, f64(a), f64(b))
    magnitude = np.einsum(equation, np.abs(f64(a)), np.abs(f64(b)))
    slots = {}
    if "adding" in function.__name__:
        slots["addend"] = normal((m, n), half.wide, 3)
        expected = expected + f64(slots["addend"])
        magnitude = magnitude + np.abs(f64(slots["addend"]))
    out = poisoned((m, n), half.wide)
    function(context(), out=out, a=a, b=b, m=m, n=n, k=k, **slots)
    assert np.all(np.abs(f64(out) - expected) <= bound(half, k, magnitude))
    if slots:
        function(context(), out=slots["addend"], a=a, b=b, m=m, n=n, k=k, **slots)
        assert np.all(np.abs(f64(slots["addend"]) - expected) <= bound(half, k, magnitude))


def test_f16_sums_are_wide() -> None:
    # In f16 the partial sum 128,000 would be infinite.
    a = np.array([[32000.0] * 4 + [-32000.0] * 4], np.float16)
    b = np.ones((8, 1), np.float16)
    out = poisoned((1, 1), np.dtype("f4"))
    product.product_data(context(), out=out, a=a, b=b, m=1, n=1, k=8)
    assert out[0, 0] == 0.0


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_same_bits_whatever_the_team(half: Half) -> None:
    a, b = normal((301, 257), half.half, 4), normal((257, 129), half.half, 5)
    results = []
    for threads in (1, 2, 3, 2):
        out = poisoned((301, 129), half.wide)
        product.product_data(context(threads), out=out, a=a, b=b, m=301, n=129, k=257)
        results.append(out.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("function", [product.product_data, product.product_weight, product.product_forward])
def test_operands_reach_the_blas_without_a_copy(function: Callable[..., None]) -> None:
    size = 512
    a, b, out = (normal((size, size), np.dtype("f4"), seed) for seed in (6, 7, 8))
    tracemalloc.start()
    function(context(), out=out, a=a, b=b, m=size, n=size, k=size)
    _now, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < a.nbytes // 4
