"""Which device a program runs on, and the way to its backend.

Receives a planned graph and a device's name; gives an `Executable`. The backends behind other names than `host` are
imported only when they are asked for, because what they need may not be installed.
"""

import re
from enum import Enum
from importlib import import_module

from attrs import frozen

from cgraph.backends.host import prepare_host
from cgraph.backends.problems_devices import CudaNotInstalled
from cgraph.backends.protocol import Executable
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

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


def prepare(graph: CommandGraph, schedule: Schedule, plan: MemoryPlan, device: Device = HOST) -> Executable:
    """A graph ready to run on a device.

    Raises:
        ProblemsFound: CG701, CG704 and CG731 to CG739 on the host; CG730 to CG749 on the others, CG748 where CUDA's
            Python packages are missing.
    """
    if device.kind is DeviceKind.HOST:
        return prepare_host(graph, schedule, plan)
    try:
        backend = import_module("cgraph.backends.cuda.preparation")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cuda":
            raise
        raise ProblemsFound([CudaNotInstalled(None, error.name)]) from error
    executable: Executable = backend.prepare(graph, schedule, plan, device)
    return executable
