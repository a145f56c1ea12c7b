import numpy as np
import pytest
from image_cases import HALVES, Half, context, f64, normal, poisoned

from cgraph.images import product


def exact_parts(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    """Row by row: steps of 64 rows, dealt out so that part p begins at step floor(p · steps / count)."""
    steps = (len(a) + 63) // 64
    sums = np.zeros((count, a.shape[1], b.shape[1]))
    for row in range(len(a)):
        part = max(p for p in range(count) if p * steps // count <= row // 64)
        sums[part] += np.outer(a[row], b[row])
    return sums


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize(
    ("m", "n", "k", "more"), [(1, 1, 1, 1), (3, 5, 65, 1), (7, 4, 300, 2), (2, 9, 130, 6), (5, 3, 640, 0)]
)
def test_parts_and_their_sum(half: Half, m: int, n: int, k: int, more: int) -> None:
    a, b = normal((k, m), half.half, 1), normal((k, n), half.half, 2)
    out, parts = poisoned((m, n), half.wide), poisoned((more, m, n), half.wide)
    product.product_weight_parts(context(), out=out, parts=parts, a=a, b=b, m=m, n=n, k=k, more=more)
    expected = exact_parts(f64(a), f64(b), more + 1)
    magnitude = np.abs(f64(a)).T @ np.abs(f64(b))
    # k products and sums, each rounded once (Higham, section 3.1), twice because the test rounds in f64 too; then one
    # more rounding for each part.
    bound = 2.0 * (k + more + 1) * half.wide_unit * magnitude + 1e-300
    assert np.all(np.abs(f64(np.concatenate([out[None], parts])) - expected) <= bound)
    total = poisoned((m * n,), half.wide)
    product.product_weight_sum(context(), out=total, first=out.ravel(), parts=parts.reshape(more, m * n), n=m * n)
    assert np.all(np.abs(f64(total).reshape(m, n) - expected.sum(axis=0)) <= bound)
    product.product_weight_sum(context(), out=out.ravel(), first=out.ravel(), parts=parts.reshape(more, m * n), n=m * n)
    assert out.ravel().tobytes() == total.tobytes()


def test_parts_are_added_in_order() -> None:
    # Any other order of these f32 gives another sum: 1 is lost beside 2^25, and 2^25 - 2^25 is 0.
    first, parts = np.array([1.0], "f4"), np.array([[2.0**25], [-(2.0**25)], [3.0]], "f4")
    out = poisoned((1,), np.dtype("f4"))
    product.product_weight_sum(context(), out=out, first=first, parts=parts, n=1, count=3)
    assert out[0] == 3.0


def test_sums_have_the_same_bits_whatever_the_team() -> None:
    size = 300_001
    first, parts = normal((size,), np.dtype("f4"), 3), normal((3, size), np.dtype("f4"), 4)
    results = set()
    for threads in (1, 2, 3):
        out = poisoned((size,), np.dtype("f4"))
        product.product_weight_sum(context(threads), out=out, first=first, parts=parts, n=size, count=3)
        results.add(out.tobytes())
    assert len(results) == 1
