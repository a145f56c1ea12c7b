"""The kernels of a language model of gated layers, executed as PTX by the emulated device, beside their meanings.

As test_library_images.py: sizes of 1, odd ones, one more than a tile or a step, addresses that are aligned to nothing,
while the sanitizer watches every access.
"""

import numpy as np
import pytest

from cgraph.core.elements import Element
from tests.support.image_runs import ImageCase, run_case

pytestmark = pytest.mark.slow

HALVES = (Element.F16, Element.BF16)
# Half the distance between two neighbours, relative to a number: what rounding once may cost.
ROUNDING = {Element.F16: 2.0**-11, Element.BF16: 2.0**-8}
# Two products and their sum, each rounded once.
F32_ROUNDINGS = 3 * 2.0**-24


def _ropes() -> list[ImageCase]:
    cases = []
    for seq, batch, heads, width, shift in ((1, 1, 1, 2, 0), (31, 2, 1, 30, 0), (33, 3, 2, 20, 0), (37, 1, 3, 34, 1)):
        sizes, parameters = {"seq": seq, "batch": batch}, {"cgHeads": heads, "cgHeadWidth": width}
        cases += [
            ImageCase(image, sizes, parameters, shift) for image in ("cgImageBatchRope", "cgImageBatchInverseRope")
        ]
    return cases


def _embeddings() -> list[ImageCase]:
    cases = []
    for rows, width, vocab, shift in ((1, 1, 1, 0), (21, 8, 5, 0), (111, 131, 70, 1)):
        sizes = {"rows": rows, "width": width, "vocab": vocab}
        # One id below the table and one beyond it are drawn too.
        ids = {"ids": (-1, vocab)}
        cases += [
            ImageCase(image, sizes, shift=shift, ranges=ids)
            for image in ("cgImageTokenEmbedding", "cgImageEmbeddingTokensAdding")
        ]
    # More ids than a step has; the same of which a block has none; one token again and again; and no token at all.
    for rows, low, high in ((2090, -1, 39), (1030, 33, 38), (230, 2, 2), (40, -(2**31), -1)):
        sizes = {"rows": rows, "width": 5, "vocab": 39}
        cases.append(ImageCase("cgImageEmbeddingTokensAdding", sizes, ranges={"ids": (low, high)}))
    return cases


@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.value)
@pytest.mark.parametrize("case", _ropes(), ids=str)
def test_rope_of_a_batch(case: ImageCase, half: Element) -> None:
    emulated, host = run_case(case, half)
    assert emulated.keys() == host.keys()
    for name, expected in host.items():
        got, wanted = emulated[name].astype(np.float64), expected.astype(np.float64)
        assert np.isfinite(got).all(), name
        # Two results on two sides of a boundary between halves differ by a whole step, twice the rounding.
        terms = F32_ROUNDINGS + 2.0 * ROUNDING[half]
        assert np.abs(got - wanted).max() <= terms * np.abs(wanted).max(), name


@pytest.mark.parametrize("case", _embeddings(), ids=str)
def test_embeddings_have_the_same_bits(case: ImageCase) -> None:
    emulated, host = run_case(case, Element.F16)
    assert emulated.keys() == host.keys()
    for name, expected in host.items():
        assert np.array_equal(emulated[name], expected, equal_nan=True), name
