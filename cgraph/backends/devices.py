"""Which device a program runs on, and the way to its backend.

Receives a planned graph and a device's name; gives an `Executable`. Before that, gives the parameters of programs that
a device decides. The backends behind other names than `host` are imported only when they are asked for, because what
they need may not be installed.
"""

import re
from collections.abc import Container, Mapping
from enum import Enum
from typing import Any

from attrs import frozen

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.cuda.imported.problems_imported import ImportedOnHost
from cgraph.backends.cuda.imported.protocol import ImportedRun
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.cuda_modules import cuda_module
from cgraph.backends.host import prepare_host
from cgraph.backends.protocol import Executable
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

# The library's parameter that says how many multiprocessors a grid should fill.
MULTIPROCESSORS = "cgMultiprocessors"
_NAME = re.compile(r"(host|emulated|cuda)(?::(\d{1,4}))?")


class DeviceKind(Enum):
    """The host's processors, a GPU, or an emulated one."""

    HOST = "host"
    CUDA = "cuda"
    EMULATED = "emulated"


@frozen
class Device:
    """A kind and, for GPUs, a number from 0."""

    kind: DeviceKind
    number: int = 0

    def __str__(self) -> str:
        return f"cuda:{self.number}" if self.kind is DeviceKind.CUDA else self.kind.value


HOST = Device(DeviceKind.HOST)


def parse_device(text: str) -> Device:
    """`host`, `emulated`, `cuda` or `cuda:N`. Raises ValueError for anything else."""
    match = _NAME.fullmatch(text)
    if match is None or (match[2] is not None and match[1] != DeviceKind.CUDA.value):
        raise ValueError(f"`{text}` is no device: host, emulated, cuda or cuda:N")
    return Device(DeviceKind(match[1]), int(match[2] or 0))


def device_parameters(
    known: Container[str], given: Mapping[str, int | float], device: Device
) -> dict[str, int | float]:
    """The parameters given, and `MULTIPROCESSORS` from the device if the program knows it and nobody gave it.

    The host and the emulated device run blocks one after the other, so for them the program's default stands.

    Args:
        known: names of the program's parameters.
        given: values by name.
        device: where the program will run.

    Raises:
        ProblemsFound: CG740 to CG742 where a GPU cannot be asked, CG748 where CUDA's Python packages are missing.
    """
    if device.kind is not DeviceKind.CUDA or MULTIPROCESSORS in given or MULTIPROCESSORS not in known:
        return dict(given)
    count: int = cuda_module("context").count_multiprocessors(device.number)
    return {**given, MULTIPROCESSORS: count}


def prepare(
    graph: CommandGraph,
    schedule: Schedule,
    plan: MemoryPlan,
    device: Device = HOST,
    stored: StoredKernels | None = None,
) -> Executable:
    """A graph ready to run on a device.

    Args:
        graph: verified.
        schedule: of this graph.
        plan: of this schedule.
        device: where it will run.
        stored: kernels that were compiled before; None where the program's own files are compiled.

    Raises:
        ProblemsFound: CG701, CG704 and CG731 to CG739 on the host; CG730 to CG749 on the others, CG748 where CUDA's
            Python packages are missing; CG736 to CG738 and CG830 to CG832 where stored kernels will not do.
    """
    if device.kind is DeviceKind.HOST:
        return prepare_host(graph, schedule, plan, stored=stored)
    executable: Executable = cuda_module("preparation").prepare(graph, schedule, plan, device, stored)
    return executable


def read_cuda_graph(handle: Any, **options: Any) -> ImportedGraph:
    """A live CUDA graph as a value; `cgraph.capture.from_cuda_graph` documents the options and problems."""
    graph: ImportedGraph = cuda_module("imported.reading").read_graph(handle, **options)
    return graph


def prepare_imported(graph: ImportedGraph, device: Device) -> ImportedRun:
    """An imported graph ready to run on a GPU or the emulated device.

    Raises:
        ProblemsFound: CG861 for the host, CG858 to CG860 and CG740 to CG748 for what the device does not take.
    """
    if device.kind is DeviceKind.HOST:
        raise ProblemsFound([ImportedOnHost(None)])
    executable: ImportedRun = cuda_module("imported.preparation").prepare_imported(graph, device)
    return executable
