import numpy as np
import pytest
from image_cases import HALVES, Array, context, f64, normal, poisoned, relative_error

from cgraph.images import embedding

# seq, batch, width, vocab, longest: one of everything; odd; more tokens than vocabulary; a vocabulary of many blocks.
SIZES = [(1, 1, 1, 1, 1), (5, 3, 7, 11, 9), (40, 3, 130, 3, 40), (9, 2, 1500, 101, 33), (2, 1, 40000, 7, 2)]


def forward(ids: Array, tokens: Array, positions: Array) -> Array:
    (seq, batch), (vocab, width) = ids.shape, tokens.shape
    out = poisoned((seq, batch, width), tokens.dtype)
    embedding.embedding(
        context(),
        out=out,
        ids=ids,
        tokens=tokens,
        positions=positions,
        seq=seq,
        batch=batch,
        width=width,
        vocab=vocab,
        longest=len(positions),
    )
    return out


def tokens_gradient(ids: Array, dy: Array, vocab: int, threads: int = 2) -> Array:
    gradient = poisoned((vocab, dy.shape[1]), dy.dtype)
    embedding.embedding_tokens(
        context(threads), tokens_gradient=gradient, ids=ids, dy=dy, rows=len(ids), width=dy.shape[1], vocab=vocab
    )
    return gradient


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("seq", "batch", "width", "vocab", "longest"), SIZES)
def test_forward(name: str, seq: int, batch: int, width: int, vocab: int, longest: int) -> None:
    wide = HALVES[name].wide
    tokens, positions = normal((vocab, width), wide, 1), normal((longest, width), wide, 2)
    ids = np.random.default_rng(3).integers(0, vocab, (seq, batch)).astype(np.int32)
    out = forward(ids, tokens, positions)
    for position in range(seq):
        for sequence in range(batch):
            assert np.array_equal(out[position, sequence], tokens[ids[position, sequence]] + positions[position])


@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1, -(2**31)])
def test_an_id_outside_the_table_is_seen(wrong: int) -> None:
    ids = np.array([[0, wrong], [2, 1]], np.int32)
    tokens, positions = np.ones((3, 2), np.float32), np.zeros((2, 2), np.float32)
    out = forward(ids, tokens, positions)
    assert np.isnan(out[0, 1]).all()
    assert np.array_equal(out[[0, 1, 1], [0, 0, 1]], np.ones((3, 2)))
    gradient = tokens_gradient(ids.ravel(), np.ones((4, 2), np.float32), 3)
    assert np.array_equal(gradient, np.ones((3, 2)))


def test_repeated_ids_computed_by_hand() -> None:
    ids = np.array([1, 1, 2, 1, 1, 2], np.int32)
    gradient = tokens_gradient(ids, np.ones((6, 3), np.float32), 4)
    assert np.array_equal(gradient, np.outer([0, 4, 2, 0], np.ones(3)))


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("seq", "batch", "width", "vocab", "longest"), SIZES)
def test_gradient_of_the_tokens(name: str, seq: int, batch: int, width: int, vocab: int, longest: int) -> None:  # noqa: ARG001
    wide = HALVES[name].wide
    rows = seq * batch
    ids = np.random.default_rng(3).integers(0, vocab, rows).astype(np.int32)
    dy = normal((rows, width), wide, 4)
    gradient = tokens_gradient(ids, dy, vocab)
    chosen = np.zeros((vocab, rows))
    chosen[ids, np.arange(rows)] = 1
    assert relative_error(gradient, chosen @ f64(dy)) <= 100 * HALVES[name].wide_unit
    assert not gradient[chosen.sum(axis=1) == 0].any()
    assert np.array_equal(gradient, tokens_gradient(ids, dy, vocab, threads=1))


def test_rows_are_added_in_their_order() -> None:
    # The first 1 is lost beside 1e8, the second is not; in other orders both survive, or neither.
    dy = np.outer([1e8, 1.0, -1e8, 1.0], np.ones(3)).astype(np.float32)
    assert np.array_equal(tokens_gradient(np.zeros(4, np.int32), dy, 1), np.ones((1, 3)))


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize(("seq", "batch", "width", "vocab", "longest"), SIZES)
def test_gradient_of_the_positions(name: str, seq: int, batch: int, width: int, vocab: int, longest: int) -> None:  # noqa: ARG001
    wide = HALVES[name].wide
    dy = normal((seq, batch, width), wide, 5)
    gradient = poisoned((longest, width), wide)
    embedding.embedding_positions(
        context(), positions_gradient=gradient, dy=dy, seq=seq, batch=batch, width=width, longest=longest
    )
    assert relative_error(gradient[:seq], f64(dy).sum(axis=1)) <= 10 * HALVES[name].wide_unit
    assert not gradient[seq:].any()
