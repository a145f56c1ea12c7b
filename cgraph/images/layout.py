"""Layouts of heads: [seq, width] tokens, [heads, seq, headWidth] heads, [heads, headWidth, seq] transposed heads."""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.registry import meaning

# Tiles of a transposition: a tile of this side and its copy stay in cache.
TILE = 256
# A tile's rows lie this many elements further apart than they are long: rows a power of two apart would fall on the
# same few lines of the first-level cache (measured: 6 times slower).
PADDING = 16


def transpose(scratch: Scratch, out: Array, source: Array) -> None:
    """out[c,r] = source[r,c], rounded to out's element type, tile by tile through scratch memory."""
    rows, columns = source.shape
    for row in range(0, rows, TILE):
        for column in range(0, columns, TILE):
            part = source[row : row + TILE, column : column + TILE]
            tile = scratch.take("tile", (part.shape[0], part.shape[1] + PADDING), out.dtype)[:, : part.shape[1]]
            np.copyto(tile, part, casting="unsafe")
            np.copyto(out[column : column + TILE, row : row + TILE], tile.T)


@meaning("layout.cu", "cgTokenToHead")
def token_to_head(
    context: HostContext, *, out: Array, out_t: Array | None, in_: Array, cg_heads: int, cg_head_width: int, **_: object
) -> None:
    """out[h,s,c] = in[s, h·headWidth + c] in half, and outT[h,c,s] the same where it is wanted."""
    tokens = in_.reshape(-1, cg_heads, cg_head_width)

    def move(scratch: Scratch, heads: Iterator[int]) -> None:
        for head in heads:
            np.copyto(out[head], tokens[:, head], casting="unsafe")
            if out_t is not None:
                transpose(scratch, out_t[head], out[head])

    context.share(cg_heads, move)


@meaning("layout.cu", "cgHeadTranspose")
def head_transpose(context: HostContext, *, out: Array, in_: Array, **_: object) -> None:
    """out[h,c,r] = in[h,r,c]."""

    def move(scratch: Scratch, heads: Iterator[int]) -> None:
        for head in heads:
            transpose(scratch, out[head], in_[head])

    context.share(out.shape[0], move)
