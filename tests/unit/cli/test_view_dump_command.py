"""`cgraph view` of dumps: formats, comparison, and files that are broken."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cgraph.cli.main import main
from tests.support.dumps import EXAMPLES, child, driver_dump, empty

PLAIN = (EXAMPLES / "cuda_plain.dot").read_text(encoding="utf-8")


def cgraph(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["view", *arguments])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data_of(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dot")))
@pytest.mark.parametrize("format_name", ["html", "svg", "dot", "mermaid", "json"])
def test_examples_in_every_format(folder: Path, name: str, format_name: str) -> None:
    result = cgraph(str(EXAMPLES / f"{name}.dot"), "--format", format_name, "-o", "made")
    assert result.exit_code == 0, result.stderr
    assert (result.stderr, (folder / "made").stat().st_size > 0) == ("", True)


@pytest.mark.parametrize("name", ["a.dot", "a.gv", "a.DOT", "a.txt", "a"])
def test_what_a_dump_is_called(folder: Path, name: str) -> None:
    shutil.copy(EXAMPLES / "older_conditional.dot", folder / name)
    result = cgraph(name, "-o", "x.json")
    assert result.exit_code == 0, result.stderr
    data = data_of(folder / "x.json")
    assert (data["kind"], data["title"], len(data["nodes"])) == ("dump", name, 3)


def test_a_text_that_begins_with_strict(folder: Path) -> None:
    (folder / "x").write_text("\n strict DIGRAPH { a -> b }", encoding="utf-8")
    assert cgraph("x", "-o", "x.json").exit_code == 0


def test_a_broken_dump_is_written_as_far_as_it_goes(folder: Path) -> None:
    (folder / "a.dot").write_text(PLAIN[: PLAIN.index("HOST")], encoding="utf-8")
    result = cgraph("a.dot", "-o", "x.json")
    assert result.exit_code == 1
    assert "error[CG893]: the dump is cut off" in result.stderr
    assert "a.dot:24:1" in result.stderr
    assert result.stdout == "x.json: 5 commands, 0 planes (json)\n"
    data = data_of(folder / "x.json")
    assert [note["line"] for note in data["notes"]] == [24]
    # A view that was written of it is whole.
    assert cgraph("x.json", "-o", "y.svg").exit_code == 0


def test_warnings_alone_are_no_failure(folder: Path) -> None:
    (folder / "a.dot").write_text(driver_dump([(1, [child(0, 2)])]), encoding="utf-8")
    result = cgraph("a.dot", "-o", "x.json")
    assert result.exit_code == 0
    assert "warning[CG895]" in result.stderr


@pytest.mark.parametrize("content", [b"", b"hello", b"graph { a -- b }", b"\xff\xfe\x00"])
def test_what_is_no_dump(folder: Path, content: bytes) -> None:
    (folder / "a.dot").write_bytes(content)
    result = cgraph("a.dot", "-o", "x.json")
    assert result.exit_code == 1
    assert result.stderr.count("error[") == 1
    assert "error[CG890]" in result.stderr
    assert not (folder / "x.json").exists()


def test_a_dump_is_not_timed_and_has_no_entry(folder: Path) -> None:
    (folder / "a.dot").write_text(PLAIN, encoding="utf-8")
    assert "error[CG884]" in cgraph("a.dot", "-o", "x.json", "--timed").stderr
    assert cgraph("a.dot", "-o", "x.json", "--entry", "main").exit_code == 2
    assert "is read" in cgraph("a.dot", "--format", "dot").stderr


def test_two_runs_of_one_program_compare_as_the_same(folder: Path) -> None:
    # Another process counts graphs from another number and has other handles and addresses.
    text = (EXAMPLES / "cuda_verbose.dot").read_text(encoding="utf-8")
    other = text.replace("0x0000000000A", "0x0000000077A").replace("0x0000001A0", "0x0000002B0")
    for number in (7, 8, 9):
        other = other.replace(f"graph_{number}", f"graph_{number + 30}").replace(
            f"cluster_{number}", f"cluster_{number + 30}"
        )
    (folder / "a.dot").write_text(text, encoding="utf-8")
    (folder / "b.dot").write_text(other, encoding="utf-8")
    assert cgraph("b.dot", "--compare", "a.dot", "-o", "x.json").exit_code == 0
    comparison = data_of(folder / "x.json")["comparison"]
    assert [pair["changes"] for pair in comparison["nodes"]] == [[]] * 12
    assert {pair["status"] for pair in comparison["nodes"]} == {"same"}
    assert {pair["status"] for pair in comparison["planes"]} == {"same"}


def test_a_command_more_and_another_size(folder: Path) -> None:
    text = (EXAMPLES / "older_conditional.dot").read_text(encoding="utf-8")
    more = text.replace("<4,128,0", "<8,128,0").replace(
        '"graph_1_node_0" ->', '"graph_1_node_2"[shape="rectangle" label="2\nEMPTY\n"];\n"graph_1_node_0" ->'
    )
    (folder / "a.dot").write_text(text, encoding="utf-8")
    (folder / "b.dot").write_text(more, encoding="utf-8")
    assert cgraph("b.dot", "--compare", "a.dot", "-o", "x.json").exit_code == 0
    pairs = data_of(folder / "x.json")["comparison"]["nodes"]
    assert [pair["status"] for pair in pairs] == ["same", "same", "changed", "added"]
    assert pairs[2]["changes"] == ["grid: 4×1×1 → 8×1×1"]


def test_a_broken_dump_to_compare_with(folder: Path) -> None:
    (folder / "a.dot").write_text(driver_dump([(1, [empty(0)])]), encoding="utf-8")
    (folder / "b.dot").write_text("digraph {", encoding="utf-8")
    result = cgraph("a.dot", "--compare", "b.dot", "-o", "x.json")
    assert (result.exit_code, "CG893" in result.stderr) == (1, True)
    assert (folder / "x.json").exists()
