"""`cgraph gradcheck` of the language model of gated layers, with ids and targets from a file."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cgraph.cli.gradcheck import gradcheck
from cgraph.resources import programs_directory

SIZES = {"cgSeq": 5, "cgBatch": 2, "cgVocab": 7, "cgHeads": 2, "cgHeadWidth": 4, "cgFfn": 3, "cgLayers": 2}
GRADIENTS_OF_A_LAYER, OTHER_GRADIENTS = 9, 3


@pytest.mark.parametrize(("tied", "recompute", "padded"), [(1, 1, 0), (0, 0, 0), (0, 1, 1)])
def test_every_gradient_passes(tmp_path: Path, tied: int, recompute: int, padded: int) -> None:
    rng = np.random.default_rng(0)
    shape = (SIZES["cgSeq"], SIZES["cgBatch"])
    ids, targets = rng.integers(0, SIZES["cgVocab"], shape), rng.integers(-1, SIZES["cgVocab"], shape)
    # With padding, the first sequence begins late.
    present = np.arange(SIZES["cgSeq"])[:, None] >= np.array([2, 0])
    planes = {"cgTokenIds": ids, "cgTargets": targets, **({"cgPresent": present} if padded else {})}
    np.savez(tmp_path / "batch.npz", **{name: plane.astype(np.int32) for name, plane in planes.items()})
    sizes = {**SIZES, "cgTiedHead": tied, "cgRecompute": recompute, "cgPadded": padded}
    options = [option for name, value in sizes.items() for option in ("--set", f"{name}={value}")]
    file = str(programs_directory() / "geglu_lm.cg")
    arguments = [file, *options, "--inputs", str(tmp_path / "batch.npz"), "--samples", "3", "--json"]
    result = CliRunner().invoke(gradcheck, arguments)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    rows = {row["plane"]: row for row in data["planes"]}
    assert len(rows) == OTHER_GRADIENTS + (1 - tied) + GRADIENTS_OF_A_LAYER * SIZES["cgLayers"]
    assert {row["verdict"] for row in rows.values()} == {"ok"}
    assert all(row["norm"] > 0 for row in rows.values())
    assert ("cgLogitWeight" in rows) is not bool(tied)
    assert data["forward"].endswith("geglu_lm_forward.cg")
    assert data["without_gradient"] == data["outside_loss"] == data["not_moved"] == data["zeros"] == []
