"""Sizes at which each kernel of the library is tried, and the roundings that it makes there.

The small sizes are those where kernels go wrong: 1, odd ones, one more than a tile, addresses aligned to nothing. The
large ones fill a GPU. Reduced, only one or two small ones are left.
"""

from collections.abc import Callable, Iterator

from bounds import Rounding
from cases_geglu import batch_rope_cases, tied_cases
from cases_models import bias_cases, embedding_cases, loss_cases, padded_cases
from cases_training import optimizer_cases
from launches import Case

PRODUCTS = ("Data", "DataAdding", "Weight", "Forward", "ForwardAdding")
ATTENTION_BACKWARD = ("Keys", "Queries")


def product_cases(*, reduced: bool) -> Iterator[Case]:
    """Products: one term; odd sizes for both tiles; sums of a thousand terms."""
    sizes = [(65, 70, 33, 64, 0)]
    if not reduced:
        sizes += [(1, 1, 1, 64, 0), (65, 70, 33, 64, 1), (127, 129, 77, 128, 0), (1000, 777, 513, 64, 0)]
        sizes += [(2048, 3072, 1024, 128, 0), (4096, 1024, 4096, 128, 0)]
    for kind in PRODUCTS:
        for m, n, k, tile, shift in sizes:
            numbers = {"m": m, "n": n, "k": k, "tile": tile}
            rounding = Rounding(singles=2, sums=(k,), tensor=(k,))
            yield Case(f"cgImageProduct{kind}", numbers, rounding, shift=shift)
    parts = [(65, 70, 200, 3, 1)] if reduced else [(65, 70, 200, 3, 1), (100, 130, 1000, 1, 0), (512, 512, 4096, 7, 0)]
    for m, n, k, more, shift in parts:
        numbers = {"m": m, "n": n, "k": k, "more": more}
        rounding = Rounding(singles=2, sums=(k,), tensor=(k,))
        yield Case("cgImageProductWeightParts", numbers, rounding, shift=shift)
        summed = Rounding(singles=2, sums=(more,))
        yield Case("cgImageProductWeightSum", {"n": m * n, "count": more}, summed, shift=shift)


def elementwise_cases(*, reduced: bool) -> Iterator[Case]:
    """Sums, products, casts and the gated GELU."""
    sizes = [(1030, 1)] if reduced else [(1, 0), (1023, 1), (1030, 0), (4_000_019, 0), (4_000_019, 1)]
    singles = {"Add": 1, "Multiply": 1, "CastDown": 0, "GatedGelu": 16, "GatedGeluBackward": 30}
    for kind, count in singles.items():
        for n, shift in sizes:
            yield Case(f"cgImage{kind}", {"n": n}, Rounding(singles=count), shift=shift)


def norm_cases(*, reduced: bool) -> Iterator[Case]:
    """The layer norm and its gradient in two launches."""
    sizes = [(40, 37, 1)] if reduced else [(1, 1, 0), (40, 37, 1), (5, 1028, 0), (257, 1001, 0), (2048, 4096, 0)]
    for rows, width, shift in sizes:
        numbers = {"rows": rows, "width": width}
        yield Case("cgImageLayerNorm", {**numbers, "epsilon": 1e-5}, Rounding(singles=10, sums=(width,)), shift=shift)
        yield Case(
            "cgImageLayerNormBackwardRows",
            numbers,
            Rounding(singles=12, sums=(width, width, 32)),
            shift=shift,
            ranges={"statistics": (0.5, 1.5)},
        )
        parts = {"parts": rows, "width": width}
        yield Case("cgImageLayerNormBackwardSum", parts, Rounding(sums=(rows,)), shift=shift)


def layout_cases(*, reduced: bool) -> Iterator[Case]:
    """Layouts of heads and RoPE."""
    sizes = [(37, 2, 20, 1)] if reduced else [(1, 1, 2, 0), (37, 2, 20, 1), (70, 3, 34, 0), (4096, 16, 64, 0)]
    for seq, heads, width, shift in sizes:
        parameters = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": width}
        cast = Rounding(singles=0)
        yield Case("cgImageTokenToHead", {}, cast, parameters, shift)
        yield Case("cgImageTokenToHead", {}, cast, parameters, shift, ("outT",))
        transposed = {"rows": seq, "columns": width, "heads": heads}
        yield Case("cgImageHeadTranspose", transposed, Rounding(moved=True), {}, shift)
        yield Case("cgImageRopeTable", {"rows": seq, "base": 10000.0}, Rounding(singles=1), parameters, shift)
        angles = {"cosine": (-1.0, 1.0), "sine": (-1.0, 1.0)}
        yield Case("cgImageRope", {"rows": seq}, Rounding(singles=3), parameters, shift, ranges=angles)
        yield Case("cgImageInverseRope", {}, Rounding(singles=3), parameters, shift, ranges=angles)


def attention_cases(*, reduced: bool) -> Iterator[Case]:
    """Streaming attention, forward and backward: scores, probabilities and their gradients are rounded on the way.

    The statistics are drawn such that probabilities lie below 1, as those of a softmax do.
    """
    sizes = [(70, 2, 20, 1, 0)]
    if not reduced:
        sizes = [(1, 1, 1, 1, 0), (70, 2, 20, 1, 1), (129, 3, 40, 0, 0), (1000, 2, 64, 1, 0), (2048, 16, 128, 1, 0)]
        sizes += [(2048, 8, 64, 0, 0)]
    for seq, heads, width, causal, shift in sizes:
        numbers = {"seq": seq, "heads": heads, "headWidth": width}
        parameters = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": width}
        ranges = {"statistics": (5.0, 6.0)}
        yield Case("cgImageAttentionRowDot", numbers, Rounding(sums=(width,)), parameters, shift)
        numbers = {**numbers, "causal": causal}
        forward = Rounding(halves=1, singles=60, sums=(seq,), tensor=(width, seq))
        yield Case("cgImageAttention", numbers, forward, parameters, shift)
        backward = Rounding(halves=2, singles=80, sums=(seq,), tensor=(width, width, seq))
        for side in ATTENTION_BACKWARD:
            yield Case(f"cgImageAttentionBackward{side}", numbers, backward, parameters, shift, ranges=ranges)


FAMILIES: dict[str, Callable[..., Iterator[Case]]] = {
    "products": product_cases,
    "element-wise": elementwise_cases,
    "norms": norm_cases,
    "layouts and RoPE": layout_cases,
    "attention": attention_cases,
    "embeddings": embedding_cases,
    "biases": bias_cases,
    "padded attention": padded_cases,
    "cross entropy": loss_cases,
    "optimizers": optimizer_cases,
    "RoPE of a batch": batch_rope_cases,
    "tied embeddings": tied_cases,
}
