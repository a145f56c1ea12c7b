"""The memory of a graph's planes on the host, by index and by name.

Receives a graph and its memory plan; guarantees that scratch planes lie in one arena at the plan's offsets, every other
plane in memory of its own, and that both start at multiples of `ALIGNMENT_BYTES`. All of it is zero at first.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.memory_needs import check_memory, host_available_bytes, not_enough_memory
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
        memory: the bytes of each; another array where a plane is bound to memory of others.
    """

    planes: tuple[Plane, ...] = field(repr=False)
    memory: list[NDArray[np.uint8]] = field(repr=False)
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

    def named(self, name: str) -> Plane:
        """The plane of a name. Raises ProblemsFound: CG702."""
        return find_plane(self._by_name, name)

    def whole(self, name: str) -> NDArray[Any]:
        """A plane's own memory as an array of its extent.

        Raises:
            ProblemsFound: CG702.
        """
        plane = self.named(name)
        return self.view(plane.index, 0, plane.element, plane.extent)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies an array of the plane's element type and extent into it.

        Raises:
            ProblemsFound: CG702 or CG703.
        """
        given = fit_array(self.named(name), array)
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


def misfits(
    plane: Plane, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...] | None
) -> Iterator[str]:
    """Why an array cannot be a plane's memory as it lies, one reason a line.

    Args:
        plane: the plane.
        dtype: of the array.
        shape: of the array, in elements.
        strides: of the array, in bytes; None where its elements follow each other.
    """
    expected = DTYPES[plane.element]
    # bfloat16 has no name in other libraries' interfaces: arrays of it come as two bytes of any kind.
    if dtype.itemsize != expected.itemsize or (expected.kind != "V" and dtype != expected):
        yield f"the plane holds {expected}, the array {dtype}"
    if shape != plane.extent:
        yield f"the plane has the extent {list(plane.extent)}, the array {list(shape)}"
    elif strides is not None and plane.elements and not _is_packed(shape, strides, dtype.itemsize):
        yield "the array's rows do not follow each other without gaps"


def _is_packed(shape: tuple[int, ...], strides: tuple[int, ...], step: int) -> bool:
    """Whether elements follow each other in row-major order; the stride of a single element or row means nothing."""
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def allocate(graph: CommandGraph, plan: MemoryPlan) -> HostPlanes:
    """Allocates the arena once and every plane outside it. Raises ProblemsFound: CG718 where there is too little."""
    available_bytes = host_available_bytes()
    check_memory(graph, plan, "host", available_bytes)
    try:
        arena = aligned_bytes(plan.size_bytes)
        memory = [
            aligned_bytes(plane.size_bytes) if offset is None else arena[offset : offset + plane.size_bytes]
            for plane, offset in zip(graph.planes, plan.offsets, strict=True)
        ]
    except (MemoryError, ValueError) as error:  # NumPy's ValueError: more than addresses reach
        raise ProblemsFound([not_enough_memory(graph, plan, "host", available_bytes)]) from error
    return HostPlanes(graph.planes, memory)
