"""Which PTX a driver reads, and which a text is.

Source: Parallel Thread Execution ISA, "Release Notes", the table of PTX versions and the drivers that brought them.
"""

import re

_VERSION = re.compile(rb"^[ \t]*\.version[ \t]+(\d{1,3})\.(\d{1,3})", re.MULTILINE)

# CUDA version of the driver as cuDriverGetVersion gives it (1000 · major + 10 · minor), and the PTX that came with it.
DRIVERS = (
    (11000, (7, 0)),
    (11010, (7, 1)),
    (11020, (7, 2)),
    (11030, (7, 3)),
    (11040, (7, 4)),
    (11050, (7, 5)),
    (11060, (7, 6)),
    (11070, (7, 7)),
    (11080, (7, 8)),
    (12000, (8, 0)),
    (12010, (8, 1)),
    (12020, (8, 2)),
    (12030, (8, 3)),
    (12040, (8, 4)),
    (12050, (8, 5)),
    (12070, (8, 6)),
    (12080, (8, 7)),
    (12090, (8, 8)),
    (13000, (9, 0)),
    (13010, (9, 1)),
    (13020, (9, 2)),
    (13030, (9, 3)),
    (13040, (9, 4)),
    (13050, (9, 5)),
)


def newest_ptx(driver_version: int) -> tuple[int, int]:
    """The newest PTX that a driver reads; it reads all older ones too. Drivers beyond the table read at least its last.

    Args:
        driver_version: as cuDriverGetVersion gives it, e.g. 13000. (0, 0) for one older than the table.
    """
    return max((ptx for first, ptx in DRIVERS if first <= driver_version), default=(0, 0))


def stated_version(ptx: bytes) -> tuple[int, int] | None:
    """The version that a text of PTX states; None where it states none."""
    found = _VERSION.search(ptx)
    return None if found is None else (int(found[1]), int(found[2]))
