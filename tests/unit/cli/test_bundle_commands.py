"""`cgraph save`, `inspect` and `diff`: what they write, say and end with."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.capture.saving import save_bundle
from cgraph.cli.main import main
from cgraph.models.plane_files import save_planes
from tools.fuzz.imported_sample import every_kind
from tools.fuzz.samples import PARTS


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "parts.cg"
    path.write_text(PARTS)
    return path


def cgraph(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def saved(tmp_path: Path, name: str, program: Path, *arguments: object) -> Path:
    path = tmp_path / f"{name}.cgb"
    result = cgraph("save", program, "-o", path, *arguments)
    assert result.exit_code == 0, result.output
    return path


def loaded(path: Path) -> Bundle:
    bundle = load_bundle(path)
    assert isinstance(bundle, Bundle)
    return bundle


def test_save_writes_a_bundle_and_says_so(tmp_path: Path, program: Path) -> None:
    result = cgraph("save", program, "-o", tmp_path / "a.cgb")
    assert result.exit_code == 0
    assert "a.cgb: 6 commands, 1 kernel files with no code, no contents of planes" in result.output
    assert "CG814" in result.output
    assert loaded(tmp_path / "a.cgb").data == {}


def test_save_stores_the_contents_that_are_given(tmp_path: Path, program: Path) -> None:
    values = np.arange(8, dtype=np.float32)
    save_planes(tmp_path / "in.safetensors", {"given": values})
    path = saved(tmp_path, "a", program, "--inputs", tmp_path / "in.safetensors")
    assert (loaded(path).data["given"] == values).all()


def test_save_draws_contents_if_asked(tmp_path: Path, program: Path) -> None:
    one, same, other = (
        loaded(saved(tmp_path, name, program, "--with-data", "--seed", seed)).data["given"]
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert (one == same).all()
    assert (one != other).any()


def test_save_in_data(tmp_path: Path, program: Path) -> None:
    result = cgraph("save", program, "-o", tmp_path / "a.cgb", "--half", "f16", "--no-cubin", "--json")
    facts = json.loads(result.output)
    assert facts["size_bytes"] == (tmp_path / "a.cgb").stat().st_size
    assert (facts["commands"], facts["kernel_files"], facts["code"]) == (6, ["elementwise.cu"], ["ptx compute_80"])


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--architecture", "90"), 2, "no architecture"),
        (("--architecture", "sm_90;x"), 2, "no architecture"),
        (("--set", "a"), 2, "NAME=VALUE"),
        (("--inputs", "none.npz"), 1, "CG721"),
        (("--entry", "nobody"), 1, "CG523"),
    ],
)
def test_save_refuses(tmp_path: Path, program: Path, arguments: tuple[str, ...], code: int, text: str) -> None:
    result = cgraph("save", program, "-o", tmp_path / "a.cgb", *arguments)
    assert result.exit_code == code
    assert text in result.output
    assert not (tmp_path / "a.cgb").exists()


def test_save_without_a_place_or_a_program(tmp_path: Path, program: Path) -> None:
    assert cgraph("save", program).exit_code == 2
    assert cgraph("save", tmp_path / "none.cg", "-o", tmp_path / "a.cgb").exit_code == 2
    result = cgraph("save", program, "-o", tmp_path / "none" / "a.cgb")
    assert result.exit_code == 1
    assert "CG801" in result.output


def test_inspect_says_what_is_in_it(tmp_path: Path, program: Path) -> None:
    path = saved(tmp_path, "a", program, "--with-data")
    text = cgraph("inspect", path, "--nodes").output
    for part in (
        "program bundle",
        "main, half = f32",
        "2 copy, 3 fill, 1 launch; dataflow order",
        "cgImageAdd: cgAdd (elementwise.cu)",
        "scratch: 3 planes, 80 bytes",
        "contents of 1 planes, 32 bytes",
        "no recorded run",
        "3 launch cgImageAdd",
    ):
        assert part in text, part


def test_inspect_shows_a_command_with_its_source(tmp_path: Path, program: Path) -> None:
    text = cgraph("inspect", saved(tmp_path, "a", program), "--node", 1, "--node", 3).output
    assert "command 1: fill second[0:8] with 0.5" in text
    assert "(cgThen (cgFill second 0.5)" in text
    assert "in cgBinary, called at parts.cg:" in text


def test_inspect_in_data(tmp_path: Path, program: Path) -> None:
    facts = json.loads(cgraph("inspect", saved(tmp_path, "a", program), "--json").output)
    assert facts["commands"] == {"copy": 2, "fill": 3, "launch": 1}
    assert facts["planes"]["scratch"] == {"planes": 3, "size_bytes": 80}
    assert [node["kind"] for node in facts["nodes"]] == ["copy", "fill", "fill", "launch", "fill", "copy"]
    assert facts["nodes"][0]["source"] == "parts.cg"


def test_inspect_reports_registers(tmp_path: Path, program: Path) -> None:
    path = saved(tmp_path, "a", program, "--half", "f16", "--architecture", "sm_90")
    (kernel,) = json.loads(cgraph("inspect", path, "--json").output)["kernels"]
    assert [code["kind"] for code in kernel["code"]] == ["ptx", "cubin"]
    assert kernel["code"][0]["registers"] is None
    assert 1 <= kernel["code"][1]["registers"] <= 255
    assert f"({kernel['code'][1]['registers']} registers)" in cgraph("inspect", path).output


def test_inspect_and_diff_take_imported_graphs(tmp_path: Path, program: Path) -> None:
    save_bundle(every_kind(), tmp_path / "a.cgb")
    text = cgraph("inspect", tmp_path / "a.cgb", "--nodes").output
    kinds = "2 memset, 1 kernel, 1 memcpy, 1 event record, 1 event wait, 1 child graph, 1 empty"
    for part in ("imported bundle", "capability 9.0", kinds, "parameter 2, …", "node 1 of child graph 1 (memset)"):
        assert part in text, part
    assert json.loads(cgraph("inspect", tmp_path / "a.cgb", "--json").output)["edges"] == 6
    assert cgraph("inspect", tmp_path / "a.cgb", "--node", 0).exit_code == 2
    assert cgraph("diff", tmp_path / "a.cgb", tmp_path / "a.cgb").exit_code == 0
    result = cgraph("diff", tmp_path / "a.cgb", saved(tmp_path, "b", program))
    assert result.exit_code == 1
    assert "content: imported → program" in result.output


@pytest.mark.parametrize("command", [("inspect",), ("diff", "good.cgb")])
def test_what_is_no_bundle(tmp_path: Path, program: Path, command: tuple[str, ...]) -> None:
    good = saved(tmp_path, "good", program)
    words = [str(good) if word == "good.cgb" else word for word in command]
    result = cgraph(*words, program)
    assert result.exit_code == (1 if command[0] == "inspect" else 2)
    assert "CG802" in result.output
    good.write_bytes(good.read_bytes()[:-1])
    assert "CG804" in cgraph("inspect", good).output


def test_inspect_of_a_command_that_there_is_not(tmp_path: Path, program: Path) -> None:
    result = cgraph("inspect", saved(tmp_path, "a", program), "--node", 6)
    assert result.exit_code == 2
    assert "6 commands" in result.output


def test_diff_of_equal_bundles(tmp_path: Path, program: Path) -> None:
    first, second = (saved(tmp_path, name, program, "--with-data") for name in ("a", "b"))
    result = cgraph("diff", first, second)
    assert (result.exit_code, result.output) == (0, "")
    assert json.loads(cgraph("diff", first, second, "--json").output) == {
        "differences": [],
        "planes": [],
        "commands": [],
    }


def test_a_command_more_is_one_addition(tmp_path: Path, program: Path) -> None:
    before = saved(tmp_path, "a", program)
    more = PARTS.replace("(cgThen (cgFill third 1.0)", "(cgThen (cgFill third 0.25) (cgThen (cgFill third 1.0)")
    program.write_text(more.rstrip()[:-1] + "))\n" if more.count("(") > more.count(")") else more)
    after = saved(tmp_path, "b", program)
    facts = json.loads(cgraph("diff", before, after, "--json").output)
    assert [(row["status"], row["before"], row["after"]) for row in facts["commands"]] == [("added", None, 4)]
    result = cgraph("diff", before, after)
    assert result.exit_code == 1
    assert "+ command 4 " in result.output
    assert "6 same, 0 changed, 0 removed, 1 added" in result.output


def test_a_value_that_changed(tmp_path: Path, program: Path) -> None:
    before = saved(tmp_path, "a", program)
    program.write_text(PARTS.replace("(cgFill third 1.0)", "(cgFill third 1.5)"))
    result = cgraph("diff", before, saved(tmp_path, "b", program))
    assert result.exit_code == 1
    assert "~ command 4 → 4 " in result.output
    assert "1.5" in result.output


def test_planes_parameters_and_order_that_changed(tmp_path: Path, program: Path) -> None:
    program.write_text(
        "parameter size : Nat = 8\nplane given : f32 [size] input\nplane result : f32 [size] output\n"
        "def main = (cgCopy result given)\n"
    )
    before = saved(tmp_path, "a", program)
    after = saved(tmp_path, "b", program, "--set", "size=16", "--order", "serial")
    text = cgraph("diff", before, after).output
    for part in ("parameter size: 8 → 16", "order: dataflow → serial", "~ plane given", "extent: 8 → 16"):
        assert part in text, part


def test_contents_and_code_that_changed(tmp_path: Path, program: Path) -> None:
    before = saved(tmp_path, "a", program, "--with-data", "--half", "f16", "--no-cubin")
    after = saved(tmp_path, "b", program, "--with-data", "--seed", 1, "--half", "bf16", "--no-cubin")
    text = cgraph("diff", before, after).output
    for part in ("half: f16 → bf16", "contents of given: float32 8 sha256", "elementwise.cu: macro CG_HALF: 1 → 2"):
        assert part in text, part
    assert "elementwise.cu: text" not in text
