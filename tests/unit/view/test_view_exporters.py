"""Pictures and texts of views: valid in their formats, whatever names hold; exact where they are small."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.schedule.model import Order
from cgraph.syntax.loading import load_source
from cgraph.view.captions import common_prefix, size_text
from cgraph.view.comparison import compare_views
from cgraph.view.data import read_view, view_json
from cgraph.view.dot import dot_text
from cgraph.view.formats import FORMATS, format_of
from cgraph.view.graphs import view_of_graph
from cgraph.view.html import html_text
from cgraph.view.mermaid import mermaid_text
from cgraph.view.model import View, ViewEdge, ViewNode, ViewPhase
from cgraph.view.svg import svg_text
from cgraph.view.trace import trace_text
from tests.support.views import HOSTILE, hostile_view, small_graph, view_of

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden"
PICTURE = ROOT / "cgraph" / "docs" / "layer_backward.svg"
PLACE = re.compile(r"\b(\w+\.cg):\d+:\d+")  # lines of the library move; what is tested here does not
SVG = "{http://www.w3.org/2000/svg}"

# A node that runs two boxes, one of them empty, and a note on it: as dumps of other tools have them.
CONDITIONAL = View(
    title="dump",
    kind="dump",
    phases=(ViewPhase("then", "then", None, "body"), ViewPhase("else", "else", None, "body")),
    nodes=(ViewNode("conditional", "if", body=(0, 1)), ViewNode("memset", "zero", 0), ViewNode("free", "free")),
    edges=(ViewEdge(0, 2, "given"),),
    sequence=(0, 1, 2),
)
SAME = (1.0, 1.0, 1.0, 1.0, 1.0)
DOT_WORDS = {"digraph", "graph", "compound", "true", "node", "shape", "box", "subgraph", "cluster", "label"}
DOT_WORDS |= {"n", "tooltip", "style", "dashed"}
SVG_ATTRIBUTES = {"class", "d", "x", "y", "width", "height", "rx", "transform", "viewBox", "role"}


def layer_backward() -> View:
    compiled = compile_program(load_source(programs_directory() / "layer_backward.cg"), {"cgLayers": 1})
    return view_of_graph(compiled.graph, compiled.schedule, compiled.plan, title="layer_backward.cg")


@pytest.mark.parametrize(
    ("name", "golden"),
    [("svg", PICTURE), ("dot", GOLDEN / "layer_backward.dot"), ("mermaid", GOLDEN / "layer_backward.mmd")],
)
def test_layer_backward(name: str, golden: Path, refresh_goldens: bool) -> None:
    text = FORMATS[name].write(layer_backward())
    if refresh_goldens:
        golden.write_text(text, encoding="utf-8")
    assert PLACE.sub(r"\1", text) == PLACE.sub(r"\1", golden.read_text(encoding="utf-8"))


def test_dot_nests_phases() -> None:
    lines = [line.split(" [")[0] for line in dot_text(view_of(small_graph(), Order.PHASE)).splitlines()]
    assert lines == [
        'digraph "main" {',
        "  graph",
        "  node",
        "  n2",
        "  n3",
        "  n4",
        "  subgraph cluster_0 {",
        '    label="Outer";',
        "    n0",
        "    subgraph cluster_1 {",
        '      label="Inner";',
        "      n1",
        "    }",
        "  }",
        "  n0 -> n1",
        "  n1 -> n2",
        "  n2 -> n3",
        "  n3 -> n4",
        "}",
    ]


def test_dot_tells_data_from_order() -> None:
    text = dot_text(view_of(small_graph(), Order.PHASE))
    assert '  n1 -> n2 [style=dashed, tooltip="order"];' in text
    assert '  n0 -> n1 [tooltip="read-after-write y 0, bytes 0 to 16"];' in text


@pytest.mark.parametrize("name", HOSTILE)
def test_dot_strings_end_where_they_should(name: str) -> None:
    text = dot_text(hostile_view(name))
    outside_strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert set(re.findall(r"[a-z]+", outside_strings)) <= DOT_WORDS
    assert set(re.sub(r"\w", "", outside_strings)) <= set("[]{}=,;-> \n")
    assert max(map(len, text.splitlines())) < 16_000


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("view", [layer_backward(), CONDITIONAL, *map(hostile_view, HOSTILE)])
def test_graphviz_reads_it(view: View) -> None:
    done = subprocess.run(["dot", "-Tsvg"], input=dot_text(view).encode(), capture_output=True, check=False)  # noqa: S607
    assert (done.returncode, done.stderr.decode()) == (0, "")
    drawn = ET.fromstring(done.stdout)  # noqa: S314  (Graphviz wrote it)
    kinds = [group.get("class") for group in drawn.iter(f"{SVG}g")]
    empty = len(view.phases) - len({node.phase for node in view.nodes} | {p.parent for p in view.phases} - {None})
    assert kinds.count("cluster") == len(view.phases)
    assert kinds.count("node") >= len(view.nodes) + max(empty - 1, 0)
    assert kinds.count("edge") == len(view.edges) + sum(len(node.body) for node in view.nodes)


@pytest.mark.parametrize("view", [layer_backward(), CONDITIONAL, View("empty", "dump"), *map(hostile_view, HOSTILE)])
def test_the_svg_is_well_formed_and_holds_everything(view: View) -> None:
    text = svg_text(view)
    drawn = ET.fromstring(text)  # noqa: S314  (it is our own)
    tags = [element.tag.removeprefix(SVG) for element in drawn.iter()]
    assert set(tags) <= {"svg", "title", "style", "rect", "text", "g", "path"}  # nothing that runs or refers
    classes = [element.get("class", "").split() for element in drawn.iter()]
    assert sum("node" in words for words in classes) == len(view.nodes)
    assert sum("box" in words for words in classes) == len(view.phases)
    assert sum("line" in words for words in classes) == len(view.edges)
    assert {name for element in drawn.iter() for name in element.attrib} <= SVG_ATTRIBUTES
    shown = "".join(drawn.itertext())
    assert not set(shown) & set("\x00\x07\x1b\x7f\x85\u2028\u2029\u202e\u2066\u200f")
    assert max((len(element.text or "") for element in drawn.iter(f"{SVG}text")), default=0) <= 200


def test_the_svg_marks_the_critical_path() -> None:
    drawn = ET.fromstring(svg_text(view_of(small_graph())))  # noqa: S314
    classes = [set(element.get("class", "").split()) for element in drawn.iter()]
    assert sum({"node", "critical"} <= words for words in classes) == 4  # fill, launch, copy, launch
    assert sum({"line", "critical"} <= words for words in classes) == 3


class Scripts(HTMLParser):
    """Collects the contents of scripts by id, as a browser splits them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.inside: str | None = None
        self.count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.inside = str(dict(attrs).get("id"))
            self.count += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.inside = None

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.found[self.inside] = self.found.get(self.inside, "") + data


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_ends_the_data_of_the_page(name: str) -> None:
    view = hostile_view(name)
    plain, page = Scripts(), Scripts()
    plain.feed(html_text(View("t", "dump")))
    page.feed(html_text(view))
    assert page.count == plain.count
    assert read_view(page.found["cgraph-view"], "x") == view
    assert not set(page.found["cgraph-view"]) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("name", HOSTILE)
