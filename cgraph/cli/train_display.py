"""What `cgraph train` shows while it runs and when it ends.

Receives events; on a terminal a bar follows every step, elsewhere a line appears for each twentieth of the run. Nothing
here trains or writes files.
"""

import math
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from cgraph.cli.curves import text_curves
from cgraph.cli.options import report_problems
from cgraph.diagnostics.display import safe_character
from cgraph.models.training.events import CheckpointWritten, Evaluated, Event, Sampled, StepDone, Warned

LINES_OF_RUN = 20
_COLUMNS = (
    TextColumn("loss {task.fields[loss]}"),
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("{task.fields[speed]} tokens/s · rate {task.fields[rate]}"),
    TimeRemainingColumn(),
)


def report_interval(steps: int) -> int:
    """Steps between two lines: 1, 2 or 5 times a power of ten, so that a run has about 20 lines or fewer."""
    least = max(1, math.ceil(steps / LINES_OF_RUN))
    power = 1
    while 10 * power <= least:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def sample_lines(text: str) -> list[str]:
    """A sample as lines that a terminal can show, whatever a model wrote."""
    lines = text.replace("\t", "    ").split("\n")
    return [f"  │ {''.join(map(safe_character, line))}" for line in lines]


@define(eq=False)
class TrainingDisplay:
    """Shows a run; a context manager.

    Args:
        console: where lines go.
        live: whether it is a terminal, which gets a bar.
        steps: of the run, of which `done` were before.
        tokens: of one step.
        unit: of losses.
    """

    console: Console
    live: bool
    steps: int
    done: int
    tokens: int
    unit: str
    elapsed_s: float = 0.0
    trained: int = 0
    skipped: int = 0
    _losses: list[float] = field(factory=list)
    _progress: Progress = field(init=False)
    _task: TaskID = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._progress = Progress(*_COLUMNS, console=self.console, transient=True, disable=not self.live)
        self._task = self._progress.add_task("", total=self.steps, completed=self.done, loss="–", speed="–", rate="–")

    @property
    def speed(self) -> float:
        """Tokens a second, of the steps alone."""
        return self.trained * self.tokens / self.elapsed_s if self.elapsed_s else 0.0

    def show(self, event: Event) -> None:
        """Shows what happened."""
        match event:
            case StepDone():
                self._step(event)
            case Evaluated():
                self.line(f"step {event.step:>7} · evaluation {event.loss:.4f} {self.unit}")
            case Sampled():
                self.line(f"step {event.step:>7} · sample")
                for line in sample_lines(event.text):
                    self.line(line)
            case CheckpointWritten():
                if event.step == self.steps:
                    self.line(f"step {event.step:>7} · checkpoint {event.path}")
            case Warned():
                report_problems([event.problem])

    def line(self, text: str) -> None:
        """Prints a line, above the bar where there is one."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _step(self, event: StepDone) -> None:
        self.elapsed_s += event.elapsed_s
        self.trained += 1
        self.skipped += event.skipped
        self._losses.append(event.loss)
        if self.live:
            speed, rate = f"{self.speed:,.0f}", f"{event.learning_rate:.2e}"
            loss = f"{event.loss:.4f}"
            self._progress.update(self._task, completed=event.step, loss=loss, speed=speed, rate=rate)
            return
        if event.step == 1 or event.step % report_interval(self.steps) == 0 or event.step == self.steps:
            mean = math.fsum(self._losses) / len(self._losses)
            self._losses.clear()
            rate = f"rate {event.learning_rate:.2e} · {self.speed:,.0f} tokens/s"
            self.line(f"step {event.step:>7} of {self.steps} · loss {mean:.4f} · {rate}{self._left(event.step)}")

    def _left(self, step: int) -> str:
        seconds = round((self.steps - step) * self.elapsed_s / self.trained)
        return f" · {seconds // 60}:{seconds % 60:02d} left" if seconds else ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def closing_lines(
    display: TrainingDisplay, losses: Sequence[float], evaluations: Sequence[tuple[int, float]], width: int
) -> list[str]:
    """The curves, and what the run came to."""
    lines = text_curves(losses, evaluations, display.unit, width=width) if losses else []
    recent = losses[-min(len(losses), LINES_OF_RUN) :]
    parts = [
        f"{display.trained} steps in {display.elapsed_s:.1f} s",
        f"{display.speed:,.0f} tokens/s",
        f"loss {math.fsum(recent) / max(1, len(recent)):.4f} in the last {len(recent)} steps",
    ]
    if evaluations:
        parts.append(f"evaluation {evaluations[-1][1]:.4f} {display.unit}")
    if display.skipped:
        parts.append(f"{display.skipped} skipped for overflow")
    return [*lines, "", ", ".join(parts)]
