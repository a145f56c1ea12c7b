"""What `cgraph train` says about texts, programs and checkpoints that do not fit: always a code, never a traceback."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from safetensors.numpy import load_file, save_file

from cgraph.cli.main import main
from tests.support.train_command import GPT, PHRASE, resume, train, write_text

# As few planes as possible; nothing of it learns.
TOY = """parameter cgSeq : Nat = 4
parameter cgBatch : Nat = 1
parameter controls : Nat = 8
plane cgStepIds : i32 [1, cgSeq, cgBatch] input
plane cgStepTargets : i32 [1, cgSeq, cgBatch] input
plane cgControl : f32 [controls] input
plane cgProgress : i32 [4] state
plane cgScale : f32 [1] state
plane cgLoss : f32 [1] output
plane cgGradientNorm : f32 [1] output
plane weight : f32 [1] weight
plane seenIds : i32 [cgSeq, cgBatch] output
plane seenTargets : i32 [cgSeq, cgBatch] output
plane seenControl : f32 [controls] output
plane seenWeight : f32 [1] output
def reads = (cgThen (cgCopy seenIds cgStepIds) (cgThen (cgCopy seenTargets cgStepTargets) (cgCopy seenWeight weight)))
def writes = (cgThen (cgFill cgProgress 0.0) (cgThen (cgFill cgScale 1.0) (cgFill cgGradientNorm 1.0)))
def step = (cgThen reads (cgThen writes (cgThen (cgCopy seenControl cgControl) (cgFill cgLoss 2.0))))
"""


def expect(result: Result, code: str, *texts: str) -> None:
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert f"error[{code}]" in result.stderr
    # Long lines are wrapped where a word ends, or a path.
    told = "".join(result.stderr.split())
    for text in texts:
        assert "".join(text.split()) in told


def train_toy(folder: Path, program: str, *options: str) -> Result:
    path = folder / "toy.cg"
    path.write_text(program, encoding="utf-8")
    text = write_text(folder)
    words = ["train", str(path), "--text", text, "--steps", "2", "--evaluation-share", "0", "--sample-length", "0"]
    return CliRunner().invoke(main, [*words, *options])


def test_texts_that_are_none(tmp_path: Path) -> None:
    expect(train(str(tmp_path / "missing.txt")), "CG780", "missing.txt")
    expect(train(str(tmp_path)), "CG780", "directory")
    expect(train(write_text(tmp_path, "")), "CG782", "there is no text")
    expect(train(write_text(tmp_path, "short")), "CG784", "5 tokens for training, a sequence needs 9")
    result = train(write_text(tmp_path, "x" * 80))
    expect(result, "CG784", "8 tokens for evaluation", "a larger `--evaluation-share`")
    (tmp_path / "text.txt").write_bytes(b"\x80" * 200)
    expect(train(str(tmp_path / "text.txt"), "--tokens", "characters"), "CG781", "byte 0", "`--tokens bytes`")
    assert train(str(tmp_path / "text.txt"), "--steps", "1").exit_code == 0


def test_a_prompt_of_other_characters(tmp_path: Path) -> None:
    options = ("--tokens", "characters", "--sample-length", "3", "--prompt", "Ω")
    expect(train(write_text(tmp_path), *options), "CG783", "the prompt holds the character 'Ω'")


def test_a_vocabulary_that_is_too_small(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    expect(train(text, cgVocab=255), "CG787", "cgVocab = 255, the text needs 256")
    expect(train(text, "--tokens", "characters", cgVocab=5), "CG787", "different characters")
    assert train(text, "--steps", "1", "--sample-length", "2", cgVocab=300).exit_code == 0


def test_parameters_that_the_program_lacks(tmp_path: Path) -> None:
    expect(train(write_text(tmp_path), cgNothing=1), "CG520", "cgNothing")


@pytest.mark.parametrize(
    ("missing", "options", "help_text"),
    [
        ("stepSgd", ("--optimizer", "sgd"), "`--optimizer adamw` uses `step`"),
        ("evaluate", ("--evaluation-share", "0.1"), "`--evaluation-share 0`"),
        ("predict", ("--sample-length", "1"), "`--sample-length 0`"),
    ],
)
def test_an_entry_that_is_missing(tmp_path: Path, missing: str, options: tuple[str, ...], help_text: str) -> None:
    expect(train_toy(tmp_path, TOY, *options), "CG785", f"has no definition `{missing}`", help_text)


def test_a_program_that_only_goes_forward(tmp_path: Path) -> None:
    program = str(Path(GPT).with_name("gpt_forward.cg"))
    result = CliRunner().invoke(main, ["train", program, "--text", write_text(tmp_path)])
    expect(result, "CG785", *(f"has no definition `{entry}`" for entry in ("step", "evaluate", "predict")))


def test_the_toy_itself_runs(tmp_path: Path) -> None:
    result = train_toy(tmp_path, TOY)
    assert result.exit_code == 0, result.output
    assert "loss 2.0000 in the last 2 steps" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        ("controls : Nat = 8", "controls : Nat = 9", ("does not have `cgControl : f32 [8] input`",)),
        ("cgScale : f32 [1] state", "cgScale : f32 [1] output", ("`cgScale : f32 [1] state`", "f32 [1] output")),
        ("cgProgress : i32 [4]", "cgProgress : f32 [4]", ("`cgProgress : i32 [4] state`",)),
        ("cgStepTargets : i32 [1, cgSeq", "cgStepTargets : i32 [cgSeq, 1", ("where cgMicrobatches = 1, cgSeq = 4",)),
        ("(cgCopy seenTargets cgStepTargets)", "(cgFill seenTargets 0.0)", ("uses no plane `cgStepTargets : i32 [",)),
        ("(cgFill cgScale 1.0)", "cgNothing", ("uses no plane `cgScale",)),
    ],
)
def test_a_plane_of_another_form(tmp_path: Path, old: str, new: str, texts: tuple[str, ...]) -> None:
    assert TOY.count(old) == 1
    expect(train_toy(tmp_path, TOY.replace(old, new)), "CG786", *texts)


def test_all_planes_that_do_not_fit_are_named(tmp_path: Path) -> None:
    program = TOY.replace("controls : Nat = 8", "controls : Nat = 9").replace("cgProgress", "progress")
    result = train_toy(tmp_path, program)
    expect(result, "CG786")
    assert result.stderr.count("error[CG786]") == 2


def test_an_entry_that_reads_other_weights(tmp_path: Path) -> None:
    evaluate = """plane cgTokenIds : i32 [cgSeq, cgBatch] input
