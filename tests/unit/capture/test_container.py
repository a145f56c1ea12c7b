import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cgraph.capture.container import HEADER, read_container, write_container
from cgraph.diagnostics import ProblemsFound

BLOBS = {"first": b"abc", "empty": b"", "last": bytes(range(200))}
MANIFEST = {"content": "test", "names": ["ä", "b"], "value": 0.1}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.cgb"
    write_container(path, MANIFEST, BLOBS)
    return path


def codes(path: Path) -> set[str]:
    """What is found in a file when all of it is read."""
    try:
        _, blobs = read_container(path)
        for name in blobs.names:
            blobs.read(name)
    except ProblemsFound as stopped:
        return {problem.code for problem in stopped.problems}
    return set()


def with_manifest(path: Path, text: bytes, rest: bytes = b"") -> None:
    path.write_bytes(struct.pack("<8sIQ32s", b"\x93CGRAPH\n", 1, len(text), sha256(text).digest()) + text + rest)


def test_what_is_written_is_read(file: Path) -> None:
    manifest, blobs = read_container(file)
    assert manifest == MANIFEST
    assert {name: blobs.read(name) for name in blobs.names} == BLOBS
    assert blobs.size_bytes("last") == 200
    with pytest.raises(KeyError):
        blobs.read("other")


def test_the_header_is_the_documented_one(file: Path) -> None:
    data = file.read_bytes()
    magic, version, size_bytes = struct.unpack_from("<8sIQ", data)
    assert (magic, version) == (b"\x93CGRAPH\n", 1)
    assert sha256(data[52 : 52 + size_bytes]).digest() == data[20:52]


def test_the_same_values_give_the_same_bytes(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.cgb"
    write_container(other, MANIFEST, BLOBS)
    assert file.read_bytes() == other.read_bytes()


def test_a_file_without_blobs(tmp_path: Path) -> None:
    write_container(tmp_path / "a.cgb", MANIFEST, {})
    assert read_container(tmp_path / "a.cgb")[1].names == ()


def test_no_byte_may_change(file: Path) -> None:
    data = file.read_bytes()
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert codes(file), place


def test_no_byte_may_be_missing_or_more(file: Path) -> None:
    data = file.read_bytes()
    for length in range(len(data)):
        file.write_bytes(data[:length])
        assert codes(file) & {"CG802", "CG804", "CG805"}, length
    file.write_bytes(data + b"\0")
    assert codes(file) == {"CG804"}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert codes(tmp_path / "none.cgb") == {"CG800"}
    assert codes(tmp_path) == {"CG800"}
    with pytest.raises(ProblemsFound, match="CG801"):
        write_container(tmp_path / "none" / "a.cgb", {}, {})
    with pytest.raises(ProblemsFound, match="CG801"):
        write_container(tmp_path, {}, {})


def test_a_file_that_went_away(file: Path) -> None:
    _, blobs = read_container(file)
    file.unlink()
    with pytest.raises(ProblemsFound, match="CG800"):
        blobs.read("first")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x93CGRAPH\r" + bytes(100)])
def test_other_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.cgb"
    path.write_bytes(data)
    assert codes(path) == {"CG802"}


@pytest.mark.parametrize("version", [0, 2, 2**32 - 1])
def test_other_versions(file: Path, version: int) -> None:
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 8, version)
    file.write_bytes(data)
    assert codes(file) == {"CG803"}


def test_a_manifest_larger_than_the_file_is_not_allocated(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for size_bytes in (2**63, 2**64 - 1, len(data) - HEADER.size + 1):
        struct.pack_into("<Q", data, 12, size_bytes)
        file.write_bytes(data)
        assert codes(file) == {"CG804"}


@pytest.mark.parametrize("text", [b"{", b"[" * 100_000, b'{"a":1,"a":2}', b"\xff"])
def test_manifests_that_are_none(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.cgb"
    with_manifest(path, text)
    assert codes(path) == {"CG806"}


GOOD: dict[str, Any] = {"name": "a", "offset": 0, "size_bytes": 3, "sha256": sha256(b"abc").hexdigest()}


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('{"content":"a"}', "CG807"),
        ('{"blobs":{}}', "CG807"),
        ('{"blobs":[1]}', "CG807"),
        ('{"blobs":[{}]}', "CG807"),
        ({**GOOD, "more": 1}, "CG807"),
        ({**GOOD, "name": ""}, "CG807"),
        ({**GOOD, "name": "a" * 256}, "CG807"),
        ({**GOOD, "name": 1}, "CG807"),
        ({**GOOD, "offset": 64}, "CG807"),
        ({**GOOD, "offset": -64}, "CG807"),
        ({**GOOD, "offset": False}, "CG807"),
        ({**GOOD, "size_bytes": -1}, "CG807"),
        ({**GOOD, "size_bytes": 2**62}, "CG807"),
        ({**GOOD, "size_bytes": 3.0}, "CG807"),
        ({**GOOD, "size_bytes": 2}, "CG804"),
        ({**GOOD, "sha256": None}, "CG807"),
        ({**GOOD, "sha256": "00"}, "CG805"),
    ],
)
def test_lists_of_blobs_that_are_wrong(tmp_path: Path, table: str | dict[str, Any], code: str) -> None:
    path = tmp_path / "a.cgb"
    text = table if isinstance(table, str) else json.dumps({"blobs": [table]})
    padding = bytes(-(52 + len(text)) % 64)
    with_manifest(path, text.encode(), padding + b"abc")
    assert codes(path) == {code}


def test_a_name_may_stand_once(tmp_path: Path) -> None:
    path = tmp_path / "a.cgb"
    text = json.dumps({"blobs": [{**GOOD, "size_bytes": 0}, {**GOOD, "size_bytes": 0}]})
    with_manifest(path, text.encode(), bytes(-(52 + len(text)) % 64))
    assert codes(path) == {"CG807"}
