"""A whole model recorded through the Python call, replayed and verified by the command line in a new process."""

import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest

from cgraph.capture import load_bundle, record, save_bundle
from cgraph.capture.model import Bundle
from cgraph.models.backward import gpt_backward
from cgraph.models.config import GptConfig
from tests.support.model_cases import random_weights

ROOT = Path(__file__).parents[2]
CONFIG = GptConfig(vocab=7, context=4, width=8, heads=2, layers=1, ffn=6)


def replayed(path: Path, device: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cgraph.cli.main", "replay", str(path), "--device", device, "--verify"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("device", "half"), [("host", "f32"), ("host", "f16"), ("emulated", "f16")])
def test_a_recorded_model_is_verified_in_another_process(device: str, half: str, tmp_path: Path) -> None:
    weights, ids, targets = random_weights(CONFIG, 1), np.array([1, 2, 3]), np.array([2, 3, 4])
    path = tmp_path / "model.cgb"
    with record() as recording:
        loss, _ = gpt_backward(CONFIG, weights, ids, targets, half=half, device=device)
    recording.save(path)
    bundle = load_bundle(path)
    assert isinstance(bundle, Bundle)
    assert bundle.recording is not None
    assert bundle.recording.device == device
    assert bundle.recording.outputs["cgLoss"].tolist() == [loss]
    assert len(set(bundle.recording.node_digests)) > len(bundle.graph.nodes) // 2
    done = replayed(path, device)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"verified: all {len(bundle.graph.nodes)} commands and all results have the bits of" in done.stdout
    # A kernel's inputs with other bits: the same command says which command is the first to differ.
    changed = {name: np.array(array) for name, array in bundle.data.items()}
    name = next(name for name, array in changed.items() if array.dtype.kind == "f" and array.size > 1)
    changed[name].reshape(-1)[0] += 1
    save_bundle(attrs.evolve(bundle, data=changed), path)
    done = replayed(path, device)
    assert done.returncode == 1
    assert "error[CG835]: the replay differs from the recording, first in command " in done.stderr
