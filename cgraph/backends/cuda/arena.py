"""Device memory of a graph's planes: one arena for scratch, an allocation of its own for every other plane.

Receives a graph and its memory plan; guarantees addresses that are multiples of 256, as the plan expects. Planes
outside the arena are zero at first; scratch holds whatever is there until a command writes it, which `verify` made sure
comes before every read. Owner: the executable, which frees all of it.
"""

from typing import Any

from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.memory_needs import check_memory
from cgraph.graph.model import CommandGraph, Plane
from cgraph.memory.model import MemoryPlan


@define(eq=False)
class DevicePlanes:
    """A graph's planes on a device.

    Args:
        addresses: of each plane's first byte, by index; 0 for a plane without a byte. They change when planes are bound
            to other memory.
        kept: what was given to be bound to, by plane, so that it lives as long as the graph uses it.
    """

    planes: tuple[Plane, ...] = field(repr=False)
    addresses: list[int] = field(repr=False)
    call: Calls = field(repr=False)
    kept: dict[int, Any] = field(factory=dict, repr=False)
    by_name: dict[str, Plane] = field(init=False, repr=False)
    _allocated: list[Any] = field(factory=list, repr=False)

    def __attrs_post_init__(self) -> None:
        self.by_name = {plane.name: plane for plane in self.planes}

    def overlapping(self, plane: Plane, address: int) -> tuple[str, ...]:
        """The other planes that a plane would share bytes with if it began at an address."""
        stop = address + plane.size_bytes
        return tuple(
            f"plane {other.name}"
            for other, start in zip(self.planes, self.addresses, strict=True)
            if other is not plane and other.size_bytes and start < stop and address < start + other.size_bytes
        )

    def allocate(self, size_bytes: int, *, zero: bool) -> int:
        """Memory that is freed by `close`; 0 for no bytes. Raises ProblemsFound (CG742)."""
        if size_bytes == 0:
            return 0
        pointer = self.call(cu.cuMemAlloc, size_bytes)
        self._allocated.append(pointer)
        if zero:
            self.call(cu.cuMemsetD8, pointer, 0, size_bytes)
        return int(pointer)

    def close(self) -> None:
        """Frees the memory, once or again. Errors are left to whoever uses the device next."""
        while self._allocated:
            cu.cuMemFree(self._allocated.pop())
        self.kept.clear()


def allocate_planes(
    graph: CommandGraph, plan: MemoryPlan, call: Calls, device: str, most_bytes: int | None = None
) -> DevicePlanes:
    """Allocates the arena and every plane outside it, in the current context.

    Args:
        graph: whose planes they are.
        plan: of the graph.
        call: calls the driver.
        device: its name.
        most_bytes: how much there is beside what the driver says; None for no such limit.

    Raises:
        ProblemsFound: CG718 where the device has too little memory, CG742.
    """
    free_bytes, _total_bytes = call(cu.cuMemGetInfo)
    check_memory(graph, plan, device, free_bytes if most_bytes is None else min(free_bytes, most_bytes))
    planes = DevicePlanes(graph.planes, [0] * len(graph.planes), call)
    try:
        arena = planes.allocate(plan.size_bytes, zero=False)
        for plane, offset in zip(graph.planes, plan.offsets, strict=True):
            address = planes.allocate(plane.size_bytes, zero=True) if offset is None else arena + offset
            planes.addresses[plane.index] = address
    except BaseException:
        planes.close()
        raise
    return planes
