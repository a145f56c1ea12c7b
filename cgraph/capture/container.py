"""The file of a bundle: a header, a manifest in JSON, and blobs of bytes.

Receives a manifest and named blobs, or a path; guarantees the same bytes for the same values, a file that is there
whole or not at all, and that what is read is what was written: every byte is covered by the header's own rules, by a
checksum, or must be zero. Sizes are held against the size of the file before anything is allocated. What the manifest
says is left to the codecs.

    8 bytes magic, u32 format version, u64 size of the manifest, 32 bytes SHA-256 of the manifest (little-endian)
    the manifest
    for each blob: zeros up to a multiple of `ALIGNMENT_BYTES`, then its bytes
"""

import os
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from attrs import field, frozen

from cgraph.capture.json_text import MOST_BYTES, JsonTextError, read_json, write_json
from cgraph.capture.problems_container import (
    BlobsWrong,
    BundleSizeWrong,
    BundleUnreadable,
    BundleUnwritable,
    ChecksumWrong,
    ManifestUnreadable,
    NotABundle,
    UnknownVersion,
)
from cgraph.core.replaced_files import replaced_file
from cgraph.diagnostics import Problem, ProblemsFound

MAGIC = b"\x93CGRAPH\n"
FORMAT_VERSION = 1
ALIGNMENT_BYTES = 64  # of blobs in the file, as wide as a cache line
HEADER = struct.Struct("<8sIQ32s")
BLOBS = "blobs"
MOST_BLOBS = 65_536
MOST_NAME_CHARACTERS = 255
_BLOB_KEYS = ("name", "offset", "size_bytes", "sha256")


@frozen(eq=False)
class _Blob:
    """Where a blob lies, from the file's first byte, and what it hashes to."""

    start: int
    size_bytes: int
    digest: str


