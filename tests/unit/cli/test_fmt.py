"""`cgraph fmt` on files and streams."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgraph.cli.main import main

UGLY = "def  a = (f\n x) -- why\r\n"
NEAT = "def a = (f x) -- why\n"


def fmt(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["fmt", *arguments], input=text)


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.cg"
    path.write_bytes(UGLY.encode())
    return path


def test_a_file_is_replaced_and_keeps_its_mode(ugly: Path) -> None:
    ugly.chmod(0o640)
    result = fmt(str(ugly))
    assert (result.exit_code, result.output) == (0, "")
    assert ugly.read_bytes() == NEAT.encode()
    assert stat.S_IMODE(ugly.stat().st_mode) == 0o640
    assert [path.name for path in ugly.parent.iterdir()] == ["ugly.cg"]


def test_a_link_stays_a_link(ugly: Path) -> None:
    link = ugly.with_name("link.cg")
    link.symlink_to(ugly.name)
    assert fmt(str(link)).exit_code == 0
    assert link.is_symlink()
    assert ugly.read_bytes() == NEAT.encode()


def test_a_neat_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "neat.cg"
    path.write_text(NEAT, encoding="utf-8")
    before = path.stat()
    assert fmt(str(path)).exit_code == 0
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_standard_input() -> None:
    assert fmt("-", text=UGLY).stdout == NEAT
    assert fmt("-", "--check", text=NEAT).exit_code == 0


def test_check_names_the_files(ugly: Path) -> None:
    result = fmt("--check", str(ugly))
    assert result.exit_code == 1
    assert result.stderr == f"{ugly} is not formatted\n"
    assert ugly.read_bytes() == UGLY.encode()


def test_diff(ugly: Path) -> None:
    result = fmt("--diff", str(ugly))
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line[0] in "+-" and line[1] not in "+-"] == [
        "-def  a = (f",
        "- x) -- why",
        "+def a = (f x) -- why",
    ]
    assert ugly.read_bytes() == UGLY.encode()
    assert fmt("--diff", "--check", str(ugly)).exit_code == 1


def test_exit_codes_and_other_files_still_done(ugly: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.cg"
    broken.write_text("def a = (", encoding="utf-8")
    result = fmt(str(broken), str(ugly))
    assert result.exit_code == 1
    assert "error[CG003]" in result.stderr
    assert ugly.read_bytes() == NEAT.encode()
    assert broken.read_text(encoding="utf-8") == "def a = ("
    missing = fmt(str(tmp_path / "missing.cg"), str(broken))
    assert missing.exit_code == 2
    assert "error[CG011]" in missing.stderr
    assert fmt().exit_code == 2


def test_a_folder_that_cannot_be_written(ugly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("cgraph.cli.fmt.tempfile.mkstemp", refuse)
    result = fmt(str(ugly))
    assert result.exit_code == 2
    assert result.stderr == f"error[CG015]: cannot write {ugly}: permission denied\n"
    assert ugly.read_bytes() == UGLY.encode()


def test_help_loads_no_parser() -> None:
    names = "{'lark', 'numpy', 'cgraph.syntax'}"
    code = f"import sys; import cgraph, cgraph.cli.main; print(sorted({names} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
