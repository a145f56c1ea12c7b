"""`cgraph view`: kinds of files, formats, names of what is written, wrong usage."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from cgraph.capture import save_bundle
from cgraph.cli.main import main
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.syntax.loading import load_source
from tests.support.bundles import bundle_of

DUMP = '{"format": "cgraph-view", "version": 1, "title": "t", "kind": "dump"}'
LAYER = str(programs_directory() / "layer_backward.cg")
SMALL = ("--set", "cgSeq=5", "--set", "cgHeadWidth=4", "--set", "cgFfn=7", "--set", "cgLayers=1")


def cgraph(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["view", *arguments])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data_of(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("format_name", "written"),
    [
        ("html", "layer_backward.html"),
        ("svg", "layer_backward.svg"),
        ("dot", "layer_backward.dot"),
        ("mermaid", "layer_backward.mmd"),
        ("json", "layer_backward.view.json"),
        ("trace", "layer_backward.trace.json"),
    ],
)
def test_formats(folder: Path, format_name: str, written: str) -> None:
    result = cgraph(LAYER, *SMALL, "--format", format_name)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{written}: 45 commands, 70 planes ({format_name})\n"
    assert [path.name for path in folder.iterdir()] == [written]


def test_the_name_of_the_output_says_the_format(folder: Path) -> None:
    assert cgraph(LAYER, *SMALL, "-o", "picture.svg").exit_code == 0
    assert ET.fromstring((folder / "picture.svg").read_text(encoding="utf-8")).tag.endswith("svg")  # noqa: S314
    assert cgraph(LAYER, *SMALL, "-o", "picture.svg", "--format", "json").exit_code == 0
    assert data_of(folder / "picture.svg")["format"] == "cgraph-view"


def test_standard_output_and_input() -> None:
    text = Path(LAYER).read_text(encoding="utf-8")
    result = CliRunner().invoke(main, ["view", "-", *SMALL, "--format", "json", "-o", "-"], input=text)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["title"] == "standard input"


def test_a_timed_run_measures_each_command(folder: Path) -> None:
    assert cgraph(LAYER, *SMALL, "--timed", "-o", "x.json").exit_code == 0
    data = json.loads((folder / "x.json").read_text(encoding="utf-8"))
    assert data["timed"] is True
    assert all(node["elapsed_ms"] >= 0 for node in data["nodes"])
    assert data["critical_path_us"] == pytest.approx(
        sum(1e3 * data["nodes"][number]["elapsed_ms"] for number in data["critical_path"])
    )
    assert data["roofline"]["device"].startswith("this machine")


def test_a_view_is_read_again(folder: Path) -> None:
    assert cgraph(LAYER, *SMALL, "-o", "x.json").exit_code == 0
    result = cgraph("x.json", "-o", "again.json")
    assert result.exit_code == 0, result.stderr
    assert (folder / "again.json").read_bytes() == (folder / "x.json").read_bytes()
    (folder / "named_otherwise").write_bytes((folder / "x.json").read_bytes())
    assert cgraph("named_otherwise", "--format", "svg").exit_code == 0


def test_bundles(folder: Path) -> None:
    compiled = compile_program(load_source(LAYER), {"cgSeq": 5, "cgHeadWidth": 4, "cgFfn": 7, "cgLayers": 1})
    save_bundle(bundle_of(compiled, code=False), folder / "step.cgb")
    for name in ("step.cgb", "named_otherwise"):
        (folder / name).write_bytes((folder / "step.cgb").read_bytes())
        result = cgraph(name, "-o", "x.json", "--timed")
        assert result.exit_code == 0, result.stderr
        data = data_of(folder / "x.json")
        assert (data["kind"], data["title"], data["timed"]) == ("bundle", name, True)
        assert len(data["nodes"]) == 45  # type: ignore[arg-type]


def test_comparison_with_what_was_before(folder: Path) -> None:
    assert cgraph(LAYER, *SMALL, "-o", "before.json").exit_code == 0
    result = cgraph(LAYER, *SMALL, "--set", "cgRecompute=0", "--compare", "before.json", "-o", "x.json")
    assert result.exit_code == 0, result.stderr
    comparison = json.loads((folder / "x.json").read_text(encoding="utf-8"))["comparison"]
    assert comparison["other_title"] == "layer_backward.cg"
    statuses = [pair["status"] for pair in comparison["nodes"]]
    assert statuses.count("removed") == 9  # the layer again from its boundary
    assert statuses.count("added") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((LAYER, "-o", "x.png"), "says no format"),
        ((LAYER, "-o", "-", "--open"), "--open needs a file"),
        (("x.json", "-o", "x.json"), "is read"),
        (("x.json", "-o", "y.json", "--set", "a=1"), "--set belongs to programs"),
        (("x.json", "-o", "y.json", "--order", "serial"), "--order belongs to programs"),
        ((LAYER, "--compare", "x.svg", "-o", "x.svg"), "is read"),
    ],
)
def test_wrong_usage(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    (folder / "x.json").write_text(DUMP)
    result = cgraph(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "exit_code"),
    [
        ("x.txt", "hello", (), "CG880", 1),
        ("x.bin", "\0\1", (), "CG880", 1),
        ("x.json", "{}", (), "CG881", 1),
        ("y.json", '{"format": "cgraph-view", "version": 1, "title": "t", "kind": "x"}', (), "CG881", 1),
        ("x.json", '{"format": "cgraph-view", "version": 3}', (), "CG882", 1),
        ("y.json", '{"format": "cgraph-view"}', (), "CG882", 1),
        (
            "x.json",
            DUMP,
            ("--format", "trace"),
            "CG883",
            1,
        ),
        (
            "y.json",
            DUMP,
            ("-o", "t.trace"),
            "CG883",
            1,
        ),
        ("x.json", DUMP, ("--timed",), "CG884", 1),
        ("y.json", "{}", ("--timed", "--format", "svg"), "CG884", 1),
        (
            "x.json",
            DUMP,
            ("-o", "no/x.svg"),
            "CG885",
            1,
        ),
        (
            "y.json",
            DUMP,
            ("-o", "y.svg/z.svg"),
            "CG885",
            1,
        ),
        ("x.cgb", "not a bundle", (), "CG80", 1),
        ("x.cg", "def main = ", (), "CG0", 1),
        ("gone.json", None, (), "CG011", 2),
        ("gone", None, (), "CG011", 2),
    ],
)
def test_problems(
    folder: Path, name: str, content: str | None, options: tuple[str, ...], code: str, exit_code: int
) -> None:
    if content is not None:
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "y.svg").write_text("a file, no folder")
    result = cgraph(name, *options)
    assert f"error[{code}" in result.stderr
    assert result.exit_code == exit_code