plane cgTargets : i32 [cgSeq, cgBatch] input
plane other : f32 [1] weight
def evaluate =
  (cgThen (cgCopy seenIds cgTokenIds) (cgThen (cgCopy seenTargets cgTargets) (cgCopy cgLoss other)))
"""
    result = train_toy(tmp_path, TOY + evaluate, "--evaluation-share", "0.1")
    expect(result, "CG786", "`step` uses no plane `other : f32 [1] weight`")


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    text, checkpoint = write_text(tmp_path), tmp_path / "run.safetensors"
    options = ("--checkpoint", str(checkpoint), "--schedule", "constant", "--checkpoint-every", "2")
    assert train(text, "--steps", "2", *options).exit_code == 0
    before = checkpoint.read_bytes()
    again = ("--resume", str(checkpoint), "--steps", "20", "--learning-rate", "1e30", "--checkpoint-every", "1")
    expect(resume(text, *again), "CG791", f"`{checkpoint}` holds step 2", "lower `--learning-rate`")
    assert checkpoint.read_bytes() == before
    expect(train(text, "--steps", "20", "--learning-rate", "1e30"), "CG791", "no checkpoint was written")


def test_sequences_longer_than_the_context(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    expect(train(text, cgSeq=256, cgContext=128), "CG797", "cgSeq = 256, cgContext = 128", "leave `--set cgSeq=…`")
    assert train(text, "--steps", "1", cgSeq=7, cgContext=9).exit_code == 0
    # The vocabulary is wrong too, and both are told.
    result = train(text, cgSeq=9, cgContext=8, cgVocab=255)
    expect(result, "CG797", "cgSeq = 9, cgContext = 8")
    expect(result, "CG787")
    geglu = str(Path(GPT).with_name("geglu_lm.cg"))
    words = ["train", geglu, "--text", text, "--set", "cgSeq=5", "--set", "cgContext=4"]
    expect(CliRunner().invoke(main, words), "CG797", "cgSeq = 5, cgContext = 4")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A text, and a checkpoint of 2 steps of characters."""
    folder = tmp_path_factory.mktemp("trained")
    text, checkpoint = write_text(folder), folder / "run.safetensors"
    result = train(text, "--steps", "2", "--tokens", "characters", "--checkpoint", str(checkpoint))
    assert result.exit_code == 0, result.output
    return text, checkpoint


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--set", "cgSeq=9"), "cgSeq 8, not 9"),
        (("--set", "cgLayers=2"), "cgLayers 1, not 2"),
        (("--set", "cgMicrobatches=2"), "cgMicrobatches 1, not 2"),
        (("--tokens", "bytes"), "--tokens characters, not bytes"),
        (("--half", "bf16"), "--half f32, not bf16"),
        (("--seed", "1"), "--seed 0, not 1"),
        (("--optimizer", "sgd"), "--optimizer adamw, not sgd"),
        (("--evaluation-share", "0.5"), "--evaluation-share 0.1, not 0.5"),
    ],
)
def test_a_resumed_run_with_another_setting(trained: tuple[str, Path], options: tuple[str, ...], what: str) -> None:
    text, checkpoint = trained
    result = resume(text, "--resume", str(checkpoint), "--steps", "4", *options)
    expect(result, "CG789", f"was trained with {what}")


