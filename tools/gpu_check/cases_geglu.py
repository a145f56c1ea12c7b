"""Sizes at which the kernels of a language model of gated layers are tried: RoPE of a batch, a tied table."""

from collections.abc import Iterator

from bounds import Rounding
from launches import Case


def batch_rope_cases(*, reduced: bool) -> Iterator[Case]:
    """RoPE of several sequences, there and back."""
    sizes = [(37, 3, 2, 20, 1)]
    if not reduced:
        sizes += [(1, 1, 1, 2, 0), (70, 2, 3, 34, 0), (33, 5, 1, 6, 1), (1024, 8, 12, 64, 0)]
    for seq, batch, heads, width, shift in sizes:
        parameters = {"cgHeads": heads, "cgHeadWidth": width}
        numbers = {"seq": seq, "batch": batch}
        angles = {"cosine": (-1.0, 1.0), "sine": (-1.0, 1.0)}
        yield Case("cgImageBatchRope", numbers, Rounding(singles=3), parameters, shift, ranges=angles)
        yield Case("cgImageBatchInverseRope", numbers, Rounding(singles=3), parameters, shift, ranges=angles)


def tied_cases(*, reduced: bool) -> Iterator[Case]:
    """Rows of a table, and their gradient on top of what another use of the table has left."""
    sizes = (
        [(21, 37, 11, 1)] if reduced else [(1, 1, 1, 0), (21, 37, 11, 1), (1100, 132, 97, 0), (8192, 768, 30_522, 0)]
    )
    for rows, width, vocab, shift in sizes:
        numbers = {"rows": rows, "width": width, "vocab": vocab}
        ids = {"ids": (0.0, vocab - 1.0)}
        yield Case("cgImageTokenEmbedding", numbers, Rounding(moved=True), shift=shift, ranges=ids)
        yield Case("cgImageEmbeddingTokensAdding", numbers, Rounding(sums=(rows,)), shift=shift, ranges=ids)
