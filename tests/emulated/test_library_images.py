"""Every kernel of the library, executed as PTX by the emulated device, beside its meaning in NumPy.

Sizes are chosen where kernels go wrong: 1, odd ones, one less and one more than a tile, addresses that are aligned to
nothing. While a kernel runs, the sanitizer watches every access.
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
# Products of a sum are exact in f32; a sum of k of them, and of what follows, errs by no more than k + 16 roundings.
MOST_TERMS = 256
ATTENTION = ("cgImageAttention", "cgImageAttentionBackwardKeys", "cgImageAttentionBackwardQueries")


def _products() -> list[ImageCase]:
    sizes = [
        {"m": 1, "n": 1, "k": 1, "tile": 64},
        {"m": 65, "n": 70, "k": 33, "tile": 64},
        {"m": 40, "n": 136, "k": 72, "tile": 128},
        {"m": 63, "n": 63, "k": 31, "tile": 64},
        {"m": 127, "n": 129, "k": 31, "tile": 128},
    ]
    names = ("Data", "DataAdding", "Weight", "Forward", "ForwardAdding")
    aligned = [ImageCase(f"cgImageProduct{name}", size) for name in names for size in sizes]
    return [*aligned, *(ImageCase(f"cgImageProduct{name}", sizes[1], shift=1) for name in names), *_products_in_parts()]


def _products_in_parts() -> list[ImageCase]:
    # A step and a bit in two parts, five steps in three, and fewer steps than parts: some are 0.
    sizes = ((1, 1, 65, 1, 0), (70, 67, 300, 2, 0), (65, 8, 130, 3, 0), (9, 7, 200, 1, 1))
    parts = [
        ImageCase("cgImageProductWeightParts", {"m": m, "n": n, "k": k, "more": more}, shift=shift)
        for m, n, k, more, shift in sizes
    ]
    sums = [
        ImageCase("cgImageProductWeightSum", {"n": n, "count": count}, shift=shift)
        for n, count, shift in ((1, 1, 0), (300, 5, 0), (257, 2, 1))
    ]
    return [*parts, *sums]


def _element_wise() -> list[ImageCase]:
    images = ("cgImageAdd", "cgImageMultiply", "cgImageCastDown", "cgImageGatedGelu", "cgImageGatedGeluBackward")
    return [
        ImageCase(image, {"n": n}, shift=shift, ranges={"gate": (-12.0, 12.0)})
        for image in images
        for n, shift in ((1, 0), (1023, 0), (1025, 0), (1030, 0), (1030, 1))
    ]


def _norms() -> list[ImageCase]:
    cases = []
    for rows, width, shift in ((1, 1, 0), (5, 1028, 0), (15, 31, 0), (17, 33, 0), (40, 37, 1)):
        sizes = {"rows": rows, "width": width}
        cases.append(ImageCase("cgImageLayerNorm", {**sizes, "epsilon": 1e-5}, shift=shift))
        cases.append(
            ImageCase("cgImageLayerNormBackwardRows", sizes, shift=shift, ranges={"statistics": (0.5, 1.5)}),
        )
        cases.append(ImageCase("cgImageLayerNormBackwardSum", {"parts": rows, "width": width}, shift=shift))
    return cases


def _layouts() -> list[ImageCase]:
    cases = []
    for seq, heads, width, shift in ((1, 1, 2, 0), (31, 1, 30, 0), (37, 2, 20, 0), (70, 1, 34, 1)):
        parameters = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": width}
        cases += [
            ImageCase("cgImageTokenToHead", {}, parameters, shift),
            ImageCase("cgImageTokenToHead", {}, parameters, shift, left_out=("outT",)),
            ImageCase("cgImageHeadTranspose", {"rows": seq, "columns": width, "heads": heads}, {}, shift),
            ImageCase("cgImageRopeTable", {"rows": seq, "base": 10000.0}, parameters, shift),
            ImageCase("cgImageRope", {"rows": seq}, parameters, shift),
            ImageCase("cgImageInverseRope", {}, parameters, shift),
        ]
    return cases


def _attentions() -> list[ImageCase]:
    cases = []
    shapes = (
        (1, 1, 1, 1, 0),
        (63, 1, 15, 1, 0),
        (65, 1, 17, 0, 0),
        (70, 2, 7, 0, 0),
        (90, 1, 64, 1, 0),
        (67, 1, 100, 1, 1),
    )
    for seq, heads, width, causal, shift in shapes:
        sizes = {"seq": seq, "heads": heads, "headWidth": width}
        parameters = {"cgSeq": seq, "cgHeads": heads, "cgHeadWidth": width}
        # Probabilities below 1, as a softmax has them.
        ranges = {"statistics": (5.0, 6.0)}
        cases.append(ImageCase("cgImageAttentionRowDot", sizes, parameters, shift))
        cases += [ImageCase(image, {**sizes, "causal": causal}, parameters, shift, (), ranges) for image in ATTENTION]
    # A head that is narrower than the widest, and two fragments of rows for each warp.
    narrow = {"seq": 33, "heads": 1, "headWidth": 5, "causal": 1}
    cases.append(ImageCase("cgImageAttention", narrow, {"cgHeadWidth": 24}))
    cases.append(
        ImageCase("cgImageAttention", {**narrow, "seq": 150}, {"cgHeadWidth": 24, "cgSeq": 4096, "cgHeads": 8})
    )
    return cases


CASES = [*_products(), *_element_wise(), *_norms(), *_layouts(), *_attentions()]


@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.value)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_kernel_does_what_its_image_means(case: ImageCase, half: Element) -> None:
    emulated, host = run_case(case, half)
    assert emulated.keys() == host.keys()
    for name, expected in host.items():
        got, wanted = emulated[name].astype(np.float64), expected.astype(np.float64)
        assert np.isfinite(got).all(), name
        largest = np.abs(wanted).max()
        terms = MOST_TERMS * F32_ROUNDING
        if expected.dtype.itemsize == 2:
            # Two results on two sides of a boundary between halves differ by a whole step, twice the rounding.
            terms += 2.0 * ROUNDING[half]
        if case.image in ATTENTION:
            # Probabilities and their gradients are rounded to half as operands.
            terms += 2.0 * ROUNDING[half]
        assert np.abs(got - wanted).max() <= terms * largest, name


def test_every_image_of_the_library_is_tried() -> None:
    assert len({case.image for case in CASES}) == 24
