"""Weights and gradients of whole models in files, .safetensors first of all.

An array is stored under the name that `named` gives it: `wte`, `wpe`, `blocks.0.attn_wq`, …, `ln_gamma`, `ln_beta`,
`head`, `head_b`; matrices [outputs, inputs]. Files are read and written by `plane_files`: nothing in them is executed,
and a file is there whole or not at all.
"""

from pathlib import Path
from typing import TypeVar

from cgraph.diagnostics import ProblemsFound
from cgraph.models.config import GptConfig
from cgraph.models.gpt import Gpt
from cgraph.models.grads import GptGrads
from cgraph.models.plane_files import load_planes, save_planes
from cgraph.models.problems_files import UnreadablePlanes

ArraysT = TypeVar("ArraysT", Gpt, GptGrads)


def save_gpt(path: Path, gpt: Gpt) -> None:
    """Writes the weights.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG722 where it cannot be written.
    """
    save_planes(path, gpt.named())


def load_gpt(path: Path, config: GptConfig) -> Gpt:
    """The weights that a file holds.

    Args:
        path: of a file with these weights and nothing else, all float32 or all float64.
        config: what sizes they must have.

    Raises:
        ProblemsFound: CG720 for another kind of file, CG721 where it is missing, truncated or holds something else.
    """
    return _load(path, config, Gpt)


def save_gpt_grads(path: Path, grads: GptGrads) -> None:
    """Writes the gradients; as `save_gpt`."""
    save_planes(path, grads.named())


def load_gpt_grads(path: Path, config: GptConfig) -> GptGrads:
    """The gradients that a file holds; as `load_gpt`."""
    return _load(path, config, GptGrads)


def _load(path: Path, config: GptConfig, kind: type[ArraysT]) -> ArraysT:
    # A plane's indices stand after blanks in `load_planes`; here they stand after points.
    arrays = {name.replace(" ", "."): array for name, array in load_planes(path).items()}
    try:
        return kind.from_named(config, arrays)
    except ValueError as error:
        raise ProblemsFound([UnreadablePlanes(None, str(path), str(error))]) from error
