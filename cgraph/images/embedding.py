"""The embedding of a token, alone or with that of its position, and the gradients of both tables.

Tokens lie position by position, [seq, batch]. The gradient of a row of a table is a sum over the tokens that chose it,
in the order of the tokens: whoever owns the row forms the whole sum, so nothing depends on the order of blocks.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import CHUNK_ELEMENTS, Array, HostContext, Scratch
from cgraph.images.registry import meaning


@meaning("embedding.cu", "cgEmbedding")
def embedding(
    context: HostContext, *, out: Array, ids: Array, tokens: Array, positions: Array, vocab: int, **_: object
) -> None:
    """out[s,b,width] = tokens[ids[s,b]] + positions[s]; NaN where the id is no row of the table."""
    seq, batch, width = out.shape

    def add(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.take(tokens, ids[part], axis=0, out=out[part], mode="clip")
            np.add(out[part], positions[part, None], out=out[part])

    context.share_rows(seq, batch * width, add)
    out[(ids < 0) | (ids >= vocab)] = np.nan


@meaning("embedding.cu", "cgTokenEmbedding")
def token_embedding(context: HostContext, *, out: Array, ids: Array, tokens: Array, vocab: int, **_: object) -> None:
    """out[r,width] = tokens[ids[r]]; NaN where the id is no row of the table."""

    def copy(_scratch: Scratch, _chunk: int, parts: Iterator[slice]) -> None:
        for part in parts:
            np.take(tokens, ids[part], axis=0, out=out[part], mode="clip")

    context.share_rows(len(out), out.shape[1], copy)
    out[(ids < 0) | (ids >= vocab)] = np.nan


@meaning("embedding.cu", "cgEmbeddingTokens")
def embedding_tokens(context: HostContext, *, tokens_gradient: Array, ids: Array, dy: Array, **_: object) -> None:
    """tokensGradient[v,width] = Σ over the rows with ids[row] = v of dy[row], the first row first."""
    _gather_tokens(context, tokens_gradient, ids, dy, adding=False)


@meaning("embedding.cu", "cgEmbeddingTokensAdding")
def embedding_tokens_adding(
    context: HostContext, *, tokens_gradient: Array, ids: Array, dy: Array, **_: object
) -> None:
    """tokensGradient[v,width] += the same sums, each formed before it is added."""
    _gather_tokens(context, tokens_gradient, ids, dy, adding=True)


@meaning("embedding.cu", "cgEmbeddingPositions")
def embedding_positions(
    context: HostContext,  # noqa: ARG001  (every meaning is called with it)
    *,
    positions_gradient: Array,
    dy: Array,
    **_: object,
) -> None:
    """positionsGradient[p,width] = Σ over the batch of dy[p,b], the first sequence first; 0 beyond the sequences."""
    seq = dy.shape[0]
    np.add.reduce(dy, axis=1, out=positions_gradient[:seq])
    positions_gradient[seq:].fill(0)


def _gather_tokens(context: HostContext, tokens_gradient: Array, ids: Array, dy: Array, *, adding: bool) -> None:
    """Sums dy's rows by id into the table, in place of what it holds or on top of it."""
    vocab, width = tokens_gradient.shape
    order = np.argsort(ids, kind="stable")
    block = max(1, CHUNK_ELEMENTS // max(width, 1))
    blocks = -(-vocab // block)
    bounds = np.searchsorted(ids[order], np.minimum(np.arange(blocks + 1) * block, vocab))

    def gather(scratch: Scratch, numbers: Iterator[int]) -> None:
        total = scratch.take("total", (width,), dy.dtype)
        for number in numbers:
            own = tokens_gradient[number * block : (number + 1) * block]
            if not adding:
                own.fill(0)
            places = order[bounds[number] : bounds[number + 1]]
            tokens, counts = np.unique(ids[places], return_counts=True)
            chosen, ends = dy[places], np.cumsum(counts)
            for token, count, end in zip(tokens, counts, ends, strict=True):
                row = own[token - number * block]
                np.add.reduce(chosen[end - count : end], axis=0, out=total if adding else row)
                if adding:
                    np.add(row, total, out=row)

    context.share(blocks, gather)
