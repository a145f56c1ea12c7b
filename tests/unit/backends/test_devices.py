"""Names of devices, and what is said where one is not there."""

import subprocess
import sys
from pathlib import Path

import pytest

from cgraph.backends.devices import Device, DeviceKind, parse_device

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("host", DeviceKind.HOST, 0),
        ("emulated", DeviceKind.EMULATED, 0),
        ("cuda", DeviceKind.CUDA, 0),
        ("cuda:12", DeviceKind.CUDA, 12),
    ],
)
def test_names(text: str, kind: DeviceKind, number: int) -> None:
    assert parse_device(text) == Device(kind, number)


@pytest.mark.parametrize(
    "text", ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "host:1", "emulated:0", "CUDA", "cuda:99999"]
)
def test_texts_that_name_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="is no device"):
        parse_device(text)


WITHOUT_CUDA = """
import sys
sys.modules["cuda"] = None
from cgraph.backends.devices import Device, DeviceKind, prepare
from cgraph.diagnostics import ProblemsFound
try:
    prepare(None, None, None, Device(DeviceKind.{kind}))
except ProblemsFound as stopped:
    print(stopped)
"""


@pytest.mark.parametrize("kind", ["CUDA", "EMULATED"])
def test_without_the_packages_for_cuda(kind: str) -> None:
    text = WITHOUT_CUDA.format(kind=kind)
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "CG748: the Python packages for CUDA are not installed: there is no module cuda" in done.stdout


def test_the_pipeline_imports_nothing_of_cuda() -> None:
    text = "import cgraph.pipeline, cgraph.cli.run, sys; print([n for n in sys.modules if n.split('.')[0] == 'cuda'])"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
