import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from safetensors.numpy import load_file, save_file

from cgraph.cli.main import main
from cgraph.resources import programs_directory

SMALL = ("--set", "cgSeq=5", "--set", "cgHeadWidth=4", "--set", "cgFfn=7", "--set", "cgLayers=1")
SCALE = """import "operations.cg"
parameter n : Nat = 6
plane factor : f32 [n] weight
plane given : f32 [n] input
plane result : f32 [n] output
def main = (cgBinary cgImageMultiply result factor given n)
"""


def program(name: str) -> str:
    return str(programs_directory() / name)


def cgraph(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments])


@pytest.fixture
def scale(tmp_path: Path) -> str:
    path = tmp_path / "scale.cg"
    path.write_text(SCALE, encoding="utf-8")
    return str(path)


def test_the_report_names_phases_memory_norms_and_errors() -> None:
    result = cgraph(program("layer_backward.cg"), *SMALL, "--check")
    assert result.exit_code == 0, result.stderr
    for text in (
        "main, 45 commands",
        "cgSeq = 5",
        "saved planes from",
        "attention of the heads",
        "memory: scratch",
        "lower bound",
        "cgInputGradient",
        "relative error",
        "compared with the float64 reference of the layer: all within the bound",
    ):
        assert text in result.stdout
    assert result.stderr == ""
    assert "\x1b" not in result.stdout  # nothing but data when piped


@pytest.mark.parametrize("order", ["serial", "phase", "dataflow"])
@pytest.mark.parametrize("half", ["f32", "f16", "bf16", "f64"])
def test_every_half_and_order_passes_the_check(half: str, order: str) -> None:
    result = cgraph(program("layer_backward.cg"), "--set", "cgLayers=1", "--half", half, "--order", order, "--check")
    assert result.exit_code == 0, result.stdout + result.stderr


