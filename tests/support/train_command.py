"""`cgraph train` with a model of 4 + 4 channels: starts it, and reads what it leaves."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result
from numpy.typing import NDArray
from safetensors.numpy import load_file

from cgraph.cli.main import main
from cgraph.resources import programs_directory

ROOT = Path(__file__).parents[2]
GPT = str(programs_directory() / "gpt.cg")
SIZES = {"cgSeq": 8, "cgBatch": 2, "cgLayers": 1, "cgHeads": 2, "cgHeadWidth": 4, "cgFfn": 16}
PHRASE = "the quick brown fox jumps over the lazy dog.\n"


def write_text(folder: Path, text: str = PHRASE * 30) -> str:
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def set_options(sizes: dict[str, int]) -> list[str]:
    return [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]


def train_command(text: str, *options: str, **sizes: int) -> list[str]:
    """The words after `cgraph` of a run without samples."""
    return ["train", GPT, "--text", text, *set_options({**SIZES, **sizes}), "--sample-length", "0", *options]


def train(text: str, *options: str, **sizes: int) -> Result:
    return CliRunner().invoke(main, train_command(text, *options, **sizes))


def resume(text: str, *options: str) -> Result:
    """As `train`, without sizes: the checkpoint has them."""
    return CliRunner().invoke(main, ["train", GPT, "--text", text, "--sample-length", "0", *options])


def process(words: list[str], before: str = "") -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of a process of its own; `before` is code that it runs first."""
    code = f"import sys\n{before}\nfrom cgraph.cli.main import main\nmain(sys.argv[1:])"
    return [sys.executable, "-c", code, *words], {**os.environ, "PYTHONPATH": str(ROOT)}


def log_records(path: Path) -> list[dict[str, Any]]:
    """Lines of a log without the time that they took."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in record.items() if name != "elapsed_s"} for record in records]


def same_bits(one: Path, other: Path) -> bool:
    """Whether two checkpoints hold the same arrays, bit for bit."""
    first, second = load_file(one), load_file(other)
    return first.keys() == second.keys() and all(_bits(first[name]) == _bits(second[name]) for name in first)


def _bits(array: NDArray[Any]) -> tuple[np.dtype[Any], tuple[int, ...], bytes]:
    return array.dtype, array.shape, array.tobytes()
