import errno
import os
from pathlib import Path

import pytest

from cgraph.backends.cuda.cache import cache_directory, key_of, load, store

FACTS = {"entries": [["scale", 3]]}


def test_what_is_stored_is_loaded(tmp_path: Path) -> None:
    store(tmp_path / "new", "key", FACTS, b"code\n\x00more")
    assert load(tmp_path / "new", "key") == (FACTS, b"code\n\x00more")
    assert load(tmp_path / "new", "other") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:20],
        lambda _data: b"",
        lambda data: data.replace(b"code", b"c0de"),
        lambda data: data.replace(b"scale", b"scald"),
        lambda data: b"[]" + data,
        lambda data: b"\xff" + data,
    ],
)
def test_a_damaged_entry_counts_as_missing(tmp_path: Path, damage: object) -> None:
    store(tmp_path, "key", FACTS, b"code")
    path = tmp_path / "key.kernel"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]  # a function on bytes
    assert load(tmp_path, "key") is None


def test_nothing_is_left_beside_an_entry(tmp_path: Path) -> None:
    for code in (b"one", b"two"):
        store(tmp_path, "key", FACTS, code)
    assert [path.name for path in tmp_path.iterdir()] == ["key.kernel"]
    assert load(tmp_path, "key") == (FACTS, b"two")


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    store(tmp_path / "file", "key", FACTS, b"code")
    assert load(tmp_path / "file", "key") is None


def test_a_place_that_is_taken_leaves_no_rest(tmp_path: Path) -> None:
    (tmp_path / "key.kernel").mkdir()
    store(tmp_path, "key", FACTS, b"code")
    assert os.listdir(tmp_path) == ["key.kernel"]  # noqa: PTH208  (names are what is compared)


def test_a_full_disk_leaves_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_number: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("os.fsync", fail)
    store(tmp_path, "key", FACTS, b"code")
    assert list(tmp_path.iterdir()) == []


def test_keys_tell_texts_apart() -> None:
    keys = {key_of(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], [])}
    assert len(keys) == 5
    assert key_of(["ab", "c"]) == key_of(["ab", "c"])


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGRAPH_CACHE", "/somewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_directory() == Path("/somewhere")
    monkeypatch.delenv("CGRAPH_CACHE")
    assert cache_directory() == Path("/caches/cgraph")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_directory() == Path("/home/someone/.cache/cgraph")