def test_results_are_written_and_read_again(scale: str, tmp_path: Path) -> None:
    factor = np.arange(6, dtype=np.float32)
    given = np.full(6, 0.5, np.float32)
    for suffix in (".safetensors", ".npz"):
        inputs, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
        if suffix == ".npz":
            np.savez(inputs, factor=factor, given=given)
        else:
            save_file({"factor": factor, "given": given}, inputs)
        result = cgraph(scale, "--inputs", str(inputs), "--out", str(out))
        assert result.exit_code == 0, result.stderr
        found = dict(np.load(out)) if suffix == ".npz" else load_file(out)
        assert list(found) == ["result"]
        assert np.array_equal(found["result"], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
        assert sorted(path.name for path in tmp_path.glob(".*")) == []  # no temporary file is left


def test_a_forward_run_saves_what_the_backward_run_reads(tmp_path: Path) -> None:
    saved = str(tmp_path / "saved.safetensors")
    arguments = (*SMALL, "--set", "cgRecompute=0", "--seed", "3")
    assert cgraph(program("layer_forward.cg"), *arguments, "--out", saved).exit_code == 0
    given = cgraph(program("layer_backward.cg"), *arguments, "--inputs", saved, "--check", "--json")
    computed = cgraph(program("layer_backward.cg"), *arguments, "--check", "--json")
    first, second = (json.loads(result.stdout) for result in (given, computed))
    assert first["forward"] is None
    assert second["forward"] == program("layer_forward.cg")
    assert first["results"] == second["results"]
    assert all(row["relative_error"] < row["bound"] for row in first["results"])


def test_another_program_is_compared_with_itself_in_f64(scale: str) -> None:
    result = cgraph(scale, "--check")
    assert result.exit_code == 0
    assert "the same commands in f64" in result.stdout


def test_nan_in_an_input_is_a_warning_that_names_the_plane(scale: str, tmp_path: Path) -> None:
    values = np.ones(6, np.float32)
    values[2] = np.nan
    save_file({"given": values}, tmp_path / "nan.safetensors")
    result = cgraph(scale, "--inputs", str(tmp_path / "nan.safetensors"))
    assert result.exit_code == 0
    assert "warning[CG724]: `given` holds 1 of 6 elements that are NaN or infinite" in result.stderr
    assert "the first one is at [2]" in result.stderr


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "garbage", "missing"])
def test_an_input_file_that_cannot_be_read(scale: str, tmp_path: Path, suffix: str, damage: str) -> None:
    path = tmp_path / f"bad{suffix}"
    if suffix == ".npz":
        np.savez(path, given=np.ones(6, np.float32))
    else:
        save_file({"given": np.ones(6, np.float32)}, path)
    whole = path.read_bytes()
    contents = {"truncated": whole[: len(whole) // 2], "empty": b"", "garbage": bytes(range(256)) * 8}
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(contents[damage])
    result = cgraph(scale, "--inputs", str(path))
    assert result.exit_code == 1
    assert f"error[CG721]: cannot read planes from `{path}`" in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_an_npz_with_objects_is_not_unpickled(scale: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", given=np.array([{"a": 1}], dtype=object))
    result = cgraph(scale, "--inputs", str(tmp_path / "objects.npz"))
    assert result.exit_code == 1
    assert "error[CG721]" in result.stderr


def test_inputs_that_do_not_fit(scale: str, tmp_path: Path) -> None:
    save_file({"given": np.ones(5, np.float32), "factor": np.ones(6, np.int32)}, tmp_path / "in.safetensors")
    result = cgraph(scale, "--inputs", str(tmp_path / "in.safetensors"))
    assert result.exit_code == 1
    assert "error[CG703]" in result.stderr
    assert "error[CG725]: plane `factor` holds f32, the file has int32" in result.stderr
    save_file({"nobody": np.ones(5, np.float32)}, tmp_path / "other.safetensors")
    result = cgraph(scale, "--inputs", str(tmp_path / "other.safetensors"))
    assert result.exit_code == 0
    assert "warning[CG723]: no plane of the graph takes `nobody`" in result.stderr


def test_files_of_another_kind_and_places_that_cannot_be_written(scale: str, tmp_path: Path) -> None:
    for option in ("--inputs", "--out"):
        result = cgraph(scale, option, str(tmp_path / "planes.txt"))
        assert result.exit_code == 1
        assert "error[CG720]" in result.stderr
    result = cgraph(scale, "--out", str(tmp_path / "nowhere" / "planes.npz"))
    assert result.exit_code == 1
    assert "error[CG722]" in result.stderr


def test_a_saved_plane_without_a_forward_program(tmp_path: Path) -> None:
    path = tmp_path / "alone.cg"
    path.write_text(Path(program("layer_backward.cg")).read_text(encoding="utf-8"), encoding="utf-8")
    result = cgraph(str(path), *SMALL)
    assert result.exit_code == 1
    assert "error[CG726]: `cgBoundary 0` is saved by a forward pass and has no value here" in result.stderr


@pytest.mark.parametrize(
    ("settings", "code", "text"),
    [
        (("cgSqe=4",), 1, "did you mean `cgSeq`?"),
        (("cgSeq=1.5",), 1, "`1.5` is no value for parameter `cgSeq`"),
        (("cgSeq=-1",), 1, "`-1` is no value for parameter `cgSeq`"),
        (("cgSeq",), 2, "is not NAME=VALUE"),
        (("cgSeq=four",), 2, "`four` is no number"),
        (("cgSeq=1", "cgSeq=2"), 2, "is set twice"),
        (("cgHeadWidth=3",), 1, "requires `(naturalModulo cgHeadWidth 2) = 0`"),
        (("cgCausal=2",), 1, "requires `causal <= 1`"),
        (("cgSeq=0",), 1, "grid"),
    ],
)
def test_settings_that_do_not_work(settings: tuple[str, ...], code: int, text: str) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    result = cgraph(program("layer_backward.cg"), *options)
    assert result.exit_code == code
    assert text in result.stderr
    assert "Traceback" not in result.stderr


def test_a_seed_gives_the_same_numbers_and_another_seed_others(scale: str) -> None:
    norms = [
        [row["norm"] for row in json.loads(cgraph(scale, "--seed", seed, "--json").stdout)["results"]]
        for seed in ("1", "1", "2")
    ]
    assert norms[0] == norms[1] != norms[2]
