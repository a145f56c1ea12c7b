"""The kernels of a training step, executed as PTX by the emulated device, beside their meanings in NumPy.

Sizes of 1, odd ones, below and above a block and a part, addresses that are aligned to nothing; the sanitizer watches.
No result is rounded to half, so one choice of half is enough.
"""

import numpy as np
import pytest

from cgraph.core.elements import Element
from tests.support.image_runs import ImageCase, run_case

pytestmark = pytest.mark.slow

# A value has gone through at most about twenty roundings to f32.
MOST_ROUNDINGS = 32
F32_ROUNDING = 2.0**-24
CONTROLS = {"control": (0.01, 0.9)}
APPLIED, SKIPPED = {"update": (1.0, 1.0)}, {"update": (0.0, 0.0)}


def _cases() -> list[ImageCase]:
    cases = [
        ImageCase("cgImageSquareParts", {"n": n, "blocks": blocks}, shift=shift)
        for n, blocks, shift in (
            (1, 1, 0),
            (3, 1, 1),
            (1023, 1, 0),
            (4099, 2, 0),
            (4099, 2, 1),
            (2050, 3, 0),
            (5, 7, 0),
        )
    ]
    for n, shift in ((1, 0), (255, 1), (1023, 0), (1024, 0), (1029, 0), (1029, 1)):
        for update in (APPLIED, SKIPPED):
            ranges = {**CONTROLS, **update, "moment2": (0.0, 2.0)}
            cases.append(ImageCase("cgImageDescent", {"n": n}, shift=shift, ranges=ranges))
            cases += [
                ImageCase("cgImageAdamW", {"n": n, "decays": decays}, shift=shift, ranges=ranges) for decays in (0, 1)
            ]
    for count, microbatches, squares, done in (
        (1, 1, 9.0, 0),
        (255, 3, 1.0, 1),
        (257, 300, 0.0, 41),
        (40, 1, np.inf, 2**31 - 2),
        (700, 2, 1e300, 2**31 - 1),
        (2, 1, np.nan, 6),
    ):
        ranges = {"parts": (squares, squares), "progress": (done, done), "control": (0.5, 0.9), "scale": (0.0, 9.0)}
        numbers = {"count": count, "microbatches": microbatches}
        cases.append(ImageCase("cgImageStepControl", numbers, ranges=ranges))
        # The scale grows and the norm is clipped; it has never been set.
        ranges = {**ranges, "control": (40.0, 41.0), "scale": (0.0, 0.0)}
        cases.append(ImageCase("cgImageStepControl", numbers, shift=1, ranges=ranges))
    return cases


CASES = _cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_kernel_does_what_its_image_means(case: ImageCase) -> None:
    with np.errstate(all="ignore"):
        emulated, host = run_case(case, Element.F16)
    assert emulated.keys() == host.keys()
    for name, expected in host.items():
        if expected.dtype.kind == "i":
            assert np.array_equal(emulated[name], expected), name
            continue
        got, wanted = emulated[name].astype(np.float64), expected.astype(np.float64)
        assert np.array_equal(np.isfinite(got), np.isfinite(wanted)), name
        got, wanted = np.nan_to_num(got, posinf=0, neginf=0), np.nan_to_num(wanted, posinf=0, neginf=0)
        rounding = 2.0**-53 * case.numbers["n"] if expected.dtype.itemsize == 8 else MOST_ROUNDINGS * F32_ROUNDING
        # The five numbers of an update are no vector: each has its own size.
        size = np.abs(wanted) if name == "update" else np.abs(wanted).max()
        assert np.all(np.abs(got - wanted) <= rounding * size), name


@pytest.mark.parametrize("image", ["cgImageAdamW", "cgImageDescent"])
def test_a_skipped_update_leaves_the_bits(image: str) -> None:
    numbers = {"n": 1030, **({"decays": 1} if image == "cgImageAdamW" else {})}
    emulated, host = run_case(ImageCase(image, numbers, ranges={**CONTROLS, **SKIPPED}), Element.F16)
    for name, expected in host.items():
        assert emulated[name].tobytes() == expected.tobytes(), name


def test_every_image_of_training_is_tried() -> None:
    assert len({case.image for case in CASES}) == 4
