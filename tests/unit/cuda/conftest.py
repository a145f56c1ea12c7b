from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def kernel_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("CGRAPH_CACHE", str(directory))
    return directory
