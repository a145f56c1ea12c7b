"""Files that are there whole or not at all: what an error, an interruption or a missing folder leaves."""

import os
import stat
from pathlib import Path

import pytest

from cgraph.core.replaced_files import replaced_file


def test_the_new_content_takes_the_old_ones_place(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old and longer")
    with replaced_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old and longer"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_content_alone(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with replaced_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="folder"), replaced_file(path) as file:
        file.write(b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replaced_file(tmp_path / "missing" / "file.bin"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_a_new_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain", tmp_path / "file.bin"
    before = os.umask(0o022)
    try:
        plain.touch()
        with replaced_file(path) as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode) == 0o644
