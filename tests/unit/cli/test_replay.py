"""`cgraph replay`, on the host; bundles come from `cgraph save` and from recordings."""

import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result
from safetensors.numpy import load_file, save_file

from cgraph.capture import Bundle, Replay, load_bundle, record, save_bundle
from cgraph.cli.main import main

PROGRAM = """
import "operations.cg"
plane x : f32 [4] input
plane w : f32 [4] state
plane h : f32 [4] scratch
plane y : f32 [4] output
phase doubling "doubling of x"
def main =
  (cgThen (cgPhase doubling (cgBinary cgImageAdd h x x 4))
  (cgThen (cgBinary cgImageAdd w w h 4) (cgBinary cgImageAdd y h x 4)))
"""
X = np.array([1, 2, 3, 4], np.float32)


def cgraph(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Saved without contents of planes."""
    (tmp_path / "sums.cg").write_text(PROGRAM, encoding="utf-8")
    result = cgraph("save", tmp_path / "sums.cg", "-o", tmp_path / "sums.cgb", "--no-cubin")
    assert result.exit_code == 0, result.output
    (tmp_path / "sums.cg").unlink()
    return tmp_path / "sums.cgb"


@pytest.fixture
def recorded(saved: Path) -> Path:
    with Replay(saved) as replay:
        replay.set("x", X)
        with record() as recording:
            replay.run()
    recording.save(saved.parent / "recorded.cgb")
    return saved.parent / "recorded.cgb"


def change(path: Path, **changes: Any) -> Path:
    bundle = load_bundle(path)
    assert isinstance(bundle, Bundle)
    assert bundle.recording is not None
    recording = attrs.evolve(bundle.recording, **changes.pop("recording", {}))
    save_bundle(attrs.evolve(bundle, recording=recording, **changes), path)
    return path


def test_planes_come_from_the_bundle_or_a_file(saved: Path, recorded: Path) -> None:
    result = cgraph("replay", saved)
    assert result.exit_code == 1
    assert "error[CG837]" in result.stderr
    assert "holds no contents for 1 plane(s) that a run reads" in result.stderr
    given, out = saved.parent / "x.safetensors", saved.parent / "y.safetensors"
    save_file({"x": X}, given)
    result = cgraph("replay", saved, "--inputs", given, "--out", out)
    assert result.exit_code == 0, result.output
    assert "main, 3 commands on 4 planes" in result.stdout
    assert "doubling of x" in result.stdout
    assert "2 results written" in result.stdout
    found = load_file(out)
    assert found["y"].tolist() == [3, 6, 9, 12]
    assert found["w"].tolist() == [2, 4, 6, 8]
    result = cgraph("replay", recorded, "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data["commands"] == 3
    norms = {row["name"]: row["norm"] for row in data["results"]}
    assert norms == pytest.approx({"y": 270**0.5, "w": 120**0.5})
    assert "verified" not in data


def test_several_runs_go_on_where_the_last_ended(recorded: Path) -> None:
    out = recorded.parent / "out.npz"
    assert cgraph("replay", recorded, "--times", 3, "--out", out).exit_code == 0
    assert np.load(out)["w"].tolist() == [6, 12, 18, 24]


def test_the_recorded_run_is_verified(recorded: Path) -> None:
    result = cgraph("replay", recorded, "--verify")
    assert result.exit_code == 0, result.output
    assert "verified: all 3 commands and all results have the bits of the recording on host" in result.stdout
    data = json.loads(cgraph("replay", recorded, "--verify", "--json").stdout)
    assert data["verified"] == {"holds": True, "bit_for_bit": True, "difference": None}


def test_a_difference_names_the_command(recorded: Path) -> None:
    change(recorded, data={"x": np.float32([1, 2, 3, 5]), "w": np.zeros(4, np.float32)})
    result = cgraph("replay", recorded, "--verify")
    assert result.exit_code == 1
    assert "error[CG835]: the replay differs from the recording, first in command 0" in result.stderr
    assert "phase: doubling of x" in result.stderr
    assert "verified" not in result.stdout
    result = cgraph("replay", recorded, "--verify", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["verified"]["difference"]["code"] == "CG835"


def test_another_device_is_compared_by_a_tolerance(recorded: Path) -> None:
    y = np.float32([3, 6, 9, 12]) * np.float32(1 + 1e-3)
    outputs = {"y": y, "w": np.float32([2, 4, 6, 8])}
    change(recorded, recording={"device": "cuda:0", "outputs": outputs})
    result = cgraph("replay", recorded, "--verify")
    assert result.exit_code == 1
    assert "TOO LARGE" in result.stdout
    assert "compared with the recording on cuda:0: NOT all within the bound" in result.stdout
    result = cgraph("replay", recorded, "--verify", "--tolerance", 0.01)
    assert result.exit_code == 0
    assert "compared with the recording on cuda:0: all within the bound 0.01" in result.stdout
    # The relative error of y is a thousandth.
    assert cgraph("replay", recorded, "--verify", "--tolerance", 0.0011).exit_code == 0
    assert cgraph("replay", recorded, "--verify", "--tolerance", 0.0009).exit_code == 1


def test_the_types_give_a_tolerance(recorded: Path) -> None:
    """Two launches follow each other, all planes are f32: 2 · 2 · (1 + √4) · 2^-24 = 7.15e-7."""
    y = np.float32([3, 6, 9, 12]) * np.float32(1 + 5e-7)
    change(recorded, recording={"device": "emulated", "outputs": {"y": y}})
    result = cgraph("replay", recorded, "--verify")
    assert result.exit_code == 0
    assert "all within the bound 7.15e-07" in result.stdout


def test_a_run_is_recorded(saved: Path) -> None:
    save_file({"x": X}, saved.parent / "x.safetensors")
    kept = saved.parent / "kept.cgb"
    result = cgraph("replay", saved, "--inputs", saved.parent / "x.safetensors", "--record", kept, "--times", 2)
    assert result.exit_code == 0, result.output
    assert cgraph("replay", kept, "--verify").exit_code == 0
    bundle = load_bundle(kept)
    assert isinstance(bundle, Bundle)
    assert bundle.data["w"].tolist() == [2, 4, 6, 8]  # before the second run
    assert bundle.recording is not None
    assert bundle.recording.outputs["w"].tolist() == [4, 8, 12, 16]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--verify", "--inputs", "x.safetensors"], "--verify compares a run of the recorded inputs"),
        (["--tolerance", "0.1"], "--tolerance belongs to --verify"),
        (["--device", "gpu"], "`gpu` is no device: host, emulated, cuda or cuda:N"),
        (["--times", "0"], "--times"),
    ],
)
def test_wrong_usage(recorded: Path, options: list[str], text: str) -> None:
    result = cgraph("replay", recorded, *options)
    assert result.exit_code == 2
    assert text in result.stderr


def test_files_that_cannot_be_replayed(saved: Path) -> None:
    result = cgraph("replay", saved.parent / "nothing.cgb")
    assert result.exit_code == 2
    assert "error[CG800]" in result.stderr
    damaged = saved.parent / "damaged.cgb"
    damaged.write_bytes(saved.read_bytes()[:-1])
    assert cgraph("replay", damaged).exit_code == 1
    result = cgraph("replay", saved, "--verify", "--device", "host", "--inputs", saved)
    assert result.exit_code == 2
    save_file({"x": X}, saved.parent / "x.safetensors")
    result = cgraph("replay", saved, "--verify")
    assert result.exit_code == 1
    assert "error[CG837]" in result.stderr


def test_nothing_to_verify_with(recorded: Path) -> None:
    bundle = load_bundle(recorded)
    assert isinstance(bundle, Bundle)
    save_bundle(attrs.evolve(bundle, recording=None), recorded)
    result = cgraph("replay", recorded, "--verify")
    assert result.exit_code == 1
    assert "error[CG834]" in result.stderr
    assert "holds no recorded run to compare with" in result.stderr
