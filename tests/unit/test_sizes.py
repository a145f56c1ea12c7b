"""Files stay small enough to be read in one go: half below 180 lines, nine in ten below 300, none above 400."""

from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
# Files that may be longer than 400 lines, each with its reason.
REASONS: dict[str, str] = {}


def _lines_of_files(folder: str, pattern: str) -> dict[str, int]:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / folder).rglob(pattern)
    }
    return {name: count for name, count in lines.items() if count}


@pytest.mark.parametrize(
    ("folder", "pattern"), [("cgraph", "*.py"), ("tests", "*.py"), ("tools", "*.py"), ("kernels_cu", "*.cu*")]
)
def test_file_sizes(folder: str, pattern: str) -> None:
    lines = _lines_of_files(folder, pattern)
    if not lines:
        assert folder != "cgraph"
        return
    counts = sorted(lines.values())
    longest_of_nine_in_ten = counts[-(-9 * len(counts) // 10) - 1]
    assert median(counts) < 180
    assert longest_of_nine_in_ten < 300
    assert {name: count for name, count in lines.items() if count > 400 and name not in REASONS} == {}


def test_reasons_are_given_only_for_files_that_need_them() -> None:
    long = {
        name
        for folder in ("cgraph", "tests", "tools")
        for name, count in _lines_of_files(folder, "*.py").items()
        if count > 400
    }
    assert set(REASONS) <= long
