"""Names of devices, and what is said where one is not there."""

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cgraph.backends.devices import Device, DeviceKind, parse_device, prepare
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.hazards import find_hazards
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.graphs import GraphMaker

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


def test_without_the_packages_for_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_cuda(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "cuda":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *rest)

    for name in [name for name in sys.modules if name.startswith("cgraph.backends.cuda")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_cuda)
    graph = GraphMaker().graph()
    schedule = make_schedule(graph, find_hazards(graph), Order.SERIAL)
    with pytest.raises(ProblemsFound, match="CG748"):
        prepare(graph, schedule, plan_memory(graph, schedule), Device(DeviceKind.CUDA))


def test_the_pipeline_imports_nothing_of_cuda() -> None:
    text = "import cgraph.pipeline, cgraph.cli.run, sys; print([n for n in sys.modules if n.split('.')[0] == 'cuda'])"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
