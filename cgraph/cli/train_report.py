"""What `cgraph train` says about a run as a whole: before it starts, and as data.

Receives the options and the run; nothing here trains.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
from attrs import frozen

from cgraph.backends.devices import Device
from cgraph.cli.train_display import TrainingDisplay
from cgraph.models.training.events import Sampled
from cgraph.models.training.run import Progress, Run


@frozen
class TrainRequest:
    """The options that are no settings.

    Args:
        file: the program's.
        texts: files to train on.
        parameters: given with --set.
        device: where it runs.
        prompt: text that samples begin with. temperature, sample_every, sample_length: see `Sampling`.
        checkpoint: where the run is kept. resumed: the checkpoint to go on from.
        plots: pictures to write. log: the log to write.
    """

    file: str
    texts: tuple[Path, ...]
    parameters: Mapping[str, int | float]
    device: Device
    prompt: str
    temperature: float
    sample_every: int
    sample_length: int
    checkpoint: Path | None
    resumed: Path | None
    plots: tuple[Path, ...]
    log: Path | None


def opening_lines(request: TrainRequest, run: Run, progress: Progress, tokens: int) -> list[str]:
    """What will be trained on what; `tokens` are those of a step."""
    settings, corpus, token = run.settings, run.corpus, run.tokeniser.token_name
    weights = frozenset(run.step.weights)
    elements = sum(plane.elements for plane in run.step.graph.planes if plane.name in weights)
    where = f"{len(run.step.graph.nodes)} commands on {request.device}, half = {settings.half}"
    parts = f"{len(corpus.trained):,} {token}s to train on, {len(corpus.evaluated):,} to evaluate on"
    lines = [
        f"{request.file}: {run.step.graph.entry}, {where}, {elements:,} weights",
        f"text: {parts}; vocabulary {run.tokeniser.size}, {tokens:,} tokens a step",
    ]
    if progress.step:
        lines.append(f"goes on after step {progress.step} of {request.resumed}")
    return lines


def report_data(
    request: TrainRequest, run: Run, progress: Progress, display: TrainingDisplay, samples: Sequence[Sampled]
) -> dict[str, object]:
    """A run as plain data."""
    return {
        "file": request.file,
        "device": str(request.device),
        "texts": [str(path) for path in request.texts],
        "settings": attrs.asdict(run.settings),
        "vocabulary": run.tokeniser.size,
        "step": progress.step,
        "steps_now": display.trained,
        "skipped_now": display.skipped,
        "elapsed_s": display.elapsed_s,
        "tokens_per_s": display.speed,
        "losses": progress.losses,
        "evaluations": [{"step": step, "loss": loss} for step, loss in progress.evaluations],
        "samples": [{"step": sample.step, "text": sample.text} for sample in samples],
        "checkpoint": None if run.checkpoint is None else str(run.checkpoint),
        "checkpoint_step": progress.kept_step,
        "plots": [str(path) for path in request.plots],
        "log": None if request.log is None else str(request.log),
    }
