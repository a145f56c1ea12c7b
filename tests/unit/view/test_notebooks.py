"""What notebooks show: for every value of the line, without scripts and without what a name could add to a page."""

import base64
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from cgraph.capture.saving import make_bundle
from cgraph.graph.model import CommandGraph
from cgraph.pipeline import Compiled, compile_program
from cgraph.source import Source
from cgraph.view.model import View, ViewNode, ViewPhase
from cgraph.view.notebooks import MOST_DRAWN, notebook_html
from cgraph.view.tree_html import MOST_ROWS, tree_html
from tests.support.graphs import GraphMaker
from tests.support.stacked_program import STACKED
from tests.support.views import HOSTILE, hostile_view, small_graph, view_of
from tools.fuzz.samples import PARTS

VOID = {"img", "br", "hr"}
KNOWN = {"div", "style", "span", "details", "summary", "img", "b", "table", "tbody", "tr", "th", "td"}


class Checked(HTMLParser):
    """Reads HTML and holds it against what a notebook may be given."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []
        self.images: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN
        for name, value in attrs:
            assert name in {"class", "style", "open", "alt", "src"}, name
            if name == "src":
                self.images.append(value or "")
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def checked(html: str) -> Checked:
    reader = Checked()
    reader.feed(html)
    reader.close()
    assert not reader.open
    assert all(image.startswith("data:image/svg+xml;base64,") for image in reader.images)
    return reader


def large_graph() -> CommandGraph:
    maker = GraphMaker()
    with maker.phase("many"):
        for number in range(MOST_DRAWN + 1):
            maker.fill(maker.plane(f"x {number}", 4), value=float(number))
    return maker.graph()


def stacked(layers: int = 3) -> Compiled:
    return compile_program(Source("folder/stacked.cg", STACKED), {"layers": layers})


def test_a_small_graph_is_a_picture() -> None:
    found = checked(stacked()._repr_html_())
    (image,) = found.images
    picture = ET.fromstring(base64.b64decode(image.partition(",")[2]))  # noqa: S314  (our own)
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "stacked.cg" in texts
    assert any("scratch 1.25 KiB" in text for text in texts)
    assert sum(re.match(r"[0-9]+ (add|copy|fill)", text) is not None for text in texts) == 11


def test_a_large_program_is_a_tree_that_opens() -> None:
    found = checked(stacked(30)._repr_html_())
    assert not found.images
    assert "stacked.cg" in found.text
    assert found.seen.count("details") == 4
    assert " × 30, l = 0 … 29".strip() in [text.strip() for text in found.text]


def test_what_is_inside_a_phase_stands_in_its_element() -> None:
    html = tree_html(view_of(small_graph()), commands=True)
    html = html[html.index("</style>") :]
    outer, inner = html.index(">Outer<"), html.index(">Inner<")
    first_end = html.index("</details>")
    assert outer < inner < first_end
    assert html.index(">join<") > html.rindex("</details>")


@pytest.mark.parametrize("large", [False, True])
def test_every_value_shows_itself(large: bool) -> None:
    compiled = compile_program(Source("parts.cg", PARTS))
    graph = large_graph() if large else compiled.graph
    bundle = make_bundle(compiled.graph, compiled.schedule, compiled.plan)
    for value in (compiled, graph, compiled.schedule, compiled.plan, bundle, view_of(graph)):
        assert "".join(checked(value._repr_html_()).text)
        assert len(repr(value)) < 2000


def test_schedules_and_plans_as_tables() -> None:
    compiled = stacked()
    rows = "".join(checked(compiled.schedule._repr_html_()).text)
    assert "edges10" in rows
    assert "hazards, read-after-write7" in rows
    assert "levels8" in rows
    plan = "".join(checked(compiled.plan._repr_html_()).text)
    assert "arena of scratch planes1.25 KiB" in plan
    assert "planes in the arena7" in plan


def test_a_graph_alone_has_no_order() -> None:
    assert "dataflow order" not in "".join(checked(large_graph()._repr_html_()).text)


def test_empty_values() -> None:
    graph = GraphMaker().graph()
    assert "all commands" in checked(graph._repr_html_()).text
    assert checked(View("t", "dump")._repr_html_()).text


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stay_texts(name: str) -> None:
    view = hostile_view(name)
    found = checked(notebook_html(view))
    assert all(character.isprintable() or character == "\n" for text in found.text for character in text)
    tree = checked(tree_html(view, commands=True))
    assert tree.seen == checked(tree_html(hostile_view("plain"), commands=True)).seen


def test_a_tree_with_too_many_rows_is_cut() -> None:
    count = MOST_ROWS + 500
    phases = tuple(ViewPhase(f"p{number}", f"p{number}", None) for number in range(count))
    nodes = tuple(ViewNode("empty", "n", phase=number) for number in range(count))
    view = View("t", "dump", phases=phases, nodes=nodes, sequence=tuple(range(count)))
    found = checked(view._repr_html_())
    assert "500 further rows are not drawn" in found.text
    assert str(count) in found.text


def test_nothing_that_draws_is_loaded_before_a_notebook_asks() -> None:
    code = (
        "import sys, cgraph.pipeline\n"
        "from cgraph.source import Source\n"
        "text = 'plane p : f32 [4] output\\ndef main = (cgFill p 0.0)'\n"
        "made = cgraph.pipeline.compile_program(Source('p.cg', text))\n"
        "assert not [name for name in sys.modules if name.startswith('cgraph.view')]\n"
        "assert '<img' in made._repr_html_()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ipython_takes_them() -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    compiled = stacked(30)
    for value in (compiled, compiled.graph, compiled.schedule, compiled.plan):
        data, _ = formatters.DisplayFormatter().format(value)
        assert data["text/html"] == value._repr_html_()
        assert len(data["text/plain"]) < 2000
