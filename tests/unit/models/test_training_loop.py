"""The loop where the device does something unusual: an executable of ours says what every step gives."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define, evolve, field
from numpy.typing import NDArray

from cgraph.cli.train_setup import new_settings
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound, Severity
from cgraph.models.training.checkpoints import load_checkpoint
from cgraph.models.training.events import CheckpointWritten, Event, Sampled, StepDone, Warned
from cgraph.models.training.logs import open_log
from cgraph.models.training.loop import train
from cgraph.models.training.run import Prepared, Progress, Run
from cgraph.models.training.sampling import Sampling
from cgraph.models.training.texts import Corpus
from cgraph.models.training.tokenisers import Tokeniser
from tests.support.training_graphs import plane, training_graph, weight

GRAPH = training_graph(
    (
        weight("w", (2,)),
        plane("cgProgress", Element.I32, (4,), Role.STATE),
        plane("cgScale", Element.F32, (1,), Role.STATE),
    )
)
SIZES = {"cgMicrobatches": 1, "cgSeq": 3, "cgBatch": 1}


@define
class Scripted:
    """An executable; `script` gives, for each run, the planes that it leaves."""

    script: list[dict[str, Any]]
    runs: int = 0
    calls: list[str] = field(factory=list)
    planes: dict[str, NDArray[Any]] = field(
        factory=lambda: {
            "w": np.zeros(2, np.float32),
            "cgProgress": np.zeros(4, np.int32),
            "cgScale": np.ones(1, np.float32),
            "cgGradientNorm": np.ones(1, np.float32),
        }
    )

    def set(self, name: str, array: NDArray[Any]) -> None:
        self.calls.append(f"set {name}")
        self.planes[name] = array.copy()

    def get(self, name: str) -> NDArray[Any]:
        self.calls.append(f"get {name}")
        return self.planes[name].copy()

    def run(self) -> None:
        self.calls.append("run")
        for name, values in self.script[min(self.runs, len(self.script) - 1)].items():
            self.planes[name] = np.array(values, np.int32 if name == "cgProgress" else np.float32)
        self.runs += 1


def make_run(script: list[dict[str, Any]], checkpoint: Path | None = None, **given: Any) -> Run:
    settings = new_settings({"steps": 4, "checkpoint_every": 1, "evaluation_share": 0.0, **given}, {})
    corpus = Corpus(np.arange(50, dtype=np.uint8), np.arange(0))
    step = Prepared(GRAPH, Scripted(script), SIZES)  # type: ignore[arg-type]  # all that the loop calls
    sampling = Sampling(np.zeros(1, np.int32), 0, 0.0, 0)
    return Run(settings, step, None, None, corpus, Tokeniser(None), "0" * 64, sampling, checkpoint)


def events_of(run: Run, progress: Progress | None = None) -> list[Event]:
    return list(train(run, progress or Progress(), lambda: False))


def stopped_by(run: Run) -> tuple[str, str]:
    """The code and the notes of what stops a run."""
    with pytest.raises(ProblemsFound) as stopped:
        events_of(run)
    (problem,) = stopped.value.problems
    return problem.code, " ".join((problem.render_title(), *problem.notes()))


def test_a_step_sets_three_planes_runs_once_and_reads_what_it_reports() -> None:
    run = make_run([{"cgLoss": [2.0]}])
    events_of(run)
    step = ["set cgStepIds", "set cgStepTargets", "set cgControl", "run"]
    step += ["get cgLoss", "get cgGradientNorm", "get cgProgress", "get cgScale"]
    assert run.step.executable.calls == step * 4  # type: ignore[attr-defined]  # a Scripted


def test_the_control_is_what_the_settings_say() -> None:
    run = make_run([{"cgLoss": [2.0]}], half="f16", steps=1, warmup_steps=0, learning_rate=0.25, schedule="constant")
    events_of(run)
    control = run.step.executable.get("cgControl")
    assert control.dtype == np.float32
    assert control.tolist() == pytest.approx([0.25, 0.9, 0.95, 1e-8, 0.1, 1.0, 2000, 2.0**24])


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_not_kept(tmp_path: Path, loss: float) -> None:
    path = tmp_path / "run.safetensors"
    code, told = stopped_by(make_run([{"cgLoss": [2.0]}, {"cgLoss": [loss], "w": [9.0, 9.0]}], path))
    assert code == "CG791"
    assert f"training stopped at step 2: the loss is {loss}" in told
    assert f"`{path}` holds step 1" in told


def test_a_weight_that_is_not_finite_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    code, told = stopped_by(make_run([{"cgLoss": [2.0]}, {"cgLoss": [2.0], "w": [1.0, math.inf]}], path))
    assert code == "CG791"
    assert "training stopped at step 2: `w` is not finite" in told
    assert f"`{path}` holds step 1" in told


def test_steps_that_are_all_skipped_end_the_run() -> None:
    skipping = {"cgLoss": [2.0], "cgGradientNorm": [math.inf], "cgProgress": [0, 1, 0, 1], "cgScale": [1.0]}
    good = {"cgLoss": [2.0], "cgGradientNorm": [1.0], "cgProgress": [1, 1, 0, 0]}
    code, told = stopped_by(make_run([skipping], steps=1000))
    assert code == "CG792"
    assert "stopped at step 50: the gradient was not finite in the last 50 steps" in told
    assert "no checkpoint was written" in told
    assert len(events_of(make_run([*[skipping] * 49, good, *[skipping] * 49, good], steps=100))) == 100


def test_skipped_steps_after_a_checkpoint_leave_it(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    skipping = {"cgGradientNorm": [math.nan], "cgProgress": [1, 1, 0, 1], "cgScale": [0.5]}
    good = {"cgLoss": [2.0], "cgGradientNorm": [1.0], "cgProgress": [1, 1, 0, 0]}
    code, told = stopped_by(make_run([good, skipping], path, steps=1000, checkpoint_every=1000, half="f16"))
    assert code == "CG792"
    assert "stopped at step 51: the gradient was not finite in the last 50 steps" in told
    assert "the loss scale is 0.5 now" in told
    assert "no checkpoint was written" in told
    run = make_run([good, skipping], path, steps=1000, checkpoint_every=30, half="f16")
    code, told = stopped_by(run)
    assert code == "CG792"
    assert f"`{path}` holds step 30" in told
    assert load_checkpoint(path).step == 30


def test_a_checkpoint_without_a_place_is_a_warning_each_time(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    run = make_run([{"cgLoss": [2.0]}], path, steps=4, checkpoint_every=1)
    events = iter(train(run, Progress(), lambda: False))
    kept = [next(events), next(events)]
    assert [type(event) for event in kept] == [StepDone, CheckpointWritten]
    before = path.read_bytes()
    # A folder cannot be replaced by a file.
    path.rename(tmp_path / "old")
    path.mkdir()
    for step in (2, 3):
        assert isinstance(next(events), StepDone)
        warned = next(events)
        assert isinstance(warned, Warned)
        assert (warned.problem.code, warned.problem.severity) == ("CG793", Severity.WARNING)
        assert f"no checkpoint at step {step}: cannot write planes to" in warned.problem.render_title()
        assert warned.problem.notes() == (f"`{path}` is as it was; training goes on",)
    path.rmdir()
    (tmp_path / "old").rename(path)
    assert path.read_bytes() == before
    assert [type(event) for event in events] == [StepDone, CheckpointWritten]
    assert load_checkpoint(path).step == 4


def test_a_checkpoint_that_cannot_be_written_stops_only_the_end(tmp_path: Path) -> None:
    run = make_run([{"cgLoss": [2.0]}], tmp_path / "missing" / "run.safetensors")
    seen: list[Event] = []
    with pytest.raises(ProblemsFound) as stopped:
        seen.extend(train(run, Progress(), lambda: False))
    assert stopped.value.problems[0].code == "CG722"
    events = iter(train(run, Progress(), lambda: False))
    assert [type(next(events)) for _ in range(4)] == [StepDone, Warned, StepDone, Warned]


def test_a_stop_keeps_the_step_at_hand(tmp_path: Path) -> None:
    run = make_run([{"cgLoss": [2.0]}], tmp_path / "run.safetensors", checkpoint_every=0)
    progress = Progress()
    found = list(train(run, progress, lambda: progress.step == 2))
    assert [type(event) for event in found] == [StepDone, StepDone, CheckpointWritten]
    assert progress.kept_step == 2


def log_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_log_has_numbers_or_null(tmp_path: Path) -> None:
    done = StepDone(1, 2.5, math.inf, 0.1, 8.0, True, 0.25)
    with open_log(tmp_path / "log", 0) as log:
        log.write(done)
        log.write(evolve(done, step=2, gradient_norm=3.0))
        log.write(CheckpointWritten(2, tmp_path))
        log.write(Sampled(2, "é\n\ud83c"))
    first, second, third = log_lines(tmp_path / "log")
    assert (first["gradient_norm"], second["gradient_norm"]) == (None, 3.0)
    assert first == {
        "step": 1,
        "loss": 2.5,
        "learning_rate": 0.1,
        "gradient_norm": None,
        "loss_scale": 8.0,
        "skipped": True,
        "elapsed_s": 0.25,
    }
    assert third == {"step": 2, "sample": "é\n\ud83c"}


@pytest.mark.parametrize("end", [b"", b'{"step": 4, "lo', b"text\n", b"[1]\n", b'{"step": "4"}\n', b"\xff\n", b"\n"])
def test_a_resumed_log_ends_where_its_checkpoint_does(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "log"
    lines = b"".join(b'{"step": %d, "loss": 1}\n' % step for step in (1, 2, 3))
    path.write_bytes(lines + end)
    with open_log(path, 3) as log:
        log.write(StepDone(4, 1.0, 1.0, 0.1, 1.0, False, 0.0))
    assert [record["step"] for record in log_lines(path)] == [1, 2, 3, 4]
    with open_log(path, 2):
        pass
    assert [record["step"] for record in log_lines(path)] == [1, 2]
    with open_log(path, 0):
        pass
    assert path.read_bytes() == b""
    with open_log(tmp_path / "new", 2):
        pass
    assert (tmp_path / "new").read_bytes() == b""
