"""The text of a checked program, where the accepted programs do not show it."""

from pathlib import Path

from cgraph.check.text import program_text
from cgraph.pipeline import check, parse
from cgraph.syntax.loading import load_source


def test_imported_files_are_counted_once_each(tmp_path: Path) -> None:
    (tmp_path / "sizes.cg").write_text("parameter rows : Nat\ndef twice = (naturalAdd rows rows)\n")
    (tmp_path / "planes.cg").write_text('import "sizes.cg"\nplane x : f32 [twice] input\n')
    (tmp_path / "main.cg").write_text('import "planes.cg"\nimport "sizes.cg"\ndef part = (cgAt x rows)\n')
    text = program_text(check(parse(load_source(tmp_path / "main.cg")))[0])
    assert text == (
        "program main.cg\n"
        "imports planes.cg (1 declaration)\n"
        "imports sizes.cg (2 declarations)\n"
        "def part : Plane f32 [rows]\n"
    )
