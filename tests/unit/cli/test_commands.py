import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cgraph.cli.main import COMMANDS, main
from cgraph.resources import programs_directory

WRONG = "def a = (cgThen cgNothing missing)\ndef b = (cgFill 3 1.0)\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom cgraph.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'lark', 'rich', 'safetensors'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    for name in COMMANDS:
        assert f"  {name} " in finished.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ")


def test_check_finds_all_errors_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cg"
    path.write_text(WRONG, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 1
    assert "error[CG101]: unknown name `missing`" in result.stderr
    assert "error[CG206]" in result.stderr
    assert result.stderr.endswith("2 errors\n")


def test_check_as_json(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cg"
    path.write_text(WRONG, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", "--json", str(path)])
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert (first["code"], first["place"]["line"], first["place"]["column"]) == ("CG101", 1, 27)
    assert (second["code"], second["place"]["line"], second["place"]["column"]) == ("CG206", 2, 17)


def test_check_of_good_programs_and_of_standard_input() -> None:
    good = [str(programs_directory() / name) for name in ("layer_forward.cg", "layer_backward.cg")]
    result = CliRunner().invoke(main, ["check", *good])
    assert (result.exit_code, result.stdout) == (0, "2 programs checked, no problems\n")
    result = CliRunner().invoke(main, ["check", "-"], input='import "layer.cg"\ndef a = cgRopeTable\n')
    assert result.exit_code == 0
    result = CliRunner().invoke(main, ["check", "-"], input="def a = (cgThen\n")
    assert result.exit_code == 1


@pytest.mark.parametrize(("content", "code"), [(None, "CG011"), (b"def a = \xff\n", "CG012")])
def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "file.cg"
    if content is not None:
        path.write_bytes(content)
    for command in ("check", "show", "run"):
        result = CliRunner().invoke(main, [command, str(path)])
        assert result.exit_code == 2
        assert code in result.stderr


@pytest.mark.parametrize("stage", ["syntax", "checked", "graph", "schedule", "plan", "dot"])
def test_show_prints_the_same_text_every_time(stage: str) -> None:
    arguments = ["show", str(programs_directory() / "layer_backward.cg"), "--stage", stage, "--set", "cgLayers=1"]
    first, second = (CliRunner().invoke(main, arguments) for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == second.stdout
    expected = {
        "syntax": "def cgLayerBackward =",
        "checked": "def main : Command",
        "graph": "cgImageAttentionBackwardKeys",
        "schedule": "critical path",
        "plan": "arena",
        "dot": "digraph",
    }
    assert expected[stage] in first.stdout


def test_show_reports_problems_of_the_stage_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cg"
    path.write_text(WRONG, encoding="utf-8")
    assert CliRunner().invoke(main, ["show", str(path), "--stage", "syntax"]).exit_code == 0
    result = CliRunner().invoke(main, ["show", str(path), "--stage", "graph"])
    assert result.exit_code == 1
    assert "CG101" in result.stderr
