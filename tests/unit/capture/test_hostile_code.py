"""Code, texts and contents in files that somebody wrote who means harm: each that does not fit is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from cgraph.backends.cuda.entries import read_entries
from cgraph.capture.container import write_container
from cgraph.capture.loading import load_bundle
from tests.support.hostile import Stored, changed, layer, parts, refusal

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry cgAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) .maxntid 256, 1, 1 { ret; }
"""
ENTRY = {
    "name": "cgAdd",
    "parameters": [["u64", 8], ["u64", 8], ["u64", 8], ["u32", 4]],
    "block_threads": 256,
    "resources": None,
}
CODE = {"kind": "ptx", "architecture": "compute_80", "ptx_version": [8, 0], "entries": [ENTRY]}


def with_code(code: dict[str, Any], data: bytes) -> Stored:
    manifest = changed({**parts()[0], "codes": [code]}, "modules.0.codes", [0])
    return manifest, {**parts()[1], "code 0": data}


def test_code_that_fits_is_taken(tmp_path: Path) -> None:
    write_container(tmp_path / "a.cgb", *with_code(CODE, PTX.encode()))
    load_bundle(tmp_path / "a.cgb")
    cubin = {**CODE, "kind": "cubin", "architecture": "sm_90a", "ptx_version": None}
    write_container(tmp_path / "a.cgb", *with_code(cubin, b"\x7fELF" + bytes(60)))
    load_bundle(tmp_path / "a.cgb")


@pytest.mark.parametrize(
    ("change", "data"),
    [
        ({"kind": "fatbin"}, PTX),
        ({"kind": "cubin"}, PTX),
        ({"architecture": "sm_80"}, PTX),
        ({"architecture": "compute_80\n"}, PTX),
        ({"ptx_version": [9, 0]}, PTX),
        ({"ptx_version": None}, PTX),
        ({"ptx_version": [8, 0]}, "no code"),
        ({"ptx_version": [8, 0]}, PTX + "\0"),
        ({"entries": []}, PTX),
        ({"entries": [{**ENTRY, "block_threads": None}]}, PTX),
        ({"entries": [{**ENTRY, "resources": {"registers": 1}}]}, PTX),
    ],
)
def test_code_that_is_not_what_is_said_of_it(tmp_path: Path, change: dict[str, Any], data: str) -> None:
    assert refusal(tmp_path, *with_code({**CODE, **change}, data.encode()))[0] == ["CG808"]


def test_ptx_is_a_text(tmp_path: Path) -> None:
    codes, text = refusal(tmp_path, *with_code(CODE, PTX.encode() + b"// \x8b"))
    assert codes == ["CG808"]
    assert "UTF-8" in text


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("cgAdd(", "cgOther(", "CG736"), (".param .u32 n", ".param .u64 n", "CG737"), ("256, 1", "128, 1", "CG738")],
)
def test_code_whose_kernel_does_not_fit(tmp_path: Path, old: str, new: str, code: str) -> None:
    text = PTX.replace(old, new)
    entries = [
        {
            "name": entry.name,
            "parameters": [[parameter.type, parameter.size_bytes] for parameter in entry.parameters],
            "block_threads": entry.block_threads,
            "resources": None,
        }
        for entry in read_entries(text, "")
    ]
    assert refusal(tmp_path, *with_code({**CODE, "entries": entries}, text.encode()))[0] == ["CG813", code]


def test_blobs_are_those_that_the_manifest_names(tmp_path: Path) -> None:
    manifest, blobs = layer()
    assert "`extra`" in refusal(tmp_path, manifest, {**blobs, "extra": b""})[1]
    assert "`text 0`" in refusal(tmp_path, manifest, {name: blobs[name] for name in blobs if name != "text 0"})[1]
    assert "`data`" in refusal(tmp_path, manifest, {name: blobs[name] for name in blobs if name != "data"})[1]
    assert "`data`" in refusal(tmp_path, {**manifest, "data": None}, blobs)[1]
    assert "UTF-8" in refusal(tmp_path, manifest, {**blobs, "text 0": b"\xff"})[1]


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"cgNobody": np.zeros(1, np.float32)}, "a plane of the graph"),
        ({"cgInput": np.zeros((4, 5), np.float32)}, "found float32 [4, 5]"),
        ({"cgInput": np.zeros((4, 4), np.float64)}, "found float64 [4, 4]"),
        ({"cgInput": np.zeros((4, 4), np.int64)}, "planes hold"),
        (b"", "a block of safetensors"),
        (b"\xff" * 64, "a block of safetensors"),
        ((2**40).to_bytes(8, "little") + b"{}", "a block of safetensors"),
    ],
)
def test_contents_that_fit_no_plane(tmp_path: Path, arrays: Any, text: str) -> None:
    manifest, blobs = layer()
    data = arrays if isinstance(arrays, bytes) else save(arrays)
    codes, title = refusal(tmp_path, manifest, {**blobs, "data": data})
    assert codes == ["CG808"]
    assert text in title


def test_digests_are_those_of_all_commands(tmp_path: Path) -> None:
    manifest, blobs = layer()
    recording = {"device": "host", "outputs": "outputs", "digests": "digests"}
    _, text = refusal(
        tmp_path, {**manifest, "recording": recording}, {**blobs, "outputs": save({}), "digests": bytes(32)}
    )
    assert "32 bytes for each of" in text
