"""Embeddings without positions, and the gradient of a table that has another use."""

import numpy as np
import pytest
from image_cases import HALVES, Array, context, f64, normal, poisoned, relative_error

from cgraph.images import embedding

# rows, width, vocab: one of everything; odd; more tokens than vocabulary; a vocabulary of many blocks; wide rows.
SIZES = [(1, 1, 1), (15, 7, 11), (120, 130, 3), (18, 1500, 101), (2, 40000, 7)]


def adding(before: Array, ids: Array, dy: Array, threads: int = 2) -> Array:
    gradient = before.copy()
    sizes = {"rows": len(ids), "width": dy.shape[1], "vocab": len(before)}
    embedding.embedding_tokens_adding(context(threads), tokens_gradient=gradient, ids=ids, dy=dy, **sizes)
    return gradient


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("rows", "width", "vocab"), SIZES)
def test_forward(name: str, rows: int, width: int, vocab: int) -> None:
    tokens = normal((vocab, width), HALVES[name].wide, 1)
    ids = np.random.default_rng(3).integers(0, vocab, rows).astype(np.int32)
    out = poisoned((rows, width), tokens.dtype)
    embedding.token_embedding(context(), out=out, ids=ids, tokens=tokens, rows=rows, width=width, vocab=vocab)
    for row, token in enumerate(ids):
        assert np.array_equal(out[row], tokens[token])


@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1, -(2**31)])
def test_an_id_outside_the_table_is_seen(wrong: int) -> None:
    ids = np.array([0, wrong, 2], np.int32)
    out = poisoned((3, 2), np.dtype(np.float32))
    tokens = np.ones((3, 2), np.float32)
    embedding.token_embedding(context(), out=out, ids=ids, tokens=tokens, rows=3, width=2, vocab=3)
    assert np.isnan(out[1]).all()
    assert np.array_equal(out[[0, 2]], np.ones((2, 2)))
    assert np.array_equal(adding(tokens, ids, np.ones((3, 2), np.float32)), np.outer([2, 1, 2], [1, 1]))


def test_repeated_ids_computed_by_hand() -> None:
    before = np.outer([1, 2, 3, 4], np.ones(3)).astype(np.float32)
    gradient = adding(before, np.array([1, 1, 2, 1, 1, 2], np.int32), np.ones((6, 3), np.float32))
    assert np.array_equal(gradient, np.outer([1, 6, 5, 4], np.ones(3)))


def test_the_sum_is_formed_before_it_is_added() -> None:
    # Each 1 alone would be lost beside 1e8; their sum of 8 is not, for neighbours there are 8 apart.
    before = np.full((1, 2), 1e8, np.float32)
    assert np.array_equal(adding(before, np.zeros(8, np.int32), np.ones((8, 2), np.float32)), before + np.float32(8))


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("rows", "width", "vocab"), SIZES)
def test_gradient_on_top_of_another(name: str, rows: int, width: int, vocab: int) -> None:
    wide = HALVES[name].wide
    ids = np.random.default_rng(3).integers(0, vocab, rows).astype(np.int32)
    dy, before = normal((rows, width), wide, 4), normal((vocab, width), wide, 5)
    gradient = adding(before, ids, dy)
    chosen = np.zeros((vocab, rows))
    chosen[ids, np.arange(rows)] = 1
    assert relative_error(gradient, f64(before) + chosen @ f64(dy)) <= 100 * HALVES[name].wide_unit
    untouched = chosen.sum(axis=1) == 0
    assert np.array_equal(gradient[untouched], before[untouched])
    assert np.array_equal(gradient, adding(before, ids, dy, threads=1))
