"""Layouts of any number of heads: [seq, heads, headWidth] tokens, [heads, seq, headWidth] heads, and transposed heads.

A batch of sequences whose tokens lie position by position has batch · heads heads, and these are its layouts too.
"""

from collections.abc import Iterator

import numpy as np

from cgraph.images.context import Array, HostContext, Scratch
from cgraph.images.layout import transpose
from cgraph.images.registry import meaning


@meaning("heads.cu", "cgHeadsFromTokens")
def heads_from_tokens(context: HostContext, *, out: Array | None, out_t: Array | None, in_: Array, **_: object) -> None:
    """out[h,s,c] = in[s,h,c] in half, and outT[h,c,s] the same; each where it is wanted."""

    def move(scratch: Scratch, numbers: Iterator[int]) -> None:
        for head in numbers:
            if out is not None:
                np.copyto(out[head], in_[:, head], casting="unsafe")
            if out_t is not None:
                transpose(scratch, out_t[head], in_[:, head])

    context.share(in_.shape[1], move)


@meaning("heads.cu", "cgTokensFromHeads")
def tokens_from_heads(context: HostContext, *, out_half: Array, in_: Array, **_: object) -> None:
    """outHalf[s,h,c] = in[h,s,c] in half."""

    def move(_scratch: Scratch, numbers: Iterator[int]) -> None:
        for head in numbers:
            np.copyto(out_half[:, head], in_[head], casting="unsafe")

    context.share(in_.shape[0], move)
