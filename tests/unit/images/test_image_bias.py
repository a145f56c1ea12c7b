import numpy as np
import pytest
from image_cases import HALVES, Array, context, f64, normal, poisoned, relative_error

from cgraph.images import bias

SIZES = [(1, 1), (7, 3), (32, 65), (33, 129), (200, 1000)]
ROWS = 32


def column_sums(values: Array, sum_rows: int, threads: int = 2) -> Array:
    rows, n = values.shape
    parts, out = poisoned((-(-rows // sum_rows), n), values.dtype), poisoned((n,), values.dtype)
    bias.column_parts(context(threads), parts=parts, in_=values, rows=rows, n=n, cg_sum_rows=sum_rows)
    bias.column_sum(context(threads), out=out, parts=parts, blocks=len(parts), n=n)
    return out


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("rows", "n"), SIZES)
def test_add(rows: int, n: int, in_place: bool) -> None:
    wide = np.dtype("f4")
    values, added = normal((rows, n), wide, 1), normal((n,), wide, 2)
    expected = values + added[None]
    out = values if in_place else poisoned((rows, n), wide)
    bias.add_bias(context(), out=out, in_=values, bias=added, rows=rows, n=n)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("rows", "n"), SIZES)
def test_column_sums(name: str, rows: int, n: int) -> None:
    half = HALVES[name]
    values = normal((rows, n), half.wide, 1)
    found = column_sums(values, ROWS)
    assert relative_error(found, f64(values).sum(axis=0)) <= 100 * half.wide_unit
    assert np.array_equal(found, column_sums(values, ROWS, threads=1))


def test_blocks_are_summed_first() -> None:
    # 1 + 2^-24 is 1 in f32: the small numbers of the second block survive only if they are added up before.
    values = np.zeros((64, 3), np.float32)
    values[0], values[32:] = 1, 2.0**-24
    assert np.array_equal(column_sums(values, ROWS), np.full(3, 1 + 32 * 2.0**-24))
    assert np.array_equal(column_sums(values, 1), np.ones(3))
