"""`cgraph train` as a user meets it: what it prints, what it leaves, and that the numbers are those of the model."""

import json
import math
import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console
from safetensors.numpy import load_file

from cgraph.cli import train as train_module
from cgraph.cli.main import main
from cgraph.cli.train_display import TrainingDisplay, closing_lines, report_interval, sample_lines
from cgraph.models.config import GptConfig
from cgraph.models.gpt_program import plane_names
from cgraph.models.training.events import Evaluated, StepDone
from cgraph.reference.model_parameters import ModelConfig, parameters_from_named
from cgraph.reference.whole_model import gpt_loss
from cgraph.resources import programs_directory
from tests.support.train_command import PHRASE, SIZES, log_records, resume, train, write_text

# The two round to f16 in the same places, and sum in another order before.
TOLERANCE_F16 = 1e-4


def test_a_run_learns_and_says_so(tmp_path: Path) -> None:
    checkpoint, log = tmp_path / "run.safetensors", tmp_path / "run.jsonl"
    result = train(
        write_text(tmp_path),
        *("--steps", "60", "--learning-rate", "0.02", "--tokens", "characters", "--evaluate-every", "20"),
        *("--checkpoint", str(checkpoint), "--log", str(log), "--sample-length", "12", "--prompt", "the "),
    )
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    characters = len(set(PHRASE))
    for text in (
        "gpt.cg: step, ",
        f"text: 1,215 characters to train on, 135 to evaluate on; vocabulary {characters}, 16 tokens a step",
        "step       1 of 60 · loss ",
        "step      20 · evaluation ",
        "step      60 · sample\n  │ the ",
        f"step      60 · checkpoint {checkpoint}",
        "loss in nats per character, of each step; ● of the evaluation",
        "60 steps in ",
    ):
        assert text in result.stdout
    assert "\x1b" not in result.stdout
    losses = [record["loss"] for record in log_records(log) if "loss" in record]
    assert len(losses) == 60
    assert abs(losses[0] - math.log(characters)) < 0.1  # nothing is known yet: all characters alike
    assert losses[-1] < 0.6 * losses[0]
    evaluations = [record for record in log_records(log) if "evaluation_loss" in record]
    assert [record["step"] for record in evaluations] == [20, 40, 60]
    assert f"evaluation {evaluations[-1]['evaluation_loss']:.4f} nats per character" in result.stdout


