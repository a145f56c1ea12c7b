"""The memory of a graph's planes on the host, by index and by name.

Receives a graph and its memory plan; guarantees that scratch planes lie in one arena at the plan's offsets, every other
plane in memory of its own, and that both start at multiples of `ALIGNMENT_BYTES`. All of it is zero at first.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.problems import PlaneMismatch, UnknownPlane
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph, Plane
from cgraph.images.context import aligned_bytes
from cgraph.memory.model import MemoryPlan


@frozen(eq=False)
class HostPlanes:
    """A graph's planes in memory.

    Args:
        planes: the graph's.
        memory: the bytes of each.
    """

    planes: tuple[Plane, ...] = field(repr=False)
    memory: tuple[NDArray[np.uint8], ...] = field(repr=False)
    _by_name: dict[str, Plane] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {plane.name: plane for plane in self.planes})

    def view(self, plane: int, offset: int, element: Element, extent: tuple[int, ...]) -> NDArray[Any]:
        """Part of a plane as an array, from `offset` bytes on; it must lie inside."""
        dtype = DTYPES[element]
        size_bytes = dtype.itemsize
        for size in extent:
            size_bytes *= size
        return self.memory[plane][offset : offset + size_bytes].view(dtype).reshape(extent)

    def whole(self, name: str) -> NDArray[Any]:
        """A plane's own memory as an array of its extent.

        Raises:
            ProblemsFound: CG702.
        """
        plane = find_plane(self._by_name, name)
        return self.view(plane.index, 0, plane.element, plane.extent)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies an array of the plane's element type and extent into it.

        Raises:
            ProblemsFound: CG702 or CG703.
        """
        given = fit_array(find_plane(self._by_name, name), array)
        np.copyto(self.whole(name), given)


def find_plane(by_name: Mapping[str, Plane], name: str) -> Plane:
    """The plane of a name. Raises ProblemsFound: CG702."""
    plane = by_name.get(name)
    if plane is None:
        raise ProblemsFound([UnknownPlane(None, name, tuple(by_name))])
    return plane


def fit_array(plane: Plane, array: ArrayLike) -> NDArray[Any]:
    """An array of a plane's element type and extent. Raises ProblemsFound: CG703 for any other."""
    given = np.asarray(array)
    if given.dtype != DTYPES[plane.element] or given.shape != plane.extent:
        expected = f"{DTYPES[plane.element]} {list(plane.extent)}"
        raise ProblemsFound([PlaneMismatch(plane.span, plane.name, expected, f"{given.dtype} {list(given.shape)}")])
    return given


def allocate(graph: CommandGraph, plan: MemoryPlan) -> HostPlanes:
    """Allocates the arena once and every plane outside it."""
    arena = aligned_bytes(plan.size_bytes)
    memory = [
        aligned_bytes(plane.size_bytes) if offset is None else arena[offset : offset + plane.size_bytes]
        for plane, offset in zip(graph.planes, plan.offsets, strict=True)
    ]
    return HostPlanes(graph.planes, tuple(memory))
