"""Checkpoints: what goes in comes out, and what somebody changed is refused with a reason."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from safetensors.numpy import load_file, save_file

from cgraph.cli.train_setup import new_settings
from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.checkpoints import FORMAT, Checkpoint, load_checkpoint, save_checkpoint
from cgraph.models.training.settings import settings_data
from cgraph.models.training.tokenisers import Tokeniser

ROOT = Path(__file__).parents[3]
SETTINGS = new_settings({"steps": 9, "tokens": "characters"}, {"cgSeq": 4, "cgNormEpsilon": 1e-5})
PLANES: dict[str, Any] = {
    "cgUpWeight 0": np.arange(6, dtype=np.float32).reshape(2, 3) / 7,
    "cgUpWeightMoment1 0": np.full((2, 3), 1e-30, np.float64),
    "cgProgress": np.array([3, 1, 2, 0], np.int32),
    "cgScale": np.array([0.5], np.float32),
}
GOOD = Checkpoint(
    3,
    SETTINGS,
    Tokeniser("\n aé日🎈"),
    "0123456789abcdef" * 4,
    np.array([3.0, 2.5, 1 / 3]),
    np.array([[2.0, 2.25]]),
    PLANES,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.safetensors"
    save_checkpoint(path, GOOD)
    return path


def rewrite(path: Path, arrays: dict[str, Any] | None = None, drop: str = "", **run: object) -> None:
    """The good checkpoint with other arrays or other fields of its run."""
    described = {"step": 3, "settings": settings_data(SETTINGS), "characters": "ab", "text": GOOD.text, **run}
    planes = {**load_file(path), **(arrays or {})}
    planes.pop(drop, None)
    save_file(planes, path, {"format": FORMAT, "run": json.dumps(described)})


def refused(path: Path, code: str = "CG788") -> str:
    with pytest.raises(ProblemsFound) as stopped:
        load_checkpoint(path)
    assert [problem.code for problem in stopped.value.problems] == [code]
    return stopped.value.problems[0].render_title()


def test_everything_comes_back(path: Path) -> None:
    found = load_checkpoint(path)
    assert (found.step, found.settings, found.tokeniser, found.text) == (3, SETTINGS, GOOD.tokeniser, GOOD.text)
    assert np.array_equal(found.losses, GOOD.losses)
    assert np.array_equal(found.evaluations, GOOD.evaluations)
    assert found.planes.keys() == PLANES.keys()
    for name, array in PLANES.items():
        assert found.planes[name].dtype == array.dtype
        assert found.planes[name].tobytes() == array.tobytes()


def test_the_file_is_read_by_others(path: Path) -> None:
    arrays = load_file(path)
    assert set(arrays) == {*PLANES, "history:losses", "history:evaluations"}


def test_the_same_run_is_the_same_file(path: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "again.safetensors", GOOD)
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_a_rewritten_one_is_read(path: Path) -> None:
    rewrite(path)
    assert load_checkpoint(path).tokeniser.characters == "ab"


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ({"step": 4}, "histories do not belong to 4 steps"),
        ({"step": -1}, "step is -1"),
        ({"step": 10}, "step is 10 of 9"),
        ({"step": 3.0}, "step is 3.0"),
        ({"step": True}, "step is True"),
        ({"step": "3"}, "step is '3'"),
        ({"characters": "ba"}, "characters in order"),
        ({"characters": None}, "tokeniser is one of bytes"),
        ({"characters": 7}, "characters of a text"),
        ({"characters": "a\ud800"}, "surrogates not allowed"),
        ({"text": "short"}, "digest"),
        ({"text": 5}, "digest"),
        ({"settings": {}}, "settings"),
        ({"settings": {**settings_data(SETTINGS), "steps": 0}}, "steps"),
        ({"settings": {**settings_data(SETTINGS), "half": [1]}}, "half"),
        ({"more": 1}, "exactly"),
    ],
)
def test_a_changed_run_is_refused(path: Path, run: dict[str, Any], reason: str) -> None:
    rewrite(path, **run)
    assert reason in refused(path)


@pytest.mark.parametrize(
    ("arrays", "drop", "reason"),
    [
        ({"cgUpWeight 0": np.full((2, 3), np.nan, np.float32)}, "", "`cgUpWeight 0` holds NaN"),
        ({"cgUpWeightMoment1 0": np.full((2, 3), np.inf)}, "", "holds NaN or infinity"),
        ({"cgProgress": np.array([-1, 0, 0, 0], np.int32)}, "", "below 0"),
        ({"cgScale": np.array([-1.0], np.float32)}, "", "no loss scale"),
        ({"history:losses": np.zeros(3, np.float32)}, "", "no history of losses"),
        ({"history:losses": np.array([1.0, np.nan, 1.0])}, "", "not finite"),
        ({"history:losses": np.zeros(4)}, "", "do not belong to 3 steps"),
        ({"history:evaluations": np.zeros((1, 3))}, "", "do not belong"),
        ({"history:evaluations": np.array([[4.0, 1.0]])}, "", "not reached"),
        ({}, "history:losses", "no history of losses"),
        ({}, "history:evaluations", "no history of evaluations"),
    ],
)
def test_changed_arrays_are_refused(path: Path, arrays: dict[str, Any], drop: str, reason: str) -> None:
    rewrite(path, arrays, drop)
    assert reason in refused(path)


@pytest.mark.parametrize("run", ["", "{", "[" * 100_000, "[]", "null", '{"step": 3}', "1" * 10_000])
def test_a_header_that_is_no_run_is_refused(path: Path, run: str) -> None:
    save_file(load_file(path), path, {"format": FORMAT, "run": run})
    refused(path)


def test_another_format_is_refused(path: Path) -> None:
    save_file(load_file(path), path, {"format": "cgraph training 2"})
    assert FORMAT in refused(path)
    save_file(load_file(path), path)
    refused(path)
    header = b'{"__metadata__":null}   '
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    assert FORMAT in refused(path)


def test_every_truncation_is_refused(path: Path) -> None:
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        refused(path, "CG721")


def test_no_changed_byte_of_the_header_is_a_traceback(path: Path) -> None:
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    for place in range(0, header, 5):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :])
        try:
            load_checkpoint(path)
        except ProblemsFound as stopped:
            assert {problem.code for problem in stopped.problems} <= {"CG721", "CG788"}  # noqa: PT017  (it may be read)


def test_a_write_that_fails_keeps_the_old_file(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    limit = len(before) + 1000
    code = f"""
import resource, sys
from pathlib import Path
from attrs import evolve
import numpy as np
from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.checkpoints import load_checkpoint, save_checkpoint
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
path = Path(sys.argv[1])
old = load_checkpoint(path)
try:
    save_checkpoint(path, evolve(old, planes={{**old.planes, "more": np.zeros({limit}, np.float32)}}))
except ProblemsFound as stopped:
    print(stopped.problems[0].code)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("CG722\n", "")
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != limit


def test_a_write_that_is_interrupted_keeps_the_old_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def interrupt(_number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(path, evolve(GOOD, step=3))
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