@frozen(eq=False)
class Blobs:
    """The blobs of a file, read when they are asked for.

    Args:
        path: of the file.
    """

    path: Path
    _places: dict[str, _Blob] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the file."""
        return tuple(self._places)

    def size_bytes(self, name: str) -> int:
        """The size of one. Raises KeyError for a name that there is not."""
        return self._places[name].size_bytes

    def read(self, name: str) -> bytes:
        """The bytes of one, checked against its checksum.

        Raises:
            KeyError: there is none of that name.
            ProblemsFound: CG800 where the file cannot be read any more, CG805 where the bytes are not those written.
        """
        blob = self._places[name]
        try:
            with self.path.open("rb") as file:
                file.seek(blob.start)
                data = file.read(blob.size_bytes)
        except OSError as error:
            raise ProblemsFound([_unreadable(self.path, error)]) from error
        if sha256(data).hexdigest() != blob.digest:
            raise ProblemsFound([ChecksumWrong(None, str(self.path), f"`{name}`")])
        return data


def read_container(path: Path) -> tuple[dict[str, Any], Blobs]:
    """The manifest of a file, without its list of blobs, and the blobs.

    Raises:
        ProblemsFound: CG800 and CG802 to CG807. The checksums of blobs are checked when they are read.
    """
    try:
        with path.open("rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            manifest, end = _read_manifest(path, file, size_bytes)
            places = _places(path, manifest, end, size_bytes)
            _check_padding(path, file, places, end)
    except OSError as error:
        raise ProblemsFound([_unreadable(path, error)]) from error
    return manifest, Blobs(path, places)


def write_container(path: Path, manifest: Mapping[str, Any], blobs: Mapping[str, bytes]) -> None:
    """Writes a file, whole or not at all, also after a loss of power.

    Args:
        path: of the file; one that is there is replaced.
        manifest: of values that JSON has, with string keys; without the key `blobs`.
        blobs: by name, in the order in which they shall lie.

    Raises:
        ProblemsFound: CG801.
    """
    table = []
    offset = 0
    for name, data in blobs.items():
        offset = _aligned(offset)
        table.append(dict(zip(_BLOB_KEYS, (name, offset, len(data), sha256(data).hexdigest()), strict=True)))
        offset += len(data)
    text = write_json({**manifest, BLOBS: table})
    header = HEADER.pack(MAGIC, FORMAT_VERSION, len(text), sha256(text).digest())
    try:
        with replaced_file(path) as file:
            for part in (header + text, *blobs.values()):
                file.write(b"\0" * (_aligned(file.tell()) - file.tell()))
                file.write(part)
    except OSError as error:
        raise ProblemsFound([BundleUnwritable(None, str(path), error.strerror or str(error))]) from error


def _read_manifest(path: Path, file: BinaryIO, size_bytes: int) -> tuple[dict[str, Any], int]:
    """The manifest and where it ends. Raises ProblemsFound and OSError."""
    name = str(path)
    header = file.read(HEADER.size)
    if header[: len(MAGIC)] != MAGIC:
        raise ProblemsFound([NotABundle(None, name, repr(header[: len(MAGIC)]) if header else "nothing")])
    if len(header) < HEADER.size:
        raise ProblemsFound([BundleSizeWrong(None, name, "the header", "has", size_bytes, HEADER.size)])
    _, version, manifest_bytes, digest = HEADER.unpack(header)
    if version != FORMAT_VERSION:
        raise ProblemsFound([UnknownVersion(None, name, version, FORMAT_VERSION)])
    end = HEADER.size + manifest_bytes
    if end > size_bytes:
        raise ProblemsFound([BundleSizeWrong(None, name, "header and manifest", "have", size_bytes, end)])
    if manifest_bytes > MOST_BYTES:
        reason = f"{manifest_bytes} bytes, at most {MOST_BYTES} are read"
        raise ProblemsFound([ManifestUnreadable(None, name, reason)])
    text = file.read(manifest_bytes)
    if sha256(text).digest() != digest:
        raise ProblemsFound([ChecksumWrong(None, name, "the manifest")])
    try:
        return read_json(text), end
    except JsonTextError as error:
        raise ProblemsFound([ManifestUnreadable(None, name, str(error))]) from error


def _places(path: Path, manifest: dict[str, Any], end: int, size_bytes: int) -> dict[str, _Blob]:
    """Takes the list of blobs out of the manifest. Raises ProblemsFound (CG804, CG807)."""
    table = manifest.pop(BLOBS, None)
    if not isinstance(table, list) or len(table) > MOST_BLOBS:
        raise ProblemsFound([_wrong(path, "the list of blobs", f"expected a list of at most {MOST_BLOBS}")])
    places: dict[str, _Blob] = {}
    base = _aligned(end)
    stop = 0
    for number, row in enumerate(table):
        what = f"blob {number}"
        if not isinstance(row, dict) or tuple(row) != _BLOB_KEYS:
            raise ProblemsFound([_wrong(path, what, f"expected an object with {', '.join(_BLOB_KEYS)}")])
        name, offset, length, digest = row.values()
        if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME_CHARACTERS or name in places:
            raise ProblemsFound([_wrong(path, what, "its name is empty, too long, no text or not the only one")])
        if type(length) is not int or not 0 <= length <= size_bytes:
            raise ProblemsFound([_wrong(path, what, f"expected a size of at most {size_bytes} bytes")])
        if type(offset) is not int or offset != _aligned(stop):
            raise ProblemsFound([_wrong(path, what, f"expected the offset {_aligned(stop)}")])
        if not isinstance(digest, str):
            raise ProblemsFound([_wrong(path, what, "its checksum is no text")])
        places[name] = _Blob(base + offset, length, digest)
        stop = offset + length
    expected = base + stop if places else end
    if expected != size_bytes:
        raise ProblemsFound([BundleSizeWrong(None, str(path), "its contents", "have", size_bytes, expected)])
    return places


def _check_padding(path: Path, file: BinaryIO, places: Mapping[str, _Blob], end: int) -> None:
    """The bytes between the parts are zero. Raises ProblemsFound (CG807) and OSError."""
    for start, stop in _gaps(places, end):
        file.seek(start)
        if any(file.read(stop - start)):
            raise ProblemsFound([_wrong(path, f"bytes [{start}, {stop})", "expected zeros between the parts")])


def _gaps(places: Mapping[str, _Blob], end: int) -> Iterator[tuple[int, int]]:
    for blob in places.values():
        yield end, blob.start
        end = blob.start + blob.size_bytes


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _unreadable(path: Path, error: OSError) -> Problem:
    return BundleUnreadable(None, str(path), error.strerror or str(error))


def _wrong(path: Path, what: str, reason: str) -> Problem:
    return BlobsWrong(None, str(path), what, reason)
