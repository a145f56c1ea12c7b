"""The training loop: one graph, run once a step.

Receives a run and how far it is; yields what happened, step by step, so that whoever shows or logs it needs nothing of
how it was done. Guarantees that a run which continues from a checkpoint does from there on what the run would have done
that wrote it, bit for bit on the same device: what a step computes follows from the planes, the settings and its number
alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.core.elements import Element, bind_element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.models.training.batches import Batch, evaluation_batches, training_batch
from cgraph.models.training.checkpoints import Checkpoint, save_checkpoint
from cgraph.models.training.contract import kept_planes
from cgraph.models.training.events import CheckpointWritten, Evaluated, Event, Sampled, StepDone, Warned
from cgraph.models.training.learning_rates import learning_rate
from cgraph.models.training.problems_training import CheckpointNotWritten, OnlySkipped, TrainingNotFinite
from cgraph.models.training.run import Prepared, Progress, Run
from cgraph.models.training.sampling import sample
from cgraph.models.training.settings import LARGEST_LOSS_SCALE

# Steps in a row without an update; a loss scale of 2^24 has halved down to 1 long before.
MOST_SKIPPED = 50


def train(run: Run, progress: Progress, stop: Callable[[], bool]) -> Iterator[Event]:
    """Trains until all steps are done, or until `stop` says so, looked at after every step.

    Args:
        run: its planes hold the weights and the state that belong to `progress`.
        progress: where to begin; grows.
        stop: whether to end after this step, with a checkpoint.

    Raises:
        ProblemsFound: CG791 where a loss or a weight is not finite, CG792 where no step changes anything, CG722 where
            the last checkpoint cannot be written. The last good checkpoint stays.
    """
    settings = run.settings
    batches = _evaluation(run)
    skipped = 0
    while progress.step < settings.steps:
        done = _step(run, progress.step)
        if not math.isfinite(done.loss):
            raise ProblemsFound([_not_finite(run, progress, f"the loss is {done.loss}", done.step)])
        progress.losses.append(done.loss)
        yield done
        skipped = skipped + 1 if done.skipped else 0
        if skipped == MOST_SKIPPED:
            kept = _kept(run, progress)
            raise ProblemsFound([OnlySkipped(None, skipped, done.step, done.scale, kept)])
        last = progress.step == settings.steps
        if run.evaluate is not None and _due(settings.evaluate_every, progress.step, last=last):
            loss = _evaluate(run.step, run.evaluate, batches)
            if not math.isfinite(loss):
                what = f"the loss of the evaluation is {loss}"
                raise ProblemsFound([_not_finite(run, progress, what, done.step)])
            progress.evaluations.append((progress.step, loss))
            yield Evaluated(progress.step, loss)
        if run.predict is not None and _due(run.sampling.every, progress.step, last=last):
            yield Sampled(progress.step, _sample(run, run.predict, progress.step))
        stopping = stop()
        if run.checkpoint is not None and (stopping or _due(settings.checkpoint_every, progress.step, last=last)):
            yield _keep(run, progress, batches, run.checkpoint, last=last or stopping)
        if stopping:
            return


def _due(every: int, step: int, *, last: bool) -> bool:
    return last or (every > 0 and step % every == 0)


def start(run: Run, planes: Mapping[str, NDArray[Any]]) -> None:
    """Puts weights and state into the planes of the training step; planes without values stay zero."""
    for name, values in planes.items():
        run.step.executable.set(name, values)


def _step(run: Run, number: int) -> StepDone:
    """Runs the step of a number, from 0."""
    settings, executable, sizes = run.settings, run.step.executable, run.step.sizes
    extent = (sizes["cgMicrobatches"], sizes["cgSeq"], sizes["cgBatch"])
    begin = perf_counter()
    ids, targets = training_batch(run.corpus.trained, extent, settings.seed, number)
    rate = learning_rate(settings, number)
    executable.set("cgStepIds", ids)
    executable.set("cgStepTargets", targets)
    executable.set("cgControl", _control(run, rate))
    executable.run()
    loss = float(executable.get("cgLoss")[0])
    norm = float(executable.get("cgGradientNorm")[0])
    skipped = bool(executable.get("cgProgress")[3])
    scale = float(executable.get("cgScale")[0])
    return StepDone(number + 1, loss, norm, rate, scale, skipped, perf_counter() - begin)


def _control(run: Run, rate: float) -> NDArray[Any]:
    """What the kernels read besides ids and targets, [8]; see `contract`."""
    settings = run.settings
    values = (
        rate,
        settings.beta1,
        settings.beta2,
        settings.epsilon,
        settings.weight_decay,
        settings.clip_norm,
        settings.growth_interval,
        LARGEST_LOSS_SCALE,
    )
    return np.array(values, DTYPES[bind_element(Element.F32, run.step.graph.half)])


def _evaluation(run: Run) -> tuple[Batch, ...]:
    if run.evaluate is None:
        return ()
    sizes = run.evaluate.sizes
    return evaluation_batches(run.corpus.evaluated, sizes["cgSeq"], sizes["cgBatch"], run.settings.evaluate_batches)


def _evaluate(step: Prepared, evaluate: Prepared, batches: tuple[Batch, ...]) -> float:
    """The mean loss over the batches, with the weights that the training step has now."""
    _hand_over(step, evaluate)
    losses = []
    for ids, targets in batches:
        evaluate.executable.set("cgTokenIds", ids)
        evaluate.executable.set("cgTargets", targets)
        evaluate.executable.run()
        losses.append(float(evaluate.executable.get("cgLoss")[0]))
    return math.fsum(losses) / len(losses)


def _sample(run: Run, predict: Prepared, step: int) -> str:
    _hand_over(run.step, predict)
    sizes = (predict.sizes["cgSeq"], predict.sizes["cgBatch"])
    seed, tokeniser = run.settings.seed, run.tokeniser
    return tokeniser.decode(sample(predict.executable, sizes, tokeniser.size, run.sampling, seed=seed, step=step))


def _hand_over(source: Prepared, target: Prepared) -> None:
    """Copies the weights from one entry to another."""
    for name in target.weights:
        target.executable.set(name, source.executable.get(name))


def _keep(run: Run, progress: Progress, batches: tuple[Batch, ...], path: Path, *, last: bool) -> Event:
    """Writes a checkpoint. One that cannot be written stops the run only at its end, where no other will follow.

    Weights that give no finite loss are not kept: they would take the place of a good checkpoint.
    """
    planes = {plane.name: run.step.executable.get(plane.name) for plane in kept_planes(run.step.graph)}
    for name, values in planes.items():
        if values.dtype != np.int32 and not np.isfinite(values).all():
            raise ProblemsFound([_not_finite(run, progress, f"`{name}` is not finite", progress.step)])
    if run.evaluate is not None and progress.evaluated_step != progress.step:
        loss = _evaluate(run.step, run.evaluate, batches[:1])
        if not math.isfinite(loss):
            raise ProblemsFound([_not_finite(run, progress, f"the weights' loss is {loss}", progress.step)])
    try:
        save_checkpoint(path, _checkpoint(run, progress, planes))
    except ProblemsFound as stopped:
        if last:
            raise
        reason = stopped.problems[0].render_title()
        return Warned(CheckpointNotWritten(None, str(path), progress.step, reason))
    progress.kept_step = progress.step
    return CheckpointWritten(progress.step, path)


def _checkpoint(run: Run, progress: Progress, planes: Mapping[str, NDArray[Any]]) -> Checkpoint:
    evaluations = np.array(progress.evaluations, np.float64).reshape(-1, 2)
    losses = np.array(progress.losses, np.float64)
    return Checkpoint(progress.step, run.settings, run.tokeniser, run.text, losses, evaluations, planes)


def _not_finite(run: Run, progress: Progress, what: str, step: int) -> Problem:
    return TrainingNotFinite(None, what, step, _kept(run, progress), run.settings.half)


def _kept(run: Run, progress: Progress) -> str:
    if run.checkpoint is None or progress.kept_step is None:
        return "no checkpoint was written"
    return f"`{run.checkpoint}` holds step {progress.kept_step}"