def test_mermaid_has_no_character_of_meaning_in_a_name(name: str) -> None:
    for text in mermaid_text(hostile_view(name)).splitlines():
        quoted = re.fullmatch(r' *(?:subgraph )?\w+\["(.*)"\]', text)
        if quoted:
            assert re.fullmatch(r"(?:[\w .,:+=()→×·µ…/-]|#\d+;|<br/>)*", quoted[1])
        else:
            assert re.fullmatch(r"%% (?:[^\n]*)|flowchart TD| *end| *n\d+ (?:-->|-\.->) n\d+", text)


def test_mermaid_nests_phases() -> None:
    assert mermaid_text(view_of(small_graph(), Order.PHASE)).splitlines()[1:] == [
        "flowchart TD",
        '  n2["2 join"]',
        '  n3["3 copy<br/>y 0"]',
        '  n4["4 handImage<br/>z"]',
        '  subgraph p0["Outer"]',
        '    n0["0 fill with 1.5<br/>y 0"]',
        '    subgraph p1["Inner"]',
        '      n1["1 handImage<br/>y 0"]',
        "    end",
        "  end",
        "  n0 --> n1",
        "  n1 -.-> n2",
        "  n2 -.-> n3",
        "  n3 --> n4",
    ]


def test_a_large_mermaid_shows_outermost_phases() -> None:
    compiled = compile_program(load_source(programs_directory() / "gpt.cg"), {"cgLayers": 12})
    view = view_of_graph(compiled.graph, compiled.schedule, compiled.plan)
    assert len(view.edges) > 500
    text = mermaid_text(view)
    assert text.count("-->") <= 500
    counted = [int(count) for count in re.findall(r"(\d+) commands", text)]
    outside = len(re.findall(r"^  n\d+\[", text, re.MULTILINE))
    assert sum(counted) + outside == len(view.nodes)


