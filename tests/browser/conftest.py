"""One browser for all tests here; they skip themselves where there is none."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cgraph.view.html import html_text
from cgraph.view.model import View

Show = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    support = pytest.importorskip("tests.support.browser", reason="selenium is not installed")
    if support.CHROMIUM is None or support.DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    with support.open_browser() as opened:
        yield opened


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Shows a view at an address; at the end of the test nothing may have been complained of or asked for."""

    def shown(view: View, fragment: str = "") -> Any:
        page = tmp_path / "page.html"
        page.write_text(html_text(view), encoding="utf-8")
        browser.resize((1440, 900))
        browser.open(page, fragment)
        return browser

    yield shown
    assert browser.console() == []
    assert browser.requests() == []
