"""`cgraph explain`: the printed text, files that a program imports, bundles and dumps, and what may be wrong."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgraph.capture import save_bundle
from cgraph.cli.explain_texts import Asked
from cgraph.cli.main import main
from cgraph.pipeline import compile_program
from cgraph.resources import programs_directory
from cgraph.source import Source
from tests.support.bundles import bundle_of
from tests.support.stacked_program import STACKED
from tools.fuzz.samples import PARTS

LAYER = str(programs_directory() / "layer_backward.cg")
LIBRARY = programs_directory() / "library"
EXPLAINED = """\
fill with 0.5 at stacked.cg:48:23
  commands 2 … 8, in 3 runs, first: l = 0, last: l = 2
  in phase its second half
  all runs together: reads 0 bytes, writes 768 bytes, 3.9 µs by estimate

arguments of the first run
  slot         access  plane or value  element  extent  bytes            role
  destination  write   stream 1        f32      [64]    0 to 256 of 256  scratch
  value                0.5

is waited for by
  reason             plane     bytes     command  at                       runs
  write-after-write  stream 1  0 to 256  3 add    stacked.cg:30:5 (l = 0)  3 of 3

places in the arena
  plane     bytes       shared with
  stream 1  512 to 768  nobody

the way to it
    --> stacked.cg
     |
  39 | def main =
     |     ---- in `main`, the entry
  ...
  42 |     (cgEach layers
     |     -------------- where l = 0
  ...
  48 |               (cgThen (cgFill (stream (naturalAdd l 1)) 0.5)
     |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this command
"""


def cgraph(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments])


def line_of(path: Path, text: str) -> int:
    content = path.read_text(encoding="utf-8")
    return content[: content.index(text)].count("\n") + 1


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stacked.cg").write_text(STACKED, encoding="utf-8")
    return "stacked.cg"


def test_the_text_is_the_same_every_time(program: str) -> None:
    result = cgraph(f"{program}:48")
    assert result.exit_code == 0, result.stderr
    assert "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines()) == EXPLAINED
    assert cgraph(f"{program}:48").stdout == result.stdout


def test_as_data(program: str) -> None:
    result = cgraph(f"{program}:48", "--json")
    assert result.exit_code == 0, result.stderr
    (topic,) = json.loads(result.stdout)
    assert topic["title"] == "fill with 0.5 at stacked.cg:48:23"
    assert topic["facts"][0] == "commands 2 … 8, in 3 runs, first: l = 0, last: l = 2"
    tables = {table["heading"]: table for table in topic["tables"]}
    assert list(tables) == ["arguments of the first run", "is waited for by", "places in the arena"]
    assert tables["places in the arena"] == {
        "heading": "places in the arena",
        "rows": [{"plane": "stream 1", "bytes": "512 to 768", "shared with": "nobody"}],
        "more": 0,
    }
    assert topic["way"][1:] == [{"at": "stacked.cg:42:5", "text": "l = 0"}, {"at": "stacked.cg:39:5", "text": "main"}]
    wrong = cgraph(f"{program}:1000", "--json")
    assert (wrong.exit_code, wrong.stdout) == (1, "")


def test_options_of_programs_count(program: str) -> None:
    assert "is 5 in this build" in cgraph(f"{program}:3", "--set", "layers=5").stdout
    assert "commands 2 … 14, in 5 runs" in cgraph(f"{program}:48", "--set", "layers=5").stdout
    assert "the chosen order" in cgraph(f"{program}:48", "--order", "serial").stdout
    assert "no command of this build" in cgraph(f"{program}:39", "--entry", "unused").stdout


def test_columns(program: str) -> None:
    assert cgraph(f"{program}:46:22").stdout.startswith("phase half")


def test_files_that_the_program_imports() -> None:
    image = line_of(LIBRARY / "images.cg", "image cgImageProductWeight ")
    result = cgraph(f"{LIBRARY / 'images.cg'}:{image}", "--program", LAYER)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("image cgImageProductWeight\n  kernel cgProductWeight of product.cu\n")
    by_name = cgraph(f"images.cg:{image}", "--program", LAYER)
    assert by_name.stdout == result.stdout
    phase = line_of(LIBRARY / "phases.cg", "phase cgPhaseQkv")
    assert "entered 2 times" in cgraph(f"phases.cg:{phase}", "--program", LAYER, "--set", "cgLayers=2").stdout


def test_a_command_of_the_layer_names_its_kernel_and_its_way() -> None:
    line = line_of(Path(LAYER), "(cgLaunch cgImageInverseRope")
    shown = cgraph(f"{LAYER}:{line}", "--set", "cgLayers=1").stdout
    assert shown.startswith(f"launch of cgImageInverseRope at layer_backward.cg:{line}:")
    assert "runs cgInverseRope of rope.cu, grid " in shown
    assert "read-after-write  cgQueriesGradient" in shown
    assert "by `cgLayerBackward`, called here" in shown
    assert "where l = 0" in shown


def test_bundles_and_dumps(tmp_path: Path, program: str) -> None:
    bundle = tmp_path / "parts.cgb"
    save_bundle(bundle_of(compile_program(Source("folder/parts.cg", PARTS))), bundle)
    (tmp_path / "parts.cg").write_text(PARTS, encoding="utf-8")
    line = line_of(tmp_path / "parts.cg", "(cgCopy first given)")
    of_bundle = cgraph(f"parts.cg:{line}", "--program", str(bundle))
    assert of_bundle.exit_code == 0, of_bundle.stderr
    assert of_bundle.stdout == cgraph(f"parts.cg:{line}").stdout
    (tmp_path / "d.dot").write_text("digraph g {\n  x -> y\n}\n", encoding="utf-8")
    assert cgraph("d.dot:2").stdout.startswith("x at d.dot:2:3\n")
    refused = cgraph("d.dot:2", "--half", "f64")
    assert (refused.exit_code, "belongs to programs" in refused.stderr) == (2, True)
    del program


def test_a_line_without_anything(program: str) -> None:
    result = cgraph(f"{program}:1")
    assert result.exit_code == 1
    assert "CG514" in result.stderr
    assert "line 2 does: `n`" in result.stderr
    assert "CG515" in cgraph(f"{program}:900").stderr


@pytest.mark.parametrize("file", ["other.cg", "no/stacked.cg"])
def test_a_file_that_is_not_of_the_program(program: str, file: str) -> None:
    result = cgraph(f"{file}:1", "--program", program)
    assert result.exit_code == 1
    assert f"CG516]: {program} does not come from {file}" in result.stderr
    assert "it comes from stacked.cg" in result.stderr


def test_a_bundle_is_no_text(tmp_path: Path) -> None:
    bundle = tmp_path / "parts.cgb"
    save_bundle(bundle_of(compile_program(Source("parts.cg", PARTS))), bundle)
    result = cgraph(f"{bundle}:1")
    assert "CG516" in result.stderr
    assert "ask for a line of one of these" in result.stderr


@pytest.mark.parametrize("name", ["sizes.cg", "layer.cg"])
def test_a_file_without_an_entry_needs_its_program(name: str) -> None:
    result = cgraph(f"{LIBRARY / name}:3")
    assert result.exit_code == 1
    assert "CG517" in result.stderr
    assert "--program FILE" in result.stderr
    named = cgraph(f"{LIBRARY / name}:3", "--entry", "nowhere")
    assert "CG523" in named.stderr


def test_problems_of_the_program_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cg"
    path.write_text("def main = (cgFill nowhere 0.0)\n", encoding="utf-8")
    result = cgraph(f"{path}:1")
    assert (result.exit_code, "CG101" in result.stderr) == (1, True)
    assert cgraph(f"{tmp_path / 'none.cg'}:1").exit_code == 2


@pytest.mark.parametrize("place", ["stacked.cg", "stacked.cg:", "stacked.cg:0", "stacked.cg:3:0", ":3", "a:b", "a:-1"])
def test_places_that_are_none(place: str) -> None:
    result = cgraph(place)
    assert result.exit_code == 2
    assert "FILE:LINE" in result.stderr


def test_places() -> None:
    assert Asked.of("a.cg:12") == Asked("a.cg", 12, None)
    assert Asked.of("a.cg:12:3") == Asked("a.cg", 12, 3)
    assert Asked.of("C:\\x\\a.cg:12") == Asked("C:\\x\\a.cg", 12, None)
    assert Asked.of("a:1:b.cg:2:3") == Asked("a:1:b.cg", 2, 3)