def slices(view: View) -> list[dict[str, object]]:
    return [event for event in json.loads(trace_text(view))["traceEvents"] if event["ph"] == "X"]


def test_the_times_of_a_trace_add_up() -> None:
    found = {event["name"]: event for event in slices(view_of(small_graph(), elapsed_ms=(1.0, 2.5, 0, 0.0015, 1)))}
    assert {name: (event["ts"], event["dur"]) for name, event in found.items()} == {
        "0 fill with 1.5": (0, 1000),
        "1 handImage": (1000, 2500),
        "Inner": (1000, 2500),
        "Outer": (0, 3500),
        "2 join": (3500, 0),
        "3 copy": (3500, 1.5),
        "4 handImage": (3501.5, 1000),
    }
    assert found["1 handImage"]["args"]["from"] == "hand.cg:2:1"  # type: ignore[index]


def test_a_trace_counts_scratch_in_use() -> None:
    events = json.loads(trace_text(view_of(small_graph(), elapsed_ms=(1, 1, 1, 1, 1))))["traceEvents"]
    assert [event["args"]["bytes"] for event in events if event["ph"] == "C"] == [16]  # in use to the end


def test_a_trace_needs_times() -> None:
    with pytest.raises(ProblemsFound) as stopped:
        trace_text(view_of(small_graph()))
    assert [problem.code for problem in stopped.value.problems] == ["CG883"]
    with pytest.raises(ProblemsFound):
        trace_text(View("t", "dump"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_in_a_trace(name: str) -> None:
    found = slices(hostile_view(name))
    assert len(found) == 7
    assert all(len(str(event["name"])) <= 200 for event in found)


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_is_utf8_and_the_same_each_time(format_name: str) -> None:
    compared = compare_views(hostile_view(HOSTILE[0]), view_of(small_graph(), elapsed_ms=SAME))
    for view in (hostile_view(HOSTILE[6]), compared):
        text = FORMATS[format_name].write(view)
        assert text.encode("utf-8")
        assert text == FORMATS[format_name].write(read_view(view_json(view), "x"))


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("a.html", "html"),
        ("A.HTM", "html"),
        ("a.svg", "svg"),
        ("a.gv", "dot"),
        ("a.mmd", "mermaid"),
        ("a.json", "json"),
        ("a.trace.json", "trace"),
        ("a.txt", None),
        ("html", None),
    ],
)
def test_formats_by_name(name: str, format_name: str | None) -> None:
    assert format_of(name) == format_name


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["cgImageAdd", "cgImageCast"], "cgImage"),
        (["cgImageAdd", "cgImageAddBias"], "cgImage"),
        (["cgImageAdd"], ""),
        (["add", "addBias"], ""),
        (["Up", "Down"], ""),
        (["cgUp 0", "cgUp 1"], "cg"),
        ([], ""),
    ],
)
def test_what_all_names_begin_with(names: list[str], prefix: str) -> None:
    assert common_prefix(names) == prefix


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**20, "1 MiB"), (2**31, "2 GiB")],
)
def test_sizes_for_people(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text
