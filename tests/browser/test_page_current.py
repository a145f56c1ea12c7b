"""The shipped page is what its sources build."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_current", ROOT / "tools" / "viewer" / "check_current.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_carries_the_hash_of_its_sources(checker: ModuleType) -> None:
    page = checker.PAGE.read_text(encoding="utf-8")
    assert checker.recorded_hash(page) == checker.sources_hash()


def test_a_changed_source_changes_the_hash(checker: ModuleType, tmp_path: Path) -> None:
    copy = tmp_path / "viewer"
    shutil.copytree(checker.FOLDER, copy, ignore=shutil.ignore_patterns("node_modules"))
    assert checker.sources_hash(copy) == checker.sources_hash()
    source = copy / "src" / "main.ts"
    source.write_text(source.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
    assert checker.sources_hash(copy) != checker.sources_hash()


def test_building_again_gives_the_same_bytes(checker: ModuleType) -> None:
    if not checker.can_build():
        pytest.skip("node or the page's packages are not installed (npm ci in tools/viewer)")
    assert checker.build() == checker.PAGE.read_bytes()


def test_the_page_asks_for_nothing_and_allows_only_its_own_script(checker: ModuleType) -> None:
    page = checker.PAGE.read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'sha256-" in page
    assert "unsafe" not in page.split("</head>", 1)[0].split("<style>", 1)[0]
    for element in (' src="', '<link rel="stylesheet', "@import", "url("):
        assert element not in page
