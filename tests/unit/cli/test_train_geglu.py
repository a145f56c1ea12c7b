"""`cgraph train` with the language model of gated layers: it learns, and its evaluation is that of the reference."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner
from safetensors.numpy import load_file

from cgraph.cli.main import main
from cgraph.reference.gated_model import gated_model_loss
from cgraph.resources import programs_directory
from tests.support.geglu_cases import GegluCase, gradient_planes
from tests.support.train_command import PHRASE, set_options, write_text

CHARACTERS = sorted(set(PHRASE))
CASE = GegluCase(layers=1, heads=2, head_width=4, ffn=16, vocab=len(CHARACTERS), seq=8, batch=2)


@pytest.mark.parametrize("tied", [1, 0])
def test_a_run_learns(tmp_path: Path, tied: int) -> None:
    checkpoint = tmp_path / "run.safetensors"
    sizes = {"cgSeq": 8, "cgBatch": 2, "cgLayers": 1, "cgHeads": 2, "cgHeadWidth": 4, "cgFfn": 16, "cgTiedHead": tied}
    words = ["train", str(programs_directory() / "geglu_lm.cg"), "--text", write_text(tmp_path), *set_options(sizes)]
    words += ["--steps", "80", "--learning-rate", "0.02", "--tokens", "characters", "--sample-length", "5"]
    words += ["--evaluate-batches", "1", "--checkpoint", str(checkpoint), "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["evaluations"][-1]["loss"]
    planes = load_file(checkpoint)
    case = evolve(CASE, tied=bool(tied))
    weights = {name: planes[plane].astype(np.float64) for name, (plane, _) in gradient_planes(case).items()}
    assert found < 0.7 * math.log(len(CHARACTERS))
    # The last tenth of the text, two sequences at its ends.
    tokens = np.array([CHARACTERS.index(character) for character in PHRASE * 30][1215:])
    ids = np.array([tokens[start : start + 8] for start in (0, 126)])
    targets = np.array([tokens[start + 1 : start + 9] for start in (0, 126)])
    expected = gated_model_loss(case.config, weights, ids, targets)
    assert abs(found - expected) <= 1e-5 * expected
