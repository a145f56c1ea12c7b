"""The other views of the page: memory, time, costs, source, comparison; themes and print."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from cgraph.pipeline import compile_program
from cgraph.source import Source
from cgraph.view.comparison import compare_views
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View
from tests.support.pages import chain_view

Show = Callable[..., Any]
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAMES = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def layer() -> View:
    path = ROOT / "programs" / "layer_backward.cg"
    compiled = compile_program(Source(str(path), path.read_text(encoding="utf-8")), {"cgLayers": 1})
    return view_of_graph(compiled.graph, compiled.schedule, compiled.plan, title="layer_backward.cg")


def test_memory_draws_every_plane_and_says_who_shares_bytes(show: Show) -> None:
    browser = show(chain_view(NAMES), "view=memory&select=plane-0")
    assert browser.canvas("memory")["blocks"] == "4"
    assert "arena 2.00 KiB" in browser.text("#view-memory .facts-line")
    assert "2.00 KiB (reached)" in browser.text("#view-memory .facts-line")
    details = browser.text("#details")
    assert "from command 1 to 2 of 4" in details
    assert "Shares bytes, at other times, with 1 plane" in details
    assert browser.all("#details [data-plane='2']")
    assert not browser.all("#details [data-plane='1']")


def test_a_click_on_a_block_selects_its_plane(show: Show) -> None:
    view = chain_view(("a",))
    view = attrs.evolve(view, memory=attrs.evolve(view.memory, arena_bytes=1024, lower_bound_bytes=1024))
    browser = show(view, "view=memory")
    browser.click("#view-memory canvas")
    assert browser.text("#details h2") == "plane0"


def test_time_says_whether_it_is_estimated_or_measured(show: Show) -> None:
    view = chain_view(NAMES)
    browser = show(view, "view=time")
    assert browser.canvas("time")["bars"] == "4"
    facts = browser.text("#view-time .facts-line")
    assert "estimated" in facts
    assert "one after another 10 µs" in facts
    assert "1.00 ×" in facts
    nodes = tuple(attrs.evolve(node, elapsed_ms=0.5) for node in view.nodes)
    browser = show(attrs.evolve(view, nodes=nodes, timed=True), "view=time")
    facts = browser.text("#view-time .facts-line")
    assert "measured" in facts
    assert "one after another 2.00 ms" in facts


def test_without_times_commands_count_as_steps(show: Show) -> None:
    view = chain_view(NAMES)
    nodes = tuple(attrs.evolve(node, cost_us=None) for node in view.nodes)
    browser = show(attrs.evolve(view, nodes=nodes, critical_path=(), critical_path_us=None), "view=time")
    facts = browser.text("#view-time .facts-line")
    assert "not known" in facts
    assert "4 steps" in facts


def test_where_it_goes_has_an_area_for_each_command_and_a_row_for_each_kernel(show: Show) -> None:
    browser = show(chain_view(NAMES), "view=cost")
    assert browser.canvas("cost")["cells"] == "5"
    rows = [row.text for row in browser.all(".cost-tables section:last-child tbody tr")]
    assert [row.split()[0] for row in rows] == ["d", "c", "b", "a"]
    assert "40 %" in rows[0]


def test_source_shows_the_line_of_a_command_with_its_cost(show: Show, layer: View) -> None:
    browser = show(layer, "view=source&select=command-20")
    chosen = browser.all(".source-line.chosen")
    assert chosen
    assert browser.text("#view-source [aria-selected=true]") == "layer_backward.cg"
    assert "%" in browser.text(".source-line.leads .source-heat")
    browser.click(".source-line.chosen")
    assert browser.text("#details h2").startswith("layer_backward.cg:")


def test_a_command_shows_the_calls_that_led_to_it(show: Show, layer: View) -> None:
    browser = show(layer, "select=command-20")
    steps = [step.text for step in browser.all("#details .chain summary")]
    assert steps[-1].startswith("main")
    assert any(step.startswith("l = 0") for step in steps)
    assert browser.all("#details .excerpt .inside")


@pytest.mark.parametrize("name", ["graph", "memory", "time", "cost", "source"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 700)])
def test_every_view_draws_in_both_themes_and_sizes(
    show: Show, layer: View, name: str, theme: str, size: tuple[int, int]
) -> None:
    browser = show(layer, f"view={name}&theme={theme}")
    browser.resize(size)
    browser.frame()
    assert browser.script("return document.documentElement.dataset.theme") == theme
    assert browser.all(f"#view-{name}")
    for element in ("html", ".top"):
        assert browser.script("return document.querySelector(arguments[0]).scrollWidth <= innerWidth", element)


def test_the_theme_follows_the_system_until_it_is_chosen(show: Show) -> None:
    browser = show(chain_view(NAMES))
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.wait("document.documentElement.dataset.theme === 'dark'")
    browser.press("t")
    assert browser.script("return document.documentElement.dataset.theme") == "light"
    assert "theme=light" in browser.script("return location.hash")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_prints(show: Show, layer: View) -> None:
    browser = show(layer)
    assert len(browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000


def test_a_comparison_lists_what_differs_and_reaches_both_graphs(show: Show) -> None:
    before, after = chain_view(("a", "b", "gone", "d")), chain_view(("a", "b", "d", "new"))
    browser = show(compare_views(before, attrs.evolve(after, title="after.cg")), "view=compare")
    signs = {row.text.split("\n")[0].strip() for row in browser.all("#view-compare .row[role=option]")}
    assert any(sign.startswith("+") for sign in signs)
    assert any(sign.startswith("−") for sign in signs)
    browser.click(".compare-card")
    assert browser.text(".heading h1") == "chain.cg"
    browser.press("1")
    assert browser.canvas("graph")["boxes"] == "4"
    browser.press("s")
    assert browser.text(".heading h1") == "after.cg"
