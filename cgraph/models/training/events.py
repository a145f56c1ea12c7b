"""What happens in a training run, as whoever shows or logs it is told."""

from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class StepDone:
    """A step, numbered from 1.

    Args:
        loss: mean over its microbatches, in nats per token.
        gradient_norm: before clipping; infinite or NaN where the step was skipped.
        scale: the loss scale after it. skipped: whether it changed nothing. elapsed_s: it took.
    """

    step: int
    loss: float
    gradient_norm: float
    learning_rate: float
    scale: float
    skipped: bool
    elapsed_s: float


@frozen
class Evaluated:
    """The mean loss over the evaluation batches after a step, in nats per token."""

    step: int
    loss: float


@frozen
class Sampled:
    """A sample after a step; it begins with the prompt."""

    step: int
    text: str


@frozen
class CheckpointWritten:
    """A checkpoint after a step."""

    step: int
    path: Path


@frozen
class Warned:
    """Something that does not stop the run."""

    problem: Problem


Event: TypeAlias = StepDone | Evaluated | Sampled | CheckpointWritten | Warned
