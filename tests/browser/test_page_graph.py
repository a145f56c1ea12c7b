"""The graph view, selection, search and filters of the page."""

from collections.abc import Callable
from typing import Any

import pytest

from cgraph.view.dumps.limits import MOST_COMMANDS
from cgraph.view.model import ViewPhase
from tests.support.pages import PLANE_BYTES, chain_view, dump_view, long_view, switch_view, wide_view

Show = Callable[..., Any]
pytestmark = pytest.mark.slow

PHASES = (
    ViewPhase("outer", "outer part", None),
    ViewPhase("first", "first half", 0),
    ViewPhase("second", "second half", 0),
)
ENTER, ESCAPE, DOWN = "\ue007", "\ue00c", "\ue015"  # as WebDriver names these keys
FOUR = ("load", "multiply", "add", "store")


def four_commands() -> Any:
    return chain_view(FOUR, PHASES, (1, 1, 2, 2))


def selected(browser: Any) -> str:
    return str(browser.text("#details h2"))


def test_small_graphs_open_in_full(show: Show) -> None:
    browser = show(four_commands())
    assert browser.canvas("graph")["boxes"] == str(len(FOUR) + len(PHASES))
    assert browser.driver.title == "chain.cg · cgraph"


def test_boxes_close_and_open(show: Show) -> None:
    browser = show(four_commands())
    browser.press("c")
    assert browser.canvas("graph")["boxes"] == "1"
    browser.click("[data-key='phase-0']")
    browser.press("o")
    assert browser.canvas("graph")["boxes"] == "3"
    browser.press("e")
    assert browser.canvas("graph")["boxes"] == "7"


def test_a_click_on_the_canvas_selects_what_is_there(show: Show) -> None:
    browser = show(chain_view(("only",)))
    browser.click("#view-graph canvas")
    assert selected(browser) == "only"


def test_a_command_shows_its_edges_and_the_bytes_behind_them(show: Show) -> None:
    browser = show(four_commands(), "select=command-1")
    details = browser.text("#details")
    assert "Waits for 1" in details
    assert f"reads what it wrote: plane0, all {PLANE_BYTES // 1024}.00 KiB" in details
    browser.click("#details [data-command='0']")
    assert selected(browser) == "load"
    assert "It can start at once." in browser.text("#details")


def test_a_plane_lights_its_writer_and_reader_also_in_closed_boxes(show: Show) -> None:
    browser = show(four_commands(), "select=plane-1")
    assert browser.canvas("graph")["lit"] == "2"
    assert "2 uses: 1 write, 1 read" in browser.text("#details")
    browser.press("c")
    assert browser.canvas("graph")["lit"] == "1"


def test_search_finds_commands_planes_phases(show: Show) -> None:
    browser = show(four_commands())
    browser.search("second")
    assert [row.get_attribute("data-key") for row in browser.all(".outline .row[role=option]")] == ["phase-2"]
    browser.search("plane3")
    keys = [row.get_attribute("data-key") for row in browser.all(".outline .row[role=option]")]
    assert keys == ["plane-3", "command-3"]
    browser.search("no such thing")
    assert browser.text(".outline .rows") == "Nothing found"


def test_search_is_left_with_enter_and_its_results_are_walked_with_keys(show: Show) -> None:
    browser = show(four_commands())
    browser.search("add")
    browser.one("input[type=search]").send_keys(ENTER)
    listed = browser.one(".outline .list")
    assert browser.script("return document.activeElement === arguments[0]", listed)
    listed.send_keys(DOWN)
    listed.send_keys(ENTER)
    browser.frame()
    assert selected(browser) == "add"


def test_a_filter_leaves_out_what_it_does_not_name(show: Show) -> None:
    browser = show(four_commands(), "select=phase-2")
    browser.click("#only")
    assert "only second half" in browser.text("#filter")
    browser.click("#tab-program")
    keys = [row.get_attribute("data-key") for row in browser.all(".outline .row")]
    assert keys == ["command-2", "command-3"]
    browser.click("#filter")
    assert len(browser.all(".outline .row")) == 4