def test_the_evaluation_is_the_references_loss_of_the_weights(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.safetensors"
    result = train(
        write_text(tmp_path),
        *(
            "--steps",
            "5",
            "--tokens",
            "characters",
            "--evaluate-batches",
            "3",
            "--checkpoint",
            str(checkpoint),
            "--json",
        ),
    )
    assert result.exit_code == 0, result.output
    planes = load_file(checkpoint)
    characters = sorted(set(PHRASE))
    sizes = {"vocab": len(characters), "context": 8, "width": 8, "heads": 2, "layers": 1, "ffn": 16}
    names = plane_names(GptConfig(**sizes))
    weights = {name: planes[plane].astype(np.float64) for name, (plane, _) in names.items()}
    config = ModelConfig(**sizes)
    # The last tenth of the text; 6 sequences evenly over it, two in a batch.
    tokens = np.array([characters.index(character) for character in PHRASE * 30][1215:])
    starts = [math.floor(place * (135 - 9) / 5) for place in range(6)]
    ids = np.array([tokens[start : start + 8] for start in starts])
    targets = np.array([tokens[start + 1 : start + 9] for start in starts])
    expected = gpt_loss(config, parameters_from_named(config, weights), ids, targets)
    assert json.loads(result.stdout)["evaluations"][-1]["loss"] == pytest.approx(expected, rel=1e-5)


def test_json_holds_the_whole_run(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    result = train(text, "--steps", "3", "--evaluation-share", "0", "--sample-length", "4", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["step"], len(data["losses"]), data["evaluations"]) == (3, 3, [])
    assert data["settings"]["parameters"] | SIZES == data["settings"]["parameters"]
    assert data["settings"]["parameters"]["cgContext"] == SIZES["cgSeq"]
    assert data["settings"]["parameters"]["cgVocab"] == 256
    assert (data["texts"], data["checkpoint"], data["vocabulary"]) == ([text], None, 256)
    assert [sample["step"] for sample in data["samples"]] == [3]
    assert "step       3 of 3" in result.stderr


@pytest.mark.parametrize("half", ["f16", "bf16", "f64"])
def test_every_half_trains(tmp_path: Path, half: str) -> None:
    checkpoint = tmp_path / "run.safetensors"
    options = ("--learning-rate", "0.02", "--half", half, "--json", "--checkpoint", str(checkpoint))
    result = train(write_text(tmp_path), "--steps", "40", *options)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["losses"][-1] < 0.7 * data["losses"][0]
    planes = load_file(checkpoint)
    assert planes["cgQueryWeight 0"].dtype == (np.float64 if half == "f64" else np.float32)
    assert planes["cgScale"].tolist() == [65536.0 if half == "f16" else 1.0]
    assert planes["cgProgress"].tolist()[:2] == [40, 0]


def test_plain_descent_and_microbatches(tmp_path: Path) -> None:
    options = ("--optimizer", "sgd", "--learning-rate", "1", "--steps", "40", "--json")
    result = train(write_text(tmp_path), *options, cgMicrobatches=3)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["losses"][-1] < 0.8 * data["losses"][0]


def test_the_same_seed_gives_the_same_run_and_another_one_another(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    runs = [
        json.loads(train(text, "--steps", "4", "--json", "--seed", seed, "--sample-length", "5").stdout)
        for seed in ("1", "1", "2")
    ]
    assert runs[0]["losses"] == runs[1]["losses"]
    assert runs[0]["samples"] == runs[1]["samples"]
    assert runs[0]["losses"][0] != runs[2]["losses"][0]


def test_texts_may_follow_each_other(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("abc" * 50, encoding="utf-8")
    second.write_text("cde" * 50, encoding="utf-8")
    for options in (("--text", str(second)), (str(second),)):
        result = train(str(first), "--steps", "1", "--tokens", "characters", "--json", *options)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["vocabulary"] == 5


def test_plots_are_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text, svg, png = write_text(tmp_path), tmp_path / "loss.svg", tmp_path / "loss.png"
    options = ("--steps", "3", "--plot", str(svg), "--plot", str(png))
    assert train(text, *options).exit_code == 0
    first = svg.read_bytes()
    root = ET.fromstring(first)  # noqa: S314  (our own file)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"step", "loss in nats per byte", "evaluation", "each step"} <= words
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert train(text, *options).exit_code == 0
    assert svg.read_bytes() == first


def test_plots_that_nothing_can_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = write_text(tmp_path)
    result = train(text, "--plot", "loss.pdf")
    assert result.exit_code == 1
    assert "error[CG795]: `loss.pdf` is no plot by its name" in result.stderr
    result = train(text, "--plot", "curves/loss", "--plot", "loss.SVG")
    assert result.exit_code == 1
    assert result.stderr.count("error[CG795]") == 2
    assert "`curves/loss` is no plot" in result.stderr
    monkeypatch.setattr(train_module, "find_spec", lambda _name: None)
    result = train(text, "--plot", "loss.svg")
    assert result.exit_code == 1
    assert "error[CG796]" in result.stderr
    assert "pip install 'cgraph-lang[plot]'" in result.stderr
    # Each plot that cannot be is told, and each for its own reason.
    result = train(text, "--plot", "loss.png", "--plot", "loss.pdf")
    assert result.exit_code == 1
    assert "error[CG796]: `loss.png` needs matplotlib" in result.stderr
    assert "error[CG795]: `loss.pdf` is no plot by its name" in result.stderr


def test_settings_out_of_range_are_wrong_usage(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    for options in (
        ("--steps", "0"),
        ("--steps", str(2**40)),
        ("--learning-rate", "nan"),
        ("--clip-norm", "inf"),
        ("--beta1", "1"),
        ("--temperature", "nan"),
        ("--resume",),
        ("--device", "tpu"),
    ):
        result = train(text, *options)
        assert result.exit_code == 2, options
        assert "Usage: " in result.stderr


def test_lines_come_at_round_numbers() -> None:
    assert [report_interval(steps) for steps in (1, 20, 21, 100, 300, 1000, 1001, 12345)] == [
        1,
        1,
        2,
        5,
        20,
        50,
        100,
        1000,
    ]


def test_a_sample_cannot_command_the_terminal() -> None:
    lines = sample_lines("a\x1b[31mb\r\tc\n\u202ed\x00")
    assert len(lines) == 2
    assert all(character.isprintable() for line in lines for character in line)
    assert re.fullmatch(r"  │ a␛\[31mb␍    c", lines[0])


def test_a_resumed_run_may_be_longer(tmp_path: Path) -> None:
    text, checkpoint = write_text(tmp_path), str(tmp_path / "run.safetensors")
    assert train(text, "--steps", "4", "--schedule", "constant", "--checkpoint", checkpoint).exit_code == 0
    result = resume(text, "--resume", checkpoint, "--steps", "6", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["step"], data["steps_now"], len(data["losses"])) == (6, 2, 6)
    assert data["checkpoint"] == checkpoint
    assert f"goes on after step 4 of {checkpoint}" in result.stderr
    whole = json.loads(train(text, "--steps", "6", "--schedule", "constant", "--json", "--warmup-steps", "0").stdout)
    assert data["losses"] == whole["losses"]


def test_another_program_does_not_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    text, checkpoint = write_text(tmp_path), str(tmp_path / "run.safetensors")
    assert train(text, "--steps", "1", "--checkpoint", checkpoint).exit_code == 0
    program = str(programs_directory() / "geglu_lm.cg")
    result = CliRunner().invoke(main, ["train", program, "--text", text, "--resume", checkpoint, "--steps", "2"])
    assert result.exit_code == 1
    assert "error[CG789]" in result.stderr
    assert "was trained with plane `cg" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_the_emulated_device_trains_as_the_host_does(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    text, runs = write_text(tmp_path), []
    for device in ("host", "emulated"):
        options = ("--steps", "2", "--evaluate-batches", "1", "--sample-length", "2", "--half", "f16", "--json")
        result = train(text, *options, "--device", device, cgHeadWidth=16)
        assert result.exit_code == 0, result.output
        runs.append(json.loads(result.stdout))
    for host, emulated in zip(runs[0]["losses"], runs[1]["losses"], strict=True):
        assert emulated == pytest.approx(host, rel=TOLERANCE_F16)
    assert runs[1]["evaluations"][0]["loss"] == pytest.approx(runs[0]["evaluations"][0]["loss"], rel=TOLERANCE_F16)


def test_a_terminal_gets_a_bar_and_lines_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    display = TrainingDisplay(console, live=True, steps=10, done=4, tokens=100, unit="nats per byte")
    with display:
        display.show(StepDone(5, 2.5, 1.0, 0.001, 1.0, False, 0.5))
        display.show(Evaluated(5, 2.25))
        display.show(StepDone(6, 2.0, 1.0, 0.001, 1.0, True, 0.5))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())
    assert "step       5 · evaluation 2.2500 nats per byte" in text
    assert "loss 2.0000" in text
    assert "6/10 200 tokens/s · rate 1.00e-03" in text
    assert (display.skipped, display.trained) == (1, 2)
    assert "1 skipped for overflow" in closing_lines(display, [2.5, 2.0], [(5, 2.25)], 80)[-1]
