"""Expected values by hand from the limits of the CUDA C++ Programming Guide."""

import pytest

from cgraph.backends.cuda.entries import Resources
from cgraph.backends.cuda.occupancy import Occupancy, occupancy


@pytest.mark.parametrize(
    ("architecture", "registers", "static", "threads", "dynamic", "blocks", "share"),
    [
        # 2,048 threads: 8 blocks of 256.
        ("sm_80", 32, 0, 256, 0, 8, 1.0),
        # 33 registers take 1,280 of each warp: 12 warps in a fourth of the registers, 48 in all.
        ("sm_80", 33, 0, 256, 0, 6, 0.75),
        # 255 registers take 8,192 of each warp: 2 warps in a fourth.
        ("sm_90", 255, 0, 128, 0, 2, 0.125),
        # 48 KiB and 1 KiB for the system: 3 in 164 KiB, 4 in 228 KiB, 2 in 100 KiB.
        ("sm_80", 32, 49152, 128, 0, 3, 0.1875),
        ("sm_90", 32, 0, 128, 49152, 4, 0.25),
        ("sm_86", 32, 24576, 128, 24576, 2, 8 / 48),
        # 32 blocks at most, of one warp each; a warp of 20 threads counts as a whole one.
        ("sm_80", 16, 0, 20, 0, 32, 0.5),
        ("sm_89", 16, 0, 32, 0, 24, 0.5),
        # 1,024 threads with 96 registers do not fit at all.
        ("sm_80", 96, 0, 1024, 0, 0, 0.0),
    ],
)
def test_occupancy(
    architecture: str, registers: int, static: int, threads: int, dynamic: int, blocks: int, share: float
) -> None:
    resources = Resources(registers, static, 0, 0, 0)
    assert occupancy(architecture, resources, threads, dynamic) == Occupancy(blocks, share)


def test_the_feature_set_of_an_architecture_does_not_matter() -> None:
    resources = Resources(64, 1024, 0, 0, 0)
    assert occupancy("sm_90a", resources, 128, 0) == occupancy("sm_90", resources, 128, 0)


def test_an_unknown_architecture_has_none() -> None:
    assert occupancy("sm_999", Resources(32, 0, 0, 0, 0), 128, 0) is None
