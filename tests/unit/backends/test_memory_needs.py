"""Graphs that need more memory than there is are refused before anything is allocated."""

import resource
from pathlib import Path

import pytest

from cgraph.backends import memory_needs, planes
from cgraph.backends.cuda.imported.model import (
    Allocation,
    ImportedGraph,
    ImportedPlane,
    Level,
    MemoryKind,
    MemsetNode,
    Place,
)
from cgraph.backends.devices import Device, DeviceKind, prepare, prepare_imported
from cgraph.backends.host import prepare_host
from cgraph.backends.memory_needs import emulated_available_bytes, host_available_bytes
from cgraph.backends.problems_memory import NotEnoughMemory
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.graphs import GraphMaker

DEVICES = [Device(DeviceKind.HOST), Device(DeviceKind.EMULATED)]
HUGE = 1 << 44  # elements of 4 bytes: 64 TiB
BEYOND = 1 << 66  # more than an address has


def filled(elements: int, role: Role = Role.OUTPUT) -> CommandGraph:
    """Fills a small plane and one of so many elements, and copies a part of that."""
    maker = GraphMaker()
    small, large = maker.plane("small", 100, Role.OUTPUT), maker.plane("large", elements, role)
    maker.fill(large, value=1.0)
    maker.copy(maker.write(small), maker.read(large, 0, 100))
    return maker.graph()


def refused(graph: CommandGraph, device: Device) -> NotEnoughMemory:
    schedule = make_schedule(graph, find_hazards(graph), Order.SERIAL)
    with pytest.raises(ProblemsFound) as stopped:
        prepare(graph, schedule, plan_memory(graph, schedule), device)
    (problem,) = stopped.value.problems
    assert isinstance(problem, NotEnoughMemory)
    return problem


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("elements", [HUGE, BEYOND])
def test_a_huge_plane(elements: int, device: Device) -> None:
    graph = filled(elements)
    problem = refused(graph, device)
    assert problem.code == "CG718"
    assert problem.render_title() == f"the planes need {4 * elements + 400} bytes, more than {device} has"
    assert problem.span == graph.planes[1].span
    assert problem.notes()[0].startswith("available: ")
    assert problem.notes()[1] == f"the largest planes, in bytes: large {4 * elements}, small 400"


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_scratch_planes_need_their_arena(device: Device) -> None:
    problem = refused(filled(HUGE, Role.SCRATCH), device)
    assert problem.asked_bytes == 4 * HUGE + 400
    assert problem.notes()[2] == f"scratch planes share an arena of {4 * HUGE} bytes"


@pytest.mark.parametrize("elements", [HUGE, BEYOND])
def test_a_system_that_does_not_say_what_it_has(elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planes, "host_available_bytes", lambda: None)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    # A system that promises more than it has would let the array be made.
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, hard))
    try:
        problem = refused(filled(elements), DEVICES[0])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert problem.available_bytes is None
    assert problem.notes()[0].startswith("the largest planes")


def test_just_enough_and_one_byte_less(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = filled(1000)
    schedule = make_schedule(graph, find_hazards(graph), Order.SERIAL)
    plan = plan_memory(graph, schedule)
    monkeypatch.setattr(planes, "host_available_bytes", lambda: 4400)
    prepare_host(graph, schedule, plan).close()
    monkeypatch.setattr(planes, "host_available_bytes", lambda: 4399)
    assert refused(graph, DEVICES[0]).notes()[0] == "available: 4399 bytes"


def test_an_emulated_device_takes_twice_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_needs, "host_available_bytes", lambda: 8000)
    assert emulated_available_bytes() == 4000
    assert refused(filled(1000), DEVICES[1]).available_bytes == 4000
    monkeypatch.setattr(memory_needs, "host_available_bytes", lambda: None)
    assert emulated_available_bytes() is None


@pytest.mark.parametrize("kind", [MemoryKind.DEVICE, MemoryKind.HOST])
def test_a_huge_allocation_of_an_imported_graph(kind: MemoryKind) -> None:
    fill = MemsetNode(Place(1, 0), 16, 1, 1, 16, 1)
    graph = ImportedGraph(
        capability=(8, 0),
        allocations=(Allocation(4 * HUGE, kind), Allocation(16, MemoryKind.DEVICE)),
        planes=(ImportedPlane("large", 0, 0, 4 * HUGE), ImportedPlane("small", 1, 0, 16)),
        codes=(),
        kernels=(),
        levels=(Level((fill,), ()),),
        events=0,
    )
    with pytest.raises(ProblemsFound) as stopped:
        prepare_imported(graph, DEVICES[1])
    (problem,) = stopped.value.problems
    assert problem.code == "CG718"
    assert problem.render_title() == f"the planes need {4 * HUGE + 16} bytes, more than emulated has"
    assert problem.notes()[1] == f"the largest planes, in bytes: large {4 * HUGE}, small 16"


def test_what_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    monkeypatch.setattr(memory_needs, "_INFO", info)
    monkeypatch.setattr(memory_needs, "_LIMITS", (limit,))
    whole = host_available_bytes()  # neither file is there: all memory of the machine
    assert whole is not None
    assert whole > 1 << 20
    info.write_text("MemTotal: 9 kB\nMemAvailable:    5 kB\nSwapFree: 2 kB\n", encoding="ascii")
    assert host_available_bytes() == 7 * 1024
    limit.write_text("max\n", encoding="ascii")
    assert host_available_bytes() == 7 * 1024
    limit.write_text("4096\n", encoding="ascii")
    assert host_available_bytes() == 4096