def test_a_resumed_run_with_another_text(trained: tuple[str, Path], tmp_path: Path) -> None:
    result = resume(write_text(tmp_path, PHRASE * 31), "--resume", str(trained[1]), "--steps", "4")
    expect(result, "CG789", "the text of SHA-256")


def test_a_run_that_is_at_its_end(trained: tuple[str, Path]) -> None:
    text, checkpoint = trained
    for options in ((), ("--steps", "1")):
        expect(resume(text, "--resume", str(checkpoint), *options), "CG790", "is at step 2 already")


def test_a_run_that_came_to_its_end_twice(trained: tuple[str, Path], tmp_path: Path) -> None:
    text, checkpoint = trained
    further = tmp_path / "further.safetensors"
    options = ("--resume", str(checkpoint), "--checkpoint", str(further), "--steps", "3")
    assert resume(text, *options).exit_code == 0
    before = further.read_bytes()
    result = resume(text, "--resume", str(further), "--steps", "3")
    expect(result, "CG790", "is at step 3 already, and 3 steps were asked for", "for example `--steps 6`")
    assert further.read_bytes() == before


def test_a_checkpoint_of_other_parameters_or_planes(trained: tuple[str, Path], tmp_path: Path) -> None:
    program = str(Path(GPT).with_name("gpt_forward.cg"))
    words = ["train", program, "--text", trained[0], "--resume", str(trained[1]), "--steps", "4"]
    expect(CliRunner().invoke(main, words), "CG789", "was trained with parameter cgMicrobatches 1, not none")
    changed = tmp_path / "changed.safetensors"
    _change(trained[1], changed, drop="cgUpBias 0", **{"cgDownBias 0": np.zeros(9, np.float32)})
    result = resume(trained[0], "--resume", str(changed), "--steps", "4")
    expect(result, "CG789", "plane `cgUpBias 0` absent, not float32 [16]", "float32 [9], not float32 [8]")


@pytest.mark.parametrize("name", ["weights.npz", "checkpoint", "run.safetensors.txt"])
def test_a_checkpoint_of_another_kind(trained: tuple[str, Path], name: str, tmp_path: Path) -> None:
    for option in ("--checkpoint", "--resume"):
        expect(train(trained[0], option, str(tmp_path / name)), "CG720", ".safetensors")


def test_checkpoints_that_are_none(trained: tuple[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    expect(train(trained[0], "--resume", str(path)), "CG721")
    for content in (b"", b"text", trained[1].read_bytes()[:-1], (2**60).to_bytes(8, "little") + b"{}"):
        path.write_bytes(content)
        expect(train(trained[0], "--resume", str(path)), "CG721")
    save_file({"cgLoss": np.zeros(1, np.float32)}, path)
    expect(train(trained[0], "--resume", str(path)), "CG788", "its header does not say")


def test_a_log_that_cannot_be_written(trained: tuple[str, Path], tmp_path: Path) -> None:
    expect(train(trained[0], "--log", str(tmp_path)), "CG794", "cannot write the log")
    expect(train(trained[0], "--log", str(tmp_path / "no" / "log")), "CG794")


def test_a_place_that_does_not_exist_is_found_before_the_first_step(trained: tuple[str, Path], tmp_path: Path) -> None:
    for option, name, code in (("--checkpoint", "run.safetensors", "CG722"), ("--plot", "loss.svg", "CG794")):
        result = train(trained[0], "--steps", "2", option, str(tmp_path / "no" / name))
        expect(result, code, "its folder does not exist")
        assert result.stdout == ""


def test_a_plot_in_the_place_of_a_folder(trained: tuple[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "loss.svg").mkdir()
    expect(train(trained[0], "--steps", "2", "--plot", str(tmp_path / "loss.svg")), "CG794", "cannot write the plot")


def _change(source: Path, target: Path, drop: str, **planes: np.ndarray) -> None:
    """A checkpoint without one plane and with others in other forms."""
    arrays = load_file(source)
    del arrays[drop]
    content = source.read_bytes()
    texts = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    save_file({**arrays, **planes}, target, texts)
