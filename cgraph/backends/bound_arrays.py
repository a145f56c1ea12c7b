"""Planes of the host that lie in arrays of others.

Receives arrays of NumPy or of any library with `__dlpack__`; guarantees that a plane's memory is the array's own, that
the array lives as long as the plane is bound to it, and that an array whose memory was moved is followed, or refused
with the reasons, before anything is read or written there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from cgraph.backends.planes import HostPlanes, misfits
from cgraph.backends.problems_devices import UpdateImpossible
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Plane


@frozen(eq=False)
class BoundArray:
    """An array that a plane is bound to.

    Args:
        source: what was given, kept alive.
        layout: where it lay, and how, when it was bound.
    """

    source: object
    layout: tuple[object, ...]

    def has_moved(self) -> bool:
        """Whether its memory, its shape or its type is no longer what was bound. An array may be resized in place."""
        try:
            return _layout_of(as_array(self.source)) != self.layout
        except (ValueError, TypeError, BufferError, RuntimeError):
            return True


def as_array(source: object) -> NDArray[Any]:
    """The array that shares a source's memory.

    Raises:
        ValueError, TypeError, BufferError, RuntimeError: there is none in this process's memory.
    """
    if isinstance(source, np.ndarray):
        return source
    if hasattr(source, "__dlpack__"):
        return np.from_dlpack(source)
    raise TypeError(f"a {type(source).__name__} is no array in memory; its values are copied with set")


def address_of(array: NDArray[Any]) -> int:
    """Where its first byte is."""
    address: int = array.__array_interface__["data"][0]
    return address


def bind_array(planes: HostPlanes, plane: Plane, source: object, *, written: bool) -> BoundArray:
    """Gives a plane an array's memory. Commands must be bound again.

    Args:
        planes: that it is one of.
        plane: not a scratch plane, whose place the memory plan chose.
        source: of the plane's element type and extent, its elements one after the other in row-major order.
        written: whether some command writes to the plane.

    Raises:
        ProblemsFound: CG744 with all reasons.
    """
    try:
        array = as_array(source)
        reasons = tuple(_reasons(planes, plane, array, written=written))
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        reasons = (str(error),)
    if reasons:
        raise ProblemsFound([UpdateImpossible(plane.span, f"binding plane {plane.name} to other memory", reasons)])
    planes.memory[plane.index] = array.reshape(-1).view(np.uint8)
    return BoundArray(source, _layout_of(array))


def moved(bound: Mapping[int, BoundArray]) -> list[tuple[int, object]]:
    """Planes whose arrays were moved since they were bound, with the arrays."""
    return [(plane, array.source) for plane, array in bound.items() if array.has_moved()]


def _layout_of(array: NDArray[Any]) -> tuple[object, ...]:
    return address_of(array), array.shape, array.strides, array.dtype, array.flags.writeable


def _reasons(planes: HostPlanes, plane: Plane, array: NDArray[Any], *, written: bool) -> Iterator[str]:
    if plane.role is Role.SCRATCH:
        yield "it is a scratch plane: its place was planned, and other planes share its bytes"
    yield from misfits(plane, array.dtype, array.shape, array.strides)
    if not array.flags.aligned:
        yield f"the array's first byte is not at a multiple of {array.dtype.alignment}"
    if written and not array.flags.writeable:
        yield "commands write to the plane, and the array may only be read"
    start = address_of(array)
    stop = start + array.nbytes
    for other in planes.planes:
        memory = planes.memory[other.index]
        first = address_of(memory)
        if other is not plane and memory.size and start < first + memory.size and first < stop:
            yield f"it would overlap plane {other.name}, and nothing orders the commands that use both"
