"""`cgraph train` beside the same run in PyTorch: same weights, same batches, PyTorch's optimizers; losses to 1e-3."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402
from torch_training import torch_losses  # noqa: E402

from cgraph.cli.main import main  # noqa: E402
from cgraph.models.config import GptConfig  # noqa: E402
from cgraph.models.gpt_program import plane_names  # noqa: E402
from cgraph.models.training.batches import training_batch  # noqa: E402
from cgraph.models.training.first_weights import first_weights  # noqa: E402
from cgraph.pipeline import compile_program  # noqa: E402
from cgraph.syntax.loading import load_source  # noqa: E402
from tests.support.train_command import GPT, PHRASE, log_records, set_options, write_text  # noqa: E402

pytestmark = [pytest.mark.peer, pytest.mark.slow]

TOLERANCE = 1e-3
SIZES = {
    "cgSeq": 16,
    "cgBatch": 3,
    "cgMicrobatches": 2,
    "cgLayers": 2,
    "cgHeads": 2,
    "cgHeadWidth": 8,
    "cgFfn": 40,
}
TEXT = "".join(f"{number} {PHRASE}" for number in range(60))


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        ("adamw", ("--learning-rate", "0.01", "--clip-norm", "0.5", "--weight-decay", "0.3")),
        ("adamw", ("--learning-rate", "0.003", "--clip-norm", "0", "--beta1", "0.8", "--beta2", "0.99")),
        ("sgd", ("--learning-rate", "0.5", "--clip-norm", "1")),
    ],
)
def test_the_loss_curve(tmp_path: Path, optimizer: str, options: tuple[str, ...]) -> None:
    log = tmp_path / "log"
    words = ["train", GPT, "--text", write_text(tmp_path, TEXT), "--steps", "12", "--optimizer", optimizer, *options]
    words += [*set_options(SIZES), "--log", str(log), "--sample-length", "0", "--seed", "5", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    settings = json.loads(result.stdout)["settings"]
    records = [record for record in log_records(log) if "loss" in record]
    found = np.array([(record["loss"], record["gradient_norm"]) for record in records])

    entry = "step" if optimizer == "adamw" else "stepSgd"
    graph = compile_program(load_source(GPT), settings["parameters"], entry=entry).graph
    first = first_weights(graph, 5)
    config = GptConfig(vocab=256, context=16, width=16, heads=2, layers=2, ffn=40)
    weights = {name: first[plane] for name, (plane, _) in plane_names(config).items()}
    tokens = np.frombuffer(TEXT.encode(), np.uint8)
    trained = tokens[: len(tokens) - len(tokens) // 10]
    batches = [training_batch(trained, (2, 16, 3), 5, step) for step in range(12)]
    rates = [record["learning_rate"] for record in records]
    losses = torch_losses(weights, batches, rates, layers=2, heads=2, optimizer=optimizer, settings=settings)
    expected = np.array(list(losses))
    assert expected[-1, 0] < expected[0, 0] - 0.3  # it learns, so that a wrong update would show
    assert np.abs(found - expected)[:, 0].max() < TOLERANCE
    assert np.abs(found / expected - 1)[:, 1].max() < TOLERANCE
    if options[3] != "0":
        assert expected[:, 1].max() > float(options[3])  # the norm was clipped
