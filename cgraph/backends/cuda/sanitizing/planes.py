"""Planes in the machine's memory, each an allocation of its own.

Receives a graph and its memory plan; guarantees that an access past a plane's end is one to nothing, that only what a
program is given counts as written, and that a scratch plane is freed behind the last command that declares to use it,
because its bytes of the arena belong to others from then on.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.planes import find_plane, fit_array
from cgraph.core.signatures import SlotKind
from cgraph.emulator.machine.memory import DeviceMemory
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, LaunchNode, Node, Plane, PlaneArgument
from cgraph.memory.model import MemoryPlan


@define(eq=False)
class MachinePlanes:
    """A graph's planes.

    Args:
        addresses: of each plane's first byte, by index; 0 for a plane without a byte.
        by_address: planes by their addresses.
        ends: for each command, the scratch planes that it is the last to use.
    """

    memory: DeviceMemory = field(repr=False)
    planes: tuple[Plane, ...] = field(repr=False)
    addresses: tuple[int, ...] = field(repr=False)
    by_address: dict[int, Plane] = field(repr=False)
    ends: dict[int, list[int]] = field(repr=False)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane. Raises ProblemsFound (CG702, CG703) as `Executable.set` does."""
        plane = find_plane({plane.name: plane for plane in self.planes}, name)
        values: NDArray[Any] = np.ascontiguousarray(fit_array(plane, array))
        if values.nbytes:
            self.memory.write(self.addresses[plane.index], values.tobytes())

    def pointers(self, node: LaunchNode) -> dict[int, int]:
        """Addresses of a launch's pointer arguments, by slot number."""
        return {
            slot.number: self.addresses[argument.plane] + argument.offset
            for slot, argument in zip(node.image.signature.slots, node.arguments, strict=True)
            if slot.kind is SlotKind.POINTER and isinstance(argument, PlaneArgument)
        }

    def fill(self, node: FillNode) -> None:
        """Does a fill."""
        (target,) = node.accesses
        if target.start < target.stop:
            dtype = DTYPES[self.planes[target.plane].element]
            element = np.empty(1, dtype)
            with np.errstate(over="ignore"):
                element.fill(node.value)
            count = (target.stop - target.start) // dtype.itemsize
            self.memory.write(self.addresses[target.plane] + target.start, element.tobytes() * count)

    def copy(self, node: CopyNode) -> None:
        """Does a copy."""
        target, source = node.accesses
        if target.start < target.stop:
            self.memory.copy(
                self.addresses[target.plane] + target.start,
                self.addresses[source.plane] + source.start,
                target.stop - target.start,
            )

    def pretend_written(self, node: LaunchNode) -> None:
        """Writes zeros where a launch that was stopped wrote nothing yet, so that it is the only one to blame."""
        for access in node.accesses:
            if access.mode.writes and access.start < access.stop:
                address, size_bytes = self.addresses[access.plane] + access.start, access.stop - access.start
                written = self.memory.initialised(address, size_bytes)
                self.memory.array(address, size_bytes)[written == 0] = 0
                written[:] = 1

    def end(self, node: Node) -> None:
        """Frees the planes that nobody uses behind a command."""
        for plane in self.ends.get(node.index, ()):
            self.memory.free(self.addresses[plane])


def allocate_planes(
    graph: CommandGraph, sequence: Sequence[int], plan: MemoryPlan, memory: DeviceMemory
) -> MachinePlanes:
    """Allocates every plane; nothing of them is written yet.

    Args:
        graph: whose planes.
        sequence: the commands in the order in which they will run.
        plan: says which planes are scratch.
        memory: the machine's.
    """
    addresses = tuple(
        memory.allocate(plane.size_bytes, f"plane {plane.name}") if plane.size_bytes else 0 for plane in graph.planes
    )
    last = {access.plane: index for index in sequence for access in graph.nodes[index].accesses}
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for plane, index in last.items():
        if plan.offsets[plane] is not None and addresses[plane]:
            ends[index].append(plane)
    by_address = {address: plane for address, plane in zip(addresses, graph.planes, strict=True) if address}
    return MachinePlanes(memory, graph.planes, addresses, by_address, dict(ends))
