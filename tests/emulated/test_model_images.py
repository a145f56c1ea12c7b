"""Every further kernel of whole models, executed as PTX by the emulated device, beside its meaning in NumPy.

As test_library_images.py: sizes of 1, odd ones, one more than a tile or a step, addresses that are aligned to nothing,
while the sanitizer watches every access. Where no result is rounded to half, one choice of half is enough.
"""

import numpy as np
import pytest

from cgraph.core.elements import Element
from tests.support.image_runs import ImageCase, run_case

pytestmark = pytest.mark.slow

HALVES = (Element.F16, Element.BF16)
# Half the distance between two neighbours, relative to a number: what rounding once may cost.
ROUNDING = {Element.F16: 2.0**-11, Element.BF16: 2.0**-8}
F32_ROUNDING = 2.0**-24
# A sum of k terms, and what is done before and behind it, errs by no more than k + 16 roundings; a thread sums no more
# than 240 terms.
MOST_ROUNDINGS = 256
ATTENTION = (
    "cgImageAttentionPadded",
    "cgImageAttentionPaddedBackwardKeys",
    "cgImageAttentionPaddedBackwardQueries",
)
WITH_HALF = (
    *ATTENTION,
    "cgImageBiasGelu",
    "cgImageBiasGeluBackward",
    "cgImageHeadsFromTokens",
    "cgImageTokensFromHeads",
)


