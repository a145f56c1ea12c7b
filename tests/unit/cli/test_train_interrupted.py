"""Runs that end early, by a kill or a signal, and go on: no bit differs from a run that was left alone."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.train_command import (
    log_records,
    process,
    resume,
    same_bits,
    train,
    train_command,
    write_text,
)

STEPS = 400
OPTIONS = ("--steps", str(STEPS), "--checkpoint-every", "7", "--evaluate-every", "10", "--seed", "3")
PATIENCE_S = 120

pytestmark = pytest.mark.slow


def whole_run(text: str, folder: Path) -> tuple[Path, Path]:
    """The checkpoint and the log of a run that nobody ends."""
    checkpoint, log = folder / "whole.safetensors", folder / "whole.jsonl"
    result = train(text, *OPTIONS, "--checkpoint", str(checkpoint), "--log", str(log))
    assert result.exit_code == 0, result.output
    return checkpoint, log


def start_and(
    text: str, checkpoint: Path, log: Path, end: Callable[["subprocess.Popen[bytes]"], None]
) -> "subprocess.Popen[bytes]":
    """Starts a run, and ends it once its log says that it is beyond its second checkpoint."""
    command, environment = process(train_command(text, *OPTIONS, "--checkpoint", str(checkpoint), "--log", str(log)))
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begin = time.monotonic()
    while not log.exists() or log.read_bytes().count(b"\n") < 17:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() - begin < PATIENCE_S
        time.sleep(0.001)
    end(running)
    return running


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    checkpoint, log = tmp_path / "killed.safetensors", tmp_path / "killed.jsonl"
    killed = start_and(text, checkpoint, log, lambda running: running.kill())
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert max(record["step"] for record in log_records(log)) < STEPS
    with log.open("ab") as file:
        file.write(b'{"step": 399, "lo')  # as a kill may leave a line
    result = resume(text, "--resume", str(checkpoint), "--log", str(log))
    assert result.exit_code == 0, result.output
    expected, expected_log = whole_run(text, tmp_path)
    assert same_bits(checkpoint, expected)
    assert log_records(log) == log_records(expected_log)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_after_its_step_and_a_checkpoint(tmp_path: Path, number: signal.Signals) -> None:
    text = write_text(tmp_path)
    checkpoint, log = tmp_path / "stopped.safetensors", tmp_path / "stopped.jsonl"
    stopped = start_and(text, checkpoint, log, lambda running: running.send_signal(number))
    _, errors = stopped.communicate()
    assert stopped.returncode == 128 + number
    done = max(record["step"] for record in log_records(log))
    assert done < STEPS
    assert errors.decode() == f"stopped by a signal after step {done}; go on with --resume {checkpoint}\n"
    result = resume(text, "--checkpoint", str(checkpoint), "--resume", "--log", str(log))
    assert result.exit_code == 0, result.output
    assert f"goes on after step {done} of" in result.stdout
    expected, expected_log = whole_run(text, tmp_path)
    assert same_bits(checkpoint, expected)
    assert log_records(log) == log_records(expected_log)


def test_a_full_disk_costs_no_training(tmp_path: Path) -> None:
    text, checkpoint = write_text(tmp_path), tmp_path / "run.safetensors"
    assert train(text, "--steps", "4", "--checkpoint", str(checkpoint)).exit_code == 0
    before = checkpoint.read_bytes()
    assert len(before) > 20_000
    # No file of this process may be longer, which every write beyond it is told like a full disk.
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    words = ["--steps", "8", "--resume", str(checkpoint), "--checkpoint-every", "2"]
    command, environment = process(train_command(text, *words), limit)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "warning[CG793]: no checkpoint at step 6: " in ended.stderr
    assert "error[CG722]: cannot write planes to" in ended.stderr
    assert "step       8 of 8" in ended.stdout
    assert "Traceback" not in ended.stderr
    assert checkpoint.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*")] == []
