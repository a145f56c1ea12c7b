"""Files that can and cannot be read."""

from pathlib import Path

import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.syntax.loading import MAXIMUM_SIZE_BYTES, decode_source, load_source


def code_of(path: Path) -> str:
    with pytest.raises(ProblemsFound) as stopped:
        load_source(path)
    (problem,) = stopped.value.problems
    assert str(path) in problem.render_title()
    return problem.code


def test_text_is_kept_as_it_is_but_for_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.cg"
    path.write_bytes(b"\xef\xbb\xbf-- \xe2\x86\x92\r\ndef a = 1")
    source = load_source(path)
    assert source.text == "-- →\r\ndef a = 1"
    assert source.name == str(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.cg") == "CG011"
    assert code_of(tmp_path) == "CG011"


def test_a_path_that_cannot_exist(tmp_path: Path) -> None:
    assert code_of(tmp_path / "a\0b") == "CG011"


@pytest.mark.parametrize(
    ("content", "offset", "column"),
    [(b"ab\xff", 2, 3), (b"\xef\xbb\xbfab\xff", 5, 3), ("\ufffd".encode() + b"\xc3(", 3, 2)],
)
def test_the_first_byte_that_is_no_utf8_is_named(tmp_path: Path, content: bytes, offset: int, column: int) -> None:
    path = tmp_path / "a.cg"
    path.write_bytes(content)
    with pytest.raises(ProblemsFound) as stopped:
        load_source(path)
    (problem,) = stopped.value.problems
    assert problem.code == "CG012"
    assert f"offset {offset} " in problem.render_label()
    assert problem.span is not None
    assert problem.span.column == column


def test_size_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.cg"
    with path.open("wb") as file:
        file.truncate(MAXIMUM_SIZE_BYTES + 7)
    with pytest.raises(ProblemsFound) as stopped:
        load_source(path)
    (problem,) = stopped.value.problems
    assert problem.code == "CG013"
    assert "67108871 bytes" in problem.render_title()
    with pytest.raises(ProblemsFound):
        decode_source("<stdin>", bytes(MAXIMUM_SIZE_BYTES + 1))
