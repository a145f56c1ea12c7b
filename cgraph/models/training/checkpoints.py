"""A training run in a file, .safetensors.

The file holds every plane that training changes under its own name, the losses so far as `history:losses` and
`history:evaluations`, and in its header the step, the settings and the tokeniser as JSON. Reading treats it as hostile:
guarantees values in range and histories as long as the step says; that the planes are those of a program is
`fit_planes`.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.models.plane_files import load_described, save_planes
from cgraph.models.training.contract import kept_planes
from cgraph.models.training.problems_training import BrokenCheckpoint, CheckpointDiffers
from cgraph.models.training.settings import TrainingSettings, settings_data, settings_from
from cgraph.models.training.tokenisers import Tokeniser

FORMAT = "cgraph training 1"
_LOSSES = "history:losses"
_EVALUATIONS = "history:evaluations"
_FIELDS = {"step", "settings", "characters", "text"}
_DIGEST_LENGTH = 64
_MOST_SHOWN = 3


@frozen(eq=False)
class Checkpoint:
    """A run after some steps.

    Args:
        step: how many are done.
        settings: that it was made with.
        tokeniser: of the text. text: the text's digest.
        losses: of each step, [step] of f64.
        evaluations: step and loss of each evaluation, [evaluations, 2] of f64.
        planes: weights and state, by name.
    """

    step: int
    settings: TrainingSettings
    tokeniser: Tokeniser
    text: str
    losses: NDArray[np.float64] = field(repr=False)
    evaluations: NDArray[np.float64] = field(repr=False)
    planes: Mapping[str, NDArray[Any]] = field(repr=False)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint; the file holds the old one or the new one, never less.

    Raises:
        ProblemsFound: CG720 for a name that does not end in .safetensors, CG722 where it cannot be written.
    """
    described = {
        "step": checkpoint.step,
        "settings": settings_data(checkpoint.settings),
        "characters": checkpoint.tokeniser.characters,
        "text": checkpoint.text,
    }
    history = {_LOSSES: checkpoint.losses, _EVALUATIONS: checkpoint.evaluations}
    texts = {"format": FORMAT, "run": json.dumps(described, sort_keys=True)}
    save_planes(path, {**checkpoint.planes, **history}, texts)


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint.

    Raises:
        ProblemsFound: CG720 and CG721 as for any file of planes, CG788 where it is no checkpoint or was changed.
    """
    arrays, texts = load_described(path)
    try:
        if texts.get("format") != FORMAT:
            raise ValueError(f"its header does not say `{FORMAT}`")  # noqa: TRY301  (all reasons are told alike)
        return _read(arrays, json.loads(texts.get("run", "")))
    except (ValueError, RecursionError) as error:
        raise ProblemsFound([BrokenCheckpoint(None, str(path), str(error))]) from error


def _read(arrays: dict[str, NDArray[Any]], run: object) -> Checkpoint:
    """Raises ValueError with the reason."""
    if not isinstance(run, dict) or run.keys() != _FIELDS:
        raise ValueError(f"its run has not exactly {', '.join(sorted(_FIELDS))}")
    step, text = run["step"], run["text"]
    settings = settings_from(run["settings"])
    tokeniser = Tokeniser(run["characters"])
    if tokeniser.kind != settings.tokens:
        raise ValueError(f"its tokeniser is one of {tokeniser.kind}, its settings say {settings.tokens}")
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= settings.steps:
        raise ValueError(f"its step is {step!r} of {settings.steps}")
    if not isinstance(text, str) or len(text) != _DIGEST_LENGTH:
        raise ValueError("its digest of the text is none")
    planes = dict(arrays)
    losses = _history(planes.pop(_LOSSES, None), "losses", 1)
    evaluations = _history(planes.pop(_EVALUATIONS, None), "evaluations", 2)
    if losses.shape != (step,) or evaluations.shape[1:] != (2,):
        raise ValueError(f"its histories do not belong to {step} steps")
    if ((evaluations[:, 0] < 0) | (evaluations[:, 0] > step)).any():
        raise ValueError("it was evaluated at steps that it has not reached")
    for name, array in planes.items():
        if array.dtype != np.int32 and not np.isfinite(array).all():
            raise ValueError(f"`{name}` holds NaN or infinity")
    _check_state(planes)
    return Checkpoint(step, settings, tokeniser, text, losses, evaluations, planes)


def _history(array: NDArray[Any] | None, what: str, axes: int) -> NDArray[np.float64]:
    if array is None or array.dtype != np.float64 or array.ndim != axes:
        raise ValueError(f"it has no history of {what}")
    if not np.isfinite(array).all():
        raise ValueError(f"its history of {what} is not finite")
    return array


def _check_state(planes: Mapping[str, NDArray[Any]]) -> None:
    """Counters that kernels compute with are in range; Raises ValueError."""
    progress = planes.get("cgProgress")
    if progress is not None and (progress < 0).any():
        raise ValueError("`cgProgress` holds numbers below 0")
    scale = planes.get("cgScale")
    if scale is not None and scale.size and not 0 <= float(scale.flat[0]) < math.inf:
        raise ValueError("`cgScale` is no loss scale")


def fit_planes(path: Path, checkpoint: Checkpoint, graph: CommandGraph) -> None:
    """Looks whether a checkpoint holds the weights and the state of a graph, all of them and nothing else.

    Raises:
        ProblemsFound: CG789 for the first planes that differ.
    """
    here = {plane.name: f"{DTYPES[plane.element]} {list(plane.extent)}" for plane in kept_planes(graph)}
    stored = {name: f"{array.dtype} {list(array.shape)}" for name, array in checkpoint.planes.items()}
    problems: list[Problem] = [
        CheckpointDiffers(None, str(path), f"plane `{name}`", stored.get(name, "absent"), here.get(name, "absent"))
        for name in sorted(here.keys() | stored.keys())
        if here.get(name) != stored.get(name)
    ]
    if problems:
        raise ProblemsFound(problems[:_MOST_SHOWN])
