from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from image_cases import context

from cgraph.images.context import ALIGNMENT_BYTES, Scratch
from cgraph.images.team import Team


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_each_part_is_done_once(size: int, count: int) -> None:
    done = np.zeros(count, int)

    def work(_worker: int, parts: Iterator[Any]) -> None:
        for part in parts:
            done[part] += 1

    Team(size).share(count, work)
    assert np.all(done == 1)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("bad", [0, 7])
def test_an_exception_comes_out_after_all_have_stopped(size: int, bad: int) -> None:
    def work(_worker: int, parts: Iterator[Any]) -> None:
        for part in parts:
            if part == bad:
                raise RuntimeError("part failed")

    with pytest.raises(RuntimeError, match="part failed"):
        Team(size).share(8, work)


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 3), (5, 100_000), (100_000, 7), (0, 3)])
def test_row_parts_cover_all_rows_once_and_fit_the_chunk(rows: int, width: int) -> None:
    done = np.zeros(rows, int)

    def work(_scratch: Scratch, chunk: int, parts: Iterator[Any]) -> None:
        for part in parts:
            assert 0 < part.stop - part.start <= chunk
            done[part] += 1

    context().share_rows(rows, width, work)
    assert np.all(done == 1)


def test_scratch_is_aligned_and_reused() -> None:
    scratch = Scratch()
    large = scratch.take("a", (100, 7), np.dtype("f8"))
    small = scratch.take("a", (3,), np.dtype("f4"))
    other = scratch.take("b", (3,), np.dtype("f4"))
    assert large.ctypes.data % ALIGNMENT_BYTES == 0
    assert small.ctypes.data == large.ctypes.data
    assert not np.may_share_memory(small, other)
    assert np.array_equal(np.shape(scratch.take("a", (0, 4), np.dtype("f4"))), (0, 4))
