"""`cgraph gradcheck --inputs`: values from a file, and the whole-model programs, which need ids."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cgraph.cli.gradcheck import gradcheck
from cgraph.resources import programs_directory
from tests.support.small_pairs import write_square

SIZES = {"cgSeq": 5, "cgBatch": 2, "cgVocab": 7, "cgContext": 6, "cgHeads": 2, "cgHeadWidth": 3, "cgFfn": 4}
GRADIENTS_OF_A_BLOCK, OTHER_GRADIENTS = 12, 6


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(gradcheck, [str(argument) for argument in arguments])


def rows(result: Result) -> dict[str, dict[str, Any]]:
    return {row["plane"]: row for row in json.loads(result.stdout)["planes"]}


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    shape = (SIZES["cgSeq"], SIZES["cgBatch"])
    planes = {
        "cgTokenIds": rng.integers(0, SIZES["cgVocab"], shape),
        "cgTargets": rng.integers(-1, SIZES["cgVocab"], shape),
        "cgSupervised": rng.integers(0, 2, shape),
        "cgPresent": np.arange(shape[0])[:, None] < np.array([shape[0], 3]),
    }
    file = tmp_path / "batch.npz"
    np.savez(file, **{name: plane.astype(np.int32) for name, plane in planes.items()})  # type: ignore[arg-type]
    return file


@pytest.mark.parametrize("program", ["gpt", "bert"])
@pytest.mark.parametrize(
    "settings",
    [
        {"cgRecompute": 0, "cgLayers": 1},
        {"cgRecompute": 1, "cgLayers": 2, "cgPadded": 1, "cgErfGelu": 1, "cgFfn": 7},
        {"cgRecompute": 1, "cgLayers": 1, "cgSeq": 1, "cgContext": 1},
    ],
)
def test_whole_models_pass(batch: Path, program: str, settings: dict[str, int]) -> None:
    sizes = {**SIZES, **settings}
    options = [option for name, value in sizes.items() for option in ("--set", f"{name}={value}")]
    if sizes["cgSeq"] == SIZES["cgSeq"]:
        options += ["--inputs", str(batch)]
    result = invoke(programs_directory() / f"{program}.cg", *options, "--samples", 3, "--json")
    assert result.exit_code == 0, result.output
    found = rows(result)
    assert len(found) == OTHER_GRADIENTS + GRADIENTS_OF_A_BLOCK * sizes["cgLayers"]
    assert {row["verdict"] for row in found.values()} == {"ok"}
    data = json.loads(result.stdout)
    assert data["forward"].endswith(f"{program}_forward.cg")
    assert data["without_gradient"] == data["outside_loss"] == data["not_moved"] == []
    assert bool(data["zeros"]) is (sizes["cgSeq"] != SIZES["cgSeq"])
    if sizes["cgSeq"] == SIZES["cgSeq"]:
        assert all(row["norm"] > 0 for row in found.values())


@pytest.mark.parametrize(
    ("right", "wrong", "planes"),
    [
        (
            "(cgBinary cgImageAdd other current cgNormInputGradient cgStreamElements)",
            "(cgCopy other cgNormInputGradient)",
            {"cgOutputWeight 0", "cgTokenEmbedding"},
        ),
        ("cgKeyGradientHalf (cgKeyHalf l)", "cgKeyGradientHalf (cgQueryHalf l)", {"cgNorm1Gain 0", "cgTokenEmbedding"}),
    ],
)
def test_a_mistake_in_a_model_is_named(tmp_path: Path, batch: Path, right: str, wrong: str, planes: set[str]) -> None:
    text = (programs_directory() / "library" / "model.cg").read_text(encoding="utf-8")
    assert text.count(right) == 1
    (tmp_path / "model.cg").write_text(text.replace(right, wrong), encoding="utf-8")
    # What imports the model must stand beside it, or it would import the library's.
    for name in ("gpt.cg", "gpt_forward.cg", "library/model_training.cg"):
        (tmp_path / Path(name).name).write_text(
            (programs_directory() / name).read_text(encoding="utf-8"), encoding="utf-8"
        )
    sizes = {**SIZES, "cgLayers": 1}
    options = [option for name, value in sizes.items() for option in ("--set", f"{name}={value}")]
    result = invoke(tmp_path / "gpt.cg", "--inputs", batch, *options, "--samples", 3, "--json")
    assert result.exit_code == 1, result.output
    wrong_planes = {name for name, row in rows(result).items() if row["verdict"] == "mismatch"}
    assert planes <= wrong_planes < set(rows(result))


def test_gradients_are_checked_where_the_file_says(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.full((6, 4), 3.0), w=np.full((6, 4), 2.0), dy=np.ones((6, 4)))
    result = invoke(write_square(tmp_path), "--inputs", tmp_path / "x.npz", "--json")
    assert result.exit_code == 0, result.output
    # y = (x · w)²: dx = 2 x w² = 24 and dw = 2 x² w = 36, in 24 elements.
    assert rows(result)["x"]["norm"] == pytest.approx(24 * np.sqrt(24))
    assert rows(result)["w"]["norm"] == pytest.approx(36 * np.sqrt(24))


def test_arrays_that_do_not_fit(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((6, 5)))
    result = invoke(write_square(tmp_path), "--inputs", tmp_path / "x.npz")
    assert result.exit_code == 2
    assert "error[CG703]" in result.stderr
    result = invoke(write_square(tmp_path), "--inputs", tmp_path / "missing.npz")
    assert result.exit_code == 2
    assert "error[CG721]" in result.stderr


def test_arrays_that_nothing_takes_are_named_once(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", strange=np.ones(3))
    result = invoke(write_square(tmp_path), "--inputs", tmp_path / "x.npz")
    assert result.exit_code == 0
    assert result.stderr.count("warning[CG723]") == 1
    # The gradient of the output is a plane of the backward program alone.
    np.savez(tmp_path / "dy.npz", dy=np.ones((6, 4)))
    result = invoke(write_square(tmp_path), "--inputs", tmp_path / "dy.npz")
    assert (result.exit_code, result.stderr) == (0, "")
