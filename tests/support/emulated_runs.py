"""Graphs on the emulated device and on the host, and the bits of their planes."""

from collections.abc import Iterator
from contextlib import contextmanager

from cgraph.backends.cuda.executable import CudaExecutable
from cgraph.backends.cuda.preparation import prepare
from cgraph.backends.devices import Device, DeviceKind
from cgraph.backends.host import prepare_host
from cgraph.backends.protocol import Executable
from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from tests.support.emulated import INSTALLATION

EMULATED = Device(DeviceKind.EMULATED)


def on_device(graph: CommandGraph, order: Order = Order.DATAFLOW) -> CudaExecutable:
    schedule = make_schedule(graph, find_hazards(graph), order)
    return prepare(graph, schedule, plan_memory(graph, schedule), EMULATED)


def on_host(graph: CommandGraph, order: Order = Order.SERIAL) -> Executable:
    schedule = make_schedule(graph, find_hazards(graph), order)
    return prepare_host(graph, schedule, plan_memory(graph, schedule))


def kept_bits(graph: CommandGraph, executable: Executable) -> dict[str, bytes]:
    """The bits of every plane outside the arena."""
    return {p.name: executable.get(p.name).tobytes() for p in graph.planes if p.role is not Role.SCRATCH}


@contextmanager
def random_order(seed: int) -> Iterator[None]:
    """Nodes that no edge orders run in an order drawn at random."""
    INSTALLATION.driver.ordering.choose_at_random(seed)
    try:
        yield
    finally:
        INSTALLATION.driver.ordering.choose_first()
