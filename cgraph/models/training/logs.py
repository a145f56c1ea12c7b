"""A run's log: one JSON object a line, `{"step": …, "loss": …, …}`.

A resumed run continues its log: from the first line on whose step its checkpoint does not know, or that was only half
written, it is cut off first. Numbers that are not finite become null, which JSON has and NaN it has not.
"""

import json
import math
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO

from attrs import define, field

from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.events import Evaluated, Event, Sampled, StepDone
from cgraph.models.training.problems_training import UnwritableReport


@define(eq=False)
class TrainingLog:
    """A log that is open for writing; every line reaches the operating system at once."""

    path: Path
    _file: TextIO = field(repr=False)

    def write(self, event: Event) -> None:
        """Adds what happened; a checkpoint leaves no line.

        Raises:
            ProblemsFound: CG794 where it cannot be written.
        """
        record = _record(event)
        if record is None:
            return
        try:
            self._file.write(json.dumps(record) + "\n")
            self._file.flush()
        except OSError as error:
            raise ProblemsFound([_unwritable(self.path, error)]) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def open_log(path: Path, step: int) -> TrainingLog:
    """A log that goes on after a step; 0 begins a new one.

    Raises:
        ProblemsFound: CG794 where it cannot be read or written.
    """
    try:
        if step and path.exists():
            with path.open("r+b") as old:
                old.truncate(_length_until(old, step))
        return TrainingLog(path, path.open("a" if step else "w", encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProblemsFound([_unwritable(path, error)]) from error


def _length_until(file: BinaryIO, step: int) -> int:
    """The bytes of the lines before the first that is of a later step, or no line of a log."""
    length = 0
    for line in file:
        if not line.endswith(b"\n") or _step_of(line) not in range(1, step + 1):
            break
        length += len(line)
    return length


def _step_of(line: bytes) -> int:
    """The step of a line; 0 for what is no line of a log."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return 0
    step = record.get("step") if isinstance(record, dict) else None
    return step if isinstance(step, int) else 0


def _record(event: Event) -> dict[str, object] | None:
    match event:
        case StepDone():
            return {
                "step": event.step,
                "loss": event.loss,
                "learning_rate": event.learning_rate,
                "gradient_norm": event.gradient_norm if math.isfinite(event.gradient_norm) else None,
                "loss_scale": event.scale,
                "skipped": event.skipped,
                "elapsed_s": round(event.elapsed_s, 6),
            }
        case Evaluated():
            return {"step": event.step, "evaluation_loss": event.loss}
        case Sampled():
            return {"step": event.step, "sample": event.text}
    return None


def _unwritable(path: Path, error: Exception) -> UnwritableReport:
    return UnwritableReport(None, "log", str(path), getattr(error, "strerror", None) or str(error))
