"""Memory of an imported graph that is run again.

Receives allocations and contents; guarantees memory of each kind that the device reaches (managed memory becomes the
device's own, since only the graph uses it), filled with its contents or zeros. Owner: the executable, which frees it.
"""

import ctypes as c
from typing import Any

import numpy as np
from attrs import define, field
from cuda.bindings import driver as cu
from numpy.typing import NDArray

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.model import ImportedGraph, MemoryKind, Place

HOST_FLAGS = 1 | 2  # CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP

Bytes = NDArray[np.uint8]


@define(eq=False)
class ImportedMemory:
    """Memory of each allocation.

    Args:
        addresses: of first bytes; they change when a plane is bound to other memory.
        on_host: whether it is the host's.
        kept: what was bound, by allocation, so that it lives as long as the graph uses it.
    """

    call: Calls = field(repr=False)
    addresses: list[int] = field(factory=list)
    on_host: list[bool] = field(factory=list)
    kept: dict[int, Any] = field(factory=dict, repr=False)
    _allocated: list[tuple[bool, Any]] = field(factory=list, repr=False)

    def allocate(self, size_bytes: int, *, on_host: bool) -> None:
        """Adds an allocation. Raises ProblemsFound (CG742)."""
        if on_host:
            pointer = self.call(cu.cuMemHostAlloc, size_bytes, HOST_FLAGS)
        else:
            pointer = self.call(cu.cuMemAlloc, size_bytes)
        self._allocated.append((on_host, pointer))
        self.addresses.append(int(pointer))
        self.on_host.append(on_host)

    def address(self, place: Place) -> int:
        """Of a place, now."""
        return self.addresses[place.allocation] + place.offset

    def write(self, place: Place, values: Bytes) -> None:
        """Copies bytes to a place. Raises ProblemsFound (CG742)."""
        if self.on_host[place.allocation]:
            c.memmove(self.address(place), values.ctypes.data, values.nbytes)
        else:
            self.call(cu.cuMemcpyHtoD, self.address(place), values.ctypes.data, values.nbytes)

    def clear(self, allocation: int, size_bytes: int) -> None:
        """Sets an allocation to zeros. Raises ProblemsFound (CG742)."""
        if self.on_host[allocation]:
            c.memset(self.addresses[allocation], 0, size_bytes)
        else:
            self.call(cu.cuMemsetD8, self.addresses[allocation], 0, size_bytes)

    def read(self, place: Place, size_bytes: int) -> Bytes:
        """A copy of bytes. Raises ProblemsFound (CG742)."""
        values = np.empty(size_bytes, np.uint8)
        if self.on_host[place.allocation]:
            c.memmove(values.ctypes.data, self.address(place), size_bytes)
        else:
            self.call(cu.cuMemcpyDtoH, values.ctypes.data, self.address(place), size_bytes)
        return values

    def close(self) -> None:
        """Frees the memory, once or again. Errors are left to whoever uses the device next."""
        while self._allocated:
            on_host, pointer = self._allocated.pop()
            (cu.cuMemFreeHost if on_host else cu.cuMemFree)(pointer)
        self.kept.clear()


def allocate_memory(graph: ImportedGraph, call: Calls) -> ImportedMemory:
    """Allocates and fills, in the current context. Raises ProblemsFound (CG742)."""
    memory = ImportedMemory(call)
    try:
        for number, allocation in enumerate(graph.allocations):
            memory.allocate(allocation.size_bytes, on_host=allocation.memory is MemoryKind.HOST)
            if number in graph.data:
                memory.write(Place(number, 0), graph.data[number])
            else:
                memory.clear(number, allocation.size_bytes)
    except BaseException:
        memory.close()
        raise
    return memory
