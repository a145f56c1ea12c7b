"""From the options of `cgraph train` to a run that is ready to start.

Receives options, a checkpoint and a text; gives settings, the entries on their device, and the planes' first contents.
What a checkpoint decides is taken from it where an option is not given.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from cgraph.backends.devices import HOST, MULTIPROCESSORS, Device, DeviceKind, device_parameters
from cgraph.backends.dtypes import DTYPES
from cgraph.check.program import CheckedProgram
from cgraph.cli.problems_train import SequenceBeyondContext
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.models.training.checkpoints import Checkpoint
from cgraph.models.training.contract import (
    EVALUATE,
    PREDICT,
    STEP_ENTRIES,
    require_entries,
    require_planes,
    require_weights,
)
from cgraph.models.training.first_weights import first_weights
from cgraph.models.training.problems_training import (
    CheckpointDiffers,
    StepsReached,
    VocabularyTooSmall,
)
from cgraph.models.training.run import Prepared, Progress
from cgraph.models.training.settings import FIXED, TrainingSettings
from cgraph.models.training.texts import Text
from cgraph.models.training.tokenisers import Tokeniser
from cgraph.pipeline import Compiled, compile_checked, lower

DEFAULTS: dict[str, Any] = {
    "steps": 1000,
    "seed": 0,
    "optimizer": "adamw",
    "schedule": "cosine",
    "weight_decay": 0.1,
    "beta1": 0.9,
    "beta2": 0.95,
    "epsilon": 1e-8,
    "clip_norm": 1.0,
    "tokens": "bytes",
    "evaluation_share": 0.1,
    "evaluate_every": 100,
    "evaluate_batches": 8,
    "checkpoint_every": 100,
}
LEARNING_RATES = {"adamw": 1e-3, "sgd": 0.1}
MOST_WARMUP = 100
# Kernels know f16 and bf16; bf16 needs no loss scale.
HALF_ON_HOST, HALF_ON_DEVICES = "f32", "bf16"

Checked = tuple[CheckedProgram, tuple[Problem, ...]]


def new_settings(
    given: Mapping[str, Any], parameters: Mapping[str, int | float], device: Device = HOST
) -> TrainingSettings:
    """Settings of a new run: options, and defaults for the rest.

    Raises:
        ValueError: a value is out of range.
    """
    values = {**DEFAULTS, "half": HALF_ON_HOST if device.kind is DeviceKind.HOST else HALF_ON_DEVICES, **given}
    values.setdefault("learning_rate", LEARNING_RATES[values["optimizer"]])
    values.setdefault("warmup_steps", min(MOST_WARMUP, values["steps"] // 10))
    return TrainingSettings(**values, parameters=dict(parameters))


def resumed_settings(
    path: Path, checkpoint: Checkpoint, given: Mapping[str, Any], parameters: Mapping[str, int | float], text: Text
) -> TrainingSettings:
    """Settings of a run that goes on: options that may change, and the checkpoint for the rest.

    Raises:
        ProblemsFound: CG789 for each option that is not what the run began with, CG790 where all steps are done.
    """
    stored = checkpoint.settings
    differing = [
        (f"--{name.replace('_', '-')}", getattr(stored, name), given[name])
        for name in FIXED
        if name in given and given[name] != getattr(stored, name)
    ]
    differing += [
        (name, stored.parameters[name], value)
        for name, value in parameters.items()
        if name in stored.parameters and stored.parameters[name] != value
    ]
    if text.digest != checkpoint.text:
        differing.append(("the text of SHA-256", f"{checkpoint.text[:12]}…", f"{text.digest[:12]}…"))
    if differing:
        raise ProblemsFound(
            [CheckpointDiffers(None, str(path), what, str(old), str(new)) for what, old, new in differing]
        )
    settings = evolve(stored, **given, parameters={**stored.parameters, **parameters})
    if checkpoint.step >= settings.steps:
        raise ProblemsFound([StepsReached(None, str(path), checkpoint.step, settings.steps)])
    return settings


def require_parameters(path: Path, checkpoint: Checkpoint, program: CheckedProgram) -> None:
    """Looks whether a program has the parameters of the one that a checkpoint was made with.

    Raises:
        ProblemsFound: CG789 for each that it lacks.
    """
    stored = checkpoint.settings.parameters
    missing = [name for name in stored if name not in program.parameters]
    if missing:
        raise ProblemsFound(
            [CheckpointDiffers(None, str(path), f"parameter {name}", str(stored[name]), "none") for name in missing]
        )


def derive_parameters(
    program: CheckedProgram, given: Mapping[str, int | float], tokeniser: Tokeniser
) -> dict[str, int | float]:
    """Parameters given, and those that follow from the text or from others: cgVocab, and cgContext or cgSeq.

    Raises:
        ProblemsFound: CG787 where the vocabulary given is smaller than the text's, CG797 where the context given is
            shorter than the sequences given.
    """
    parameters = dict(given)
    problems: list[Problem] = []
    if "cgVocab" in program.parameters:
        vocabulary = parameters.setdefault("cgVocab", tokeniser.size)
        if isinstance(vocabulary, int) and vocabulary < tokeniser.size:
            problems.append(VocabularyTooSmall(None, vocabulary, tokeniser.size, tokeniser.kind))
    if program.parameters.keys() >= {"cgContext", "cgSeq"}:
        for name, other in (("cgContext", "cgSeq"), ("cgSeq", "cgContext")):
            if other in parameters:
                parameters.setdefault(name, parameters[other])
        if "cgSeq" in parameters and parameters["cgSeq"] > parameters["cgContext"]:
            problems.append(SequenceBeyondContext(None, parameters["cgSeq"], parameters["cgContext"]))
    if problems:
        raise ProblemsFound(problems)
    return parameters


def compile_entries(
    checked: Checked, file: str, settings: TrainingSettings, device: Device, *, samples: bool
) -> tuple[dict[str, Compiled], TrainingSettings]:
    """The entries that a run needs, by name: the step first.

    Args:
        checked: the program and its warnings.
        file: the program's.
        settings: that decide optimizer, parameters and half.
        device: that decides a parameter.
        samples: whether `predict` is needed.

    Returns:
        The compiled entries, and the settings with the value of every parameter.

    Raises:
        ProblemsFound: CG785 and CG786 where the program lacks something, CG5xx from the builds.
    """
    step = STEP_ENTRIES[settings.optimizer]
    wanted = (step, *((EVALUATE,) if settings.evaluation_share else ()), *((PREDICT,) if samples else ()))
    program = checked[0]
    require_entries(program, file, wanted)
    compiled = {}
    for entry in wanted:
        # A sample is one sequence, however many a step has.
        single = {"cgBatch": 1} if entry == PREDICT and "cgBatch" in program.parameters else {}
        parameters = device_parameters(program.parameters, {**settings.parameters, **single}, device)
        compiled[entry] = compile_checked(checked, parameters, entry=entry, half=Element(settings.half))
    used = {name: value for name, value in compiled[step].graph.parameters if name != MULTIPROCESSORS}
    return compiled, evolve(settings, parameters={**used, **settings.parameters})


def prepare_entries(compiled: Mapping[str, Compiled], tokeniser: Tokeniser, device: Device) -> dict[str, Prepared]:
    """The entries ready to run.

    Raises:
        ProblemsFound: CG786 where planes do not have the form that training uses, CG787 where the logits have fewer
            columns than the text has tokens, CG7xx from the device.
    """
    graphs = [entry.graph for entry in compiled.values()]
    sizes: list[dict[str, int]] = []
    problems: list[Problem] = []
    for graph in graphs:
        # The batch of a prediction is its own.
        known = {"cgSeq": sizes[0]["cgSeq"]} if sizes else {}
        try:
            sizes.append(require_planes(graph, known))
            require_weights(graph, graphs[0])
        except ProblemsFound as stopped:
            problems += stopped.problems
            if not sizes:
                break
    if problems:
        raise ProblemsFound(problems)
    vocabulary = sizes[-1].get("cgVocab", tokeniser.size)
    if vocabulary < tokeniser.size:
        raise ProblemsFound([VocabularyTooSmall(None, vocabulary, tokeniser.size, tokeniser.kind)])
    return {
        name: Prepared(entry.graph, lower(entry.graph, entry.schedule, entry.plan, device), found)
        for (name, entry), found in zip(compiled.items(), sizes, strict=True)
    }


def first_planes(step: Prepared, settings: TrainingSettings) -> dict[str, NDArray[Any]]:
    """Weights and loss scale that a new run starts from; all other state is zero."""
    scale = next(plane for plane in step.graph.planes if plane.name == "cgScale")
    return {
        **first_weights(step.graph, settings.seed),
        scale.name: np.array([settings.first_scale], DTYPES[scale.element]),
    }


def resumed_progress(checkpoint: Checkpoint) -> Progress:
    """How far a checkpoint's run is."""
    evaluations = [(int(step), float(loss)) for step, loss in checkpoint.evaluations]
    return Progress(checkpoint.losses.tolist(), evaluations, checkpoint.step)