def test_levels_say_what_can_run_at_once(show: Show) -> None:
    browser = show(four_commands())
    browser.click("#tab-program")
    browser.click(".sub button:last-child")
    headings = [row.text for row in browser.all(".outline .row.heading")]
    assert headings == ["step 1", "step 2", "step 3", "step 4"]


def test_keys_walk_the_program_and_the_address_keeps_the_place(show: Show) -> None:
    browser = show(four_commands())
    browser.press("j", "j")
    assert selected(browser) == "multiply"
    browser.press("]")
    assert selected(browser) == "add"
    browser.press("u")
    assert selected(browser) == "second half"
    assert browser.script("return location.hash") == "#select=phase-2"
    browser.press(ESCAPE)
    assert browser.script("return location.hash") == ""


def test_an_address_of_something_that_does_not_exist_selects_nothing(show: Show) -> None:
    browser = show(four_commands(), "select=plane-99&view=nowhere&only=phase--1")
    assert selected(browser) == "chain.cg"


def test_help_lists_the_keys_and_licences(show: Show) -> None:
    browser = show(four_commands())
    browser.press("?")
    text = browser.text("#help")
    assert "next and previous command in program order" in text
    assert "Permission is hereby granted" in text
    browser.click("#help .close")


def test_dumps_fold_rows_and_show_empty_bodies_and_flags(show: Show) -> None:
    browser = show(dump_view())
    # Four boxes of phases, the row as one box, and allocate, while, in the body, call, in the child.
    assert browser.canvas("graph")["boxes"] == str(4 + 1 + 5)
    browser.click("[data-key='phase-3']")
    assert "A box without commands" in browser.text("#details")
    assert "the dump shows no commands" in browser.text("#details")
    browser.click("#tab-notes")
    assert "an allocation is never freed" in browser.text(".outline .rows")
    assert "line 12" in browser.text(".outline .rows")
    assert "never freed" in browser.text(".outline .rows")
    browser.press("e")
    assert browser.canvas("graph")["boxes"] == str(4 + 1 + 17)


def test_branches_stand_from_left_to_right(show: Show) -> None:
    browser = show(switch_view())
    found: dict[str, list[float]] = {"0": [], "1": [], "2": []}
    for right in range(5, 100, 5):
        browser.click_at("#view-graph canvas", right / 100, 0.58)
        if selected(browser)[-1] in found:
            found[selected(browser)[-1]].append(right)
    first, second, third = found.values()
    assert max(first) < min(second)
    assert max(second) < min(third)


def test_of_the_branches_of_a_command_one_runs(show: Show) -> None:
    browser = show(switch_view())
    assert "most at once2 commands" in browser.text("#details")
    assert "longest chain4 commands" in browser.text("#details")
    browser.click("#tab-program")
    browser.click(".sub button:last-child")
    headings = [row.text for row in browser.all(".outline .row.heading")]
    assert headings == ["step 1", "step 2", "step 3: 2 at once", "step 4"]


@pytest.mark.parametrize("waiting", [False, True])
def test_as_many_commands_as_a_dump_may_have(show: Show, waiting: bool) -> None:
    browser = show(long_view(MOST_COMMANDS, waiting=waiting))
    assert f"longest chain{MOST_COMMANDS if waiting else 1:,} command" in browser.text("#details")
    browser.press("e")
    assert 1 < int(browser.canvas("graph")["boxes"]) < 5000
    browser.search("empty")
    assert f"Commands ({MOST_COMMANDS})" in browser.text(".outline .rows")
    assert len(browser.all(".outline .row")) < 200


def test_five_thousand_commands_are_laid_out_only_where_they_are_opened(show: Show) -> None:
    browser = show(wide_view(5000))
    assert browser.canvas("graph")["boxes"] == "1"
    browser.click("[data-key='phase-0']")
    browser.press("o")
    first = int(browser.canvas("graph")["boxes"])
    assert 1 < first < 70
    browser.press("e")
    assert first < int(browser.canvas("graph")["boxes"]) < 5000
    browser.click("#tab-program")
    assert len(browser.all(".outline .row")) < 200
    browser.search("command4999")
    browser.click(".outline [data-key='command-4999']")
    assert selected(browser) == "command4999"
