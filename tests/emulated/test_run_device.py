"""`cgraph run --device`: each in a process of its own, because a process has one driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings")

ROOT = Path(__file__).parents[2]
PROGRAM = """
import "operations.cg"
parameter n : Nat = 70
plane x : f32 [n] input
plane h : half [n] scratch
plane y : f32 [n] output
def main = (cgThen (cgCastDown h x n) (cgBinary cgImageAdd y x x n))
"""


def run(tmp_path: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "double.cg").write_text(PROGRAM)
    command = [sys.executable, "-m", "cgraph.cli.main", "run", str(tmp_path / "double.cg"), *options]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )


def test_emulated_beside_host(tmp_path: Path) -> None:
    norms = []
    for device in ("host", "emulated"):
        done = run(tmp_path, "--half", "bf16", "--device", device, "--json")
        assert done.returncode == 0, done.stderr
        (result,) = json.loads(done.stdout)["results"]
        norms.append(result["norm"])
    assert norms[0] == norms[1] > 0


def test_no_driver(tmp_path: Path) -> None:
    done = run(tmp_path, "--half", "f16", "--device", "cuda:0")
    if done.returncode == 0:
        pytest.skip("there is a GPU")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] in (
        "error[CG740]: there is no CUDA driver on this machine",
        "error[CG741]: there is no device cuda:0; the driver knows 0",
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("half", "code"), [("f32", "CG733"), ("f64", "CG743")])
def test_half_that_no_kernel_knows(tmp_path: Path, half: str, code: str) -> None:
    done = run(tmp_path, "--half", half, "--device", "emulated")
    assert done.returncode == 1
    assert code in done.stderr


def test_no_such_device(tmp_path: Path) -> None:
    done = run(tmp_path, "--device", "gpu")
    assert done.returncode == 2
    assert "`gpu` is no device: host, emulated, cuda or cuda:N" in done.stderr
