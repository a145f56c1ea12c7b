"""tools/gpu_check in its reduced form, on the emulated device, as its user starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cuda.bindings")

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "gpu_check"
STEPS = {
    "facts", "layer backward", "coverage", "kernels: products", "kernels: element-wise", "kernels: norms",
    "kernels: layouts and RoPE", "kernels: attention", "kernels: embeddings", "kernels: biases",
    "kernels: padded attention", "kernels: cross entropy", "kernels: RoPE of a batch", "kernels: tied embeddings",
    "kernels: optimizers", "replays", "changes", "imports", "errors", "faults", "times", "PyTorch", "compute-sanitizer",
}  # fmt: skip
WRONG_ADDITION = """
import sys
sys.path.insert(0, {tool!r})
from cgraph.backends.devices import HOST
from cgraph.images import registry
from session import Session
from step_kernels import check_family

right = registry.find_meaning("elementwise.cu", "cgAdd")

def wrong(context, *, out, a, b, n):
    right(context, out=out, a=a, b=b, n=n)
    if out.dtype == "float32":
        out[-1] += 1e-2

registry._MEANINGS["elementwise.cu", "cgAdd"] = wrong
for row in check_family(Session(HOST, reduced=True), "element-wise"):
    print(row.status.value, row.name.split()[0])
"""


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )


def rows_of(report: dict[str, Any], step: str) -> list[dict[str, Any]]:
    return next(found["rows"] for found in report["steps"] if found["name"] == step)


@pytest.mark.slow
def test_every_step_passes_on_the_emulated_device(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    ended = start(str(TOOL), "--device", "emulated", "--minutes", "30", "--json", str(file))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(file.read_text(encoding="utf-8"))
    assert report["passed"]
    assert {step["name"] for step in report["steps"]} == STEPS
    for step in report["steps"]:
        assert not any(row["status"] == "FAILED" for row in step["rows"]), step
    assert sum(row["status"] == "ok" for step in STEPS for row in rows_of(report, step)) >= 40
    for row in rows_of(report, "kernels: products"):
        assert 0 < row["numbers"]["error"] <= row["numbers"]["bound"] < 1e-5
    timed = [row["numbers"] for row in rows_of(report, "times") if "moved_bytes" in row["numbers"]]
    assert len(timed) == 22
    product = next(row for row in rows_of(report, "times") if row["name"].startswith("cgImageProductData "))
    # out[65, 64] in f32, a[65, 33] and b[33, 64] in half.
    assert product["numbers"]["moved_bytes"] == 4 * 65 * 64 + 2 * (65 * 33 + 33 * 64)
    assert product["numbers"]["operations"] == 2 * 65 * 64 * 33


def test_a_step_that_fails_is_a_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    ended = start(
        str(TOOL), "--device", "cuda:4095", "--only", "facts", "--only", "compute-sanitizer", "--json", str(file)
    )
    assert ended.returncode == 1
    report = json.loads(file.read_text(encoding="utf-8"))
    assert not report["passed"]
    assert [step["name"] for step in report["steps"]] == ["facts", "compute-sanitizer"]
    (row,) = rows_of(report, "facts")
    assert row["status"] == "FAILED"
    assert "error[CG740]" in row["detail"] or "error[CG741]" in row["detail"]
    assert "FAILED facts: facts" in ended.stdout


def test_what_the_time_does_not_suffice_for_has_failed() -> None:
    ended = start(str(TOOL), "--device", "emulated", "--only", "facts", "--minutes", "0.01")
    assert ended.returncode == 1
    assert "not run: the time is over" in ended.stdout


@pytest.mark.parametrize("arguments", [("--device", "host"), ("--device", "tpu"), ("--only", "nothing")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert start(str(TOOL), *arguments).returncode == 2


def test_a_wrong_kernel_is_found() -> None:
    ended = start("-c", WRONG_ADDITION.format(tool=str(TOOL)))
    assert ended.stdout.splitlines() == [
        "FAILED cgImageAdd",
        "ok cgImageMultiply",
        "ok cgImageCastDown",
        "ok cgImageGatedGelu",
        "ok cgImageGatedGeluBackward",
    ], ended.stderr