def _embeddings() -> list[ImageCase]:
    cases = []
    for seq, batch, width, vocab, shift in ((1, 1, 1, 1, 0), (7, 3, 8, 5, 0), (37, 3, 131, 70, 1)):
        # One id below the table and one beyond it are drawn too.
        ids = {"ids": (-1, vocab)}
        sizes = {"seq": seq, "batch": batch, "width": width}
        forward = {**sizes, "vocab": vocab, "longest": seq + seq // 2}
        cases.append(ImageCase("cgImageEmbedding", forward, shift=shift, ranges=ids))
        cases.append(ImageCase("cgImageEmbeddingPositions", {**sizes, "longest": seq + 2}, shift=shift))
        tokens = {"rows": seq * batch, "width": width, "vocab": vocab}
        cases.append(ImageCase("cgImageEmbeddingTokens", tokens, shift=shift, ranges=ids))
    # More ids than a step has; the same of which a block has none; one token again and again; and no token at all.
    for rows, low, high in ((2090, -1, 39), (1030, 33, 38), (230, 2, 2), (40, -(2**31), -1)):
        tokens = {"rows": rows, "width": 5, "vocab": 39}
        cases.append(ImageCase("cgImageEmbeddingTokens", tokens, ranges={"ids": (low, high)}))
    return cases


def _biases() -> list[ImageCase]:
    cases = []
    for rows, n, shift in ((1, 1, 0), (9, 260, 0), (67, 37, 1), (70, 257, 0)):
        sizes = {"rows": rows, "n": n}
        cases += [ImageCase(f"cgImage{name}", sizes, shift=shift) for name in ("AddBias", "ColumnParts")]
        cases.append(ImageCase("cgImageColumnSum", {"blocks": rows, "n": n}, shift=shift))
        for erf in (0, 1):
            # Far enough out for both ends of the GELU.
            ranges = {"in": (-12.0, 12.0)}
            cases += [
                ImageCase(f"cgImage{name}", {**sizes, "erf": erf}, shift=shift, ranges=ranges)
                for name in ("BiasGelu", "BiasGeluBackward")
            ]
    return cases


def _heads() -> list[ImageCase]:
    cases = []
    for seq, heads, width, shift in ((1, 1, 1, 0), (37, 3, 20, 0), (70, 2, 35, 1)):
        sizes = {"seq": seq, "heads": heads, "headWidth": width}
        cases += [
            ImageCase("cgImageHeadsFromTokens", sizes, shift=shift, left_out=left_out)
            for left_out in ((), ("out",), ("outT",))
        ]
        cases.append(ImageCase("cgImageTokensFromHeads", sizes, shift=shift))
    return cases


def _losses() -> list[ImageCase]:
    cases = []
    for rows, vocab, shift in ((1, 1, 0), (5, 61, 0), (3, 1027, 1), (2, 2300, 0)):
        sizes = {"rows": rows, "vocab": vocab}
        ranges = {"targets": (-1, vocab), "mask": (0, 1), "count": (0, 3), "logits": (-40.0, 40.0), "scale": (8.0, 8.0)}
        for left_out in ((), ("mask",)):
            for image, numbers in (
                ("cgImageSupervisedCount", sizes),
                ("cgImageCrossEntropy", sizes),
                ("cgImageCrossEntropyLosses", sizes),
            ):
                cases.append(ImageCase(image, numbers, shift=shift, left_out=left_out, ranges=ranges))
    # Every row counts, exponentials that would overflow; and none does.
    everything = {"targets": (0, 69), "count": (9, 9), "logits": (-1e38, 1e38), "scale": (0.0, 0.0)}
    nothing = {**everything, "targets": (70, 80)}
    cases += [
        ImageCase("cgImageCrossEntropy", {"rows": 9, "vocab": 70}, left_out=("mask",), ranges=ranges)
        for ranges in (everything, nothing)
    ]
    cases += [
        ImageCase("cgImageSupervisedCount", {"rows": 700, "vocab": 5}, ranges={"targets": (-3, 7), "mask": (0, 2)})
    ]
    cases += [
        ImageCase("cgImageLossMean", {"rows": rows}, shift=shift, ranges={"count": (count, count)})
        for rows, shift, count in ((1, 0, 1), (1, 0, 0), (999, 1, 900))
    ]
    return cases


def _attentions() -> list[ImageCase]:
    cases = []
    # seq, batch, heads of a sequence, headWidth, causal, lowest and highest presence, shift
    for seq, batch, heads, width, causal, present, shift in (
        (1, 1, 1, 1, 0, (1, 1), 0),
        (1, 2, 1, 3, 1, (0, 0), 0),
        (70, 2, 1, 7, 0, (0, 1), 0),
        (67, 1, 2, 24, 1, (0, 1), 1),
        (90, 1, 1, 64, 1, (-1, 2), 0),
    ):
        numbers = {"seq": seq, "batch": batch, "heads": heads, "headWidth": width, "causal": causal}
        # Probabilities below 1, as a softmax has them.
        ranges = {"statistics": (5.0, 6.0), "present": present}
        parameters = {"cgHeads": heads, "cgHeadWidth": width}
        cases += [ImageCase(image, numbers, parameters, shift, (), ranges) for image in ATTENTION]
    return cases


CASES = [*_embeddings(), *_biases(), *_heads(), *_losses(), *_attentions()]
RUNS = [(case, half) for case in CASES for half in HALVES if case.image in WITH_HALF or half is Element.F16]


@pytest.mark.parametrize(("case", "half"), RUNS, ids=str)
def test_a_kernel_does_what_its_image_means(case: ImageCase, half: Element) -> None:
    emulated, host = run_case(case, half)
    assert emulated.keys() == host.keys()
    for name, expected in host.items():
        if expected.dtype.kind == "i":
            assert np.array_equal(emulated[name], expected), name
            continue
        got, wanted = emulated[name].astype(np.float64), expected.astype(np.float64)
        if case.image == "cgImageEmbedding":
            # Where the id is no token.
            assert np.array_equal(np.isnan(got), np.isnan(wanted)), name
            got, wanted = np.nan_to_num(got), np.nan_to_num(wanted)
        assert np.isfinite(got).all(), name
        largest = np.abs(wanted).max()
        terms = MOST_ROUNDINGS * F32_ROUNDING
        if expected.dtype.itemsize == 2:
            # Two results on two sides of a boundary between halves differ by a whole step, twice the rounding.
            terms += 2.0 * ROUNDING[half]
        if case.image in ATTENTION:
            # Probabilities and their gradients are rounded to half as operands.
            terms += 2.0 * ROUNDING[half]
        assert np.abs(got - wanted).max() <= terms * largest, name


IN_ORDER = ("cgImageEmbedding", "cgImageEmbeddingTokens", "cgImageEmbeddingPositions", "cgImageColumnParts")


@pytest.mark.parametrize("case", [case for case in CASES if case.image in IN_ORDER and case.shift], ids=str)
def test_sums_whose_order_is_declared_have_the_same_bits(case: ImageCase) -> None:
    emulated, host = run_case(case, Element.F16)
    for name, expected in host.items():
        assert np.array_equal(emulated[name], expected, equal_nan=True), name


def test_every_image_of_whole_models_is_tried() -> None:
    assert len({case.image for case in CASES}) == 17
