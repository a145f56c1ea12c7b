"""Sizes at which the kernels of whole models are tried: embeddings, biases, padded attention, cross entropy."""

from collections.abc import Iterator

from bounds import Rounding
from launches import Case

SUMMED_ROWS = 32  # cgSumRows


def embedding_cases(*, reduced: bool) -> Iterator[Case]:
    """Rows of the tables, and the tables' gradients, whose sums have as many terms as a token or position occurs."""
    sizes = [(7, 3, 37, 11, 9)] if reduced else [(1, 1, 1, 1, 1), (7, 3, 37, 11, 9), (512, 4, 768, 30_522, 512)]
    for seq, batch, width, vocab, longest in sizes:
        ids = {"ids": (0.0, vocab - 1.0)}
        numbers = {"seq": seq, "batch": batch, "width": width, "longest": longest}
        yield Case("cgImageEmbedding", {**numbers, "vocab": vocab}, Rounding(), ranges=ids)
        rows = seq * batch
        tokens = {"rows": rows, "width": width, "vocab": vocab}
        yield Case("cgImageEmbeddingTokens", tokens, Rounding(sums=(rows,)), ranges=ids)
        yield Case("cgImageEmbeddingPositions", numbers, Rounding(sums=(batch,)))


def bias_cases(*, reduced: bool) -> Iterator[Case]:
    """Biases, their gradients, and the GELU behind a bias in both forms."""
    sizes = [(70, 37, 1)] if reduced else [(1, 1, 0), (70, 37, 1), (130, 1028, 0), (2048, 4096, 0)]
    for rows, n, shift in sizes:
        numbers = {"rows": rows, "n": n}
        summed = Rounding(sums=(SUMMED_ROWS,))
        yield Case("cgImageAddBias", numbers, Rounding(), shift=shift)
        yield Case("cgImageColumnParts", numbers, summed, shift=shift)
        yield Case("cgImageColumnSum", {"blocks": rows, "n": n}, Rounding(sums=(rows,)), shift=shift)
        for erf in (0, 1):
            gelu = {**numbers, "erf": erf}
            yield Case("cgImageBiasGelu", gelu, Rounding(singles=30), shift=shift)
            yield Case("cgImageBiasGeluBackward", gelu, Rounding(singles=40, sums=(SUMMED_ROWS,)), shift=shift)


def padded_cases(*, reduced: bool) -> Iterator[Case]:
    """Layouts of any number of heads, and attention over sequences in which half of the tokens are absent."""
    sizes = [(70, 2, 2, 20, 1, 0)]
    if not reduced:
        sizes += [(1, 1, 1, 1, 1, 0), (129, 2, 3, 40, 0, 1), (512, 4, 12, 64, 0, 0)]
    for seq, batch, heads, width, causal, shift in sizes:
        of_heads = {"seq": seq, "heads": heads, "headWidth": width}
        yield Case("cgImageHeadsFromTokens", of_heads, Rounding(singles=0), shift=shift)
        yield Case("cgImageTokensFromHeads", of_heads, Rounding(singles=0), shift=shift)
        numbers = {**of_heads, "batch": batch, "causal": causal}
        parameters = {"cgHeadWidth": width}
        ranges = {"present": (0.0, 1.0), "statistics": (5.0, 6.0)}
        forward = Rounding(halves=1, singles=60, sums=(seq,), tensor=(width, seq))
        yield Case("cgImageAttentionPadded", numbers, forward, parameters, shift, ranges=ranges)
        backward = Rounding(halves=2, singles=80, sums=(seq,), tensor=(width, width, seq))
        for side in ("Keys", "Queries"):
            yield Case(f"cgImageAttentionPaddedBackward{side}", numbers, backward, parameters, shift, ranges=ranges)


def loss_cases(*, reduced: bool) -> Iterator[Case]:
    """Cross entropy, with targets outside the vocabulary and rows that are masked."""
    sizes = [(37, 301, 1)] if reduced else [(1, 1, 0), (37, 301, 1), (300, 1000, 0), (512, 30_522, 0)]
    for rows, vocab, shift in sizes:
        ranges = {"targets": (-1.0, float(vocab)), "mask": (0.0, 1.0), "count": (7.0, 7.0)}
        ranges |= {"losses": (0.5, 3.0), "scale": (0.5, 0.5)}
        numbers = {"rows": rows, "vocab": vocab}
        exponentials = Rounding(singles=60, sums=(vocab,))
        yield Case("cgImageSupervisedCount", numbers, Rounding(moved=True), shift=shift, ranges=ranges)
        for left_out in ((), ("mask",)):
            yield Case("cgImageCrossEntropy", numbers, exponentials, {}, shift, left_out, ranges)
            yield Case("cgImageCrossEntropyLosses", numbers, exponentials, {}, shift, left_out, ranges)
        yield Case("cgImageLossMean", {"rows": rows}, Rounding(sums=(rows,)), shift=shift, ranges=ranges)
