"""Names that try to break out of the page stay text."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.pages import chain_view
from tests.support.views import HOSTILE, hostile_view

Show = Callable[..., Any]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_hostile_names_show_in_every_view(show: Show, index: int) -> None:
    browser = show(hostile_view(HOSTILE[index]))
    for key in ("1", "2", "3", "4", "5"):
        browser.press(key)
    for fragment in ("command-1", "plane-0", "phase-0", "kernel-0", "line-0-1"):
        browser.script("location.hash = `select=${arguments[0]}`", fragment)
        browser.wait(f"location.hash.includes('{fragment}')")
        browser.frame()
        assert browser.text("#details h2") != ""
    # The page's own three scripts, and no image: nothing that a name could have made.
    assert len(browser.all("script")) == 3
    assert browser.all("img") == []


def test_long_names_are_cut_and_stand_in_full_in_a_box(show: Show) -> None:
    name = "k" * 20_000
    browser = show(chain_view((name, "b")), "select=command-0")
    assert len(browser.text("#details h2")) <= 90
    assert browser.text("#details .full") == name
    assert browser.script(
        "const {scrollWidth, clientWidth} = arguments[0]; return scrollWidth <= clientWidth", browser.one("#details")
    )


def test_right_to_left_marks_are_visible_and_change_nothing(show: Show) -> None:
    browser = show(chain_view(("\u202eabc", "b")), "select=command-0")
    assert browser.text("#details h2") == "\\u{202e}abc"
