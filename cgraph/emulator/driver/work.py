"""What the nodes of a graph do, and what is done when it is enqueued on a stream: one frozen value per kind of work.

A work is complete: it holds the values of a kernel's arguments, not addresses where they once were. `perform` does it.
"""

import ctypes as c
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen

from cgraph.emulator.driver.hardware import Grid, KernelFault
from cgraph.emulator.driver.layouts import Memcpy3D, MemoryType, NodeType
from cgraph.emulator.driver.memory import Place, check_fill, copy, fill, locate
from cgraph.emulator.driver.objects import Context, Event, Function
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver


@frozen(eq=False)
class KernelWork:
    """A launch.

    Args:
        arguments: the parameter buffer.
        packed: whether the caller gave it so, in `extra`, and not one by one.
        of_library: whether the caller named a CUkernel, not a CUfunction.
        attributes: of the launch, by number; a node keeps them.
    """

    type: ClassVar[int] = NodeType.KERNEL

    function: Function
    grid: Grid
    block: Grid
    shared_bytes: int
    arguments: bytes = field(repr=False)
    packed: bool = False
    of_library: bool = False
    attributes: Mapping[int, bytes] = field(factory=dict)


@frozen(eq=False)
class CopyWork:
    """A copy of `depth` · `height` rows of `width` bytes.

    Args:
        destination: the first byte. source: likewise.
        pitches: bytes from row to row at the destination and at the source; slices: from slice to slice.
        params: as the caller gave it, to be given back.
    """

    type: ClassVar[int] = NodeType.MEMCPY

    destination: Place
    source: Place
    width: int
    height: int
    depth: int
    pitches: tuple[int, int]
    slices: tuple[int, int]
    params: bytes = field(repr=False)

    @property
    def is_flat(self) -> bool:
        """Whether it has one dimension."""
        return self.height == 1 and self.depth == 1


@frozen(eq=False)
class FillWork:
    """`height` rows of `width` elements, `pitch` bytes apart, set to the lowest bytes of a value."""

    type: ClassVar[int] = NodeType.MEMSET

    address: int
    pitch: int
    value: int
    element_bytes: int
    width: int
    height: int


@frozen(eq=False)
class HostWork:
    """A call of a C function of the program."""

    type: ClassVar[int] = NodeType.HOST

    function: int
    argument: int


@frozen(eq=False)
class EmptyWork:
    """Nothing."""

    type: ClassVar[int] = NodeType.EMPTY


@frozen(eq=False)
class ChildWork:
    """A whole graph, a copy that belongs to its node."""

    type: ClassVar[int] = NodeType.GRAPH

    graph: Any


@frozen(eq=False)
class RecordWork:
    """An event that is recorded."""

    type: ClassVar[int] = NodeType.EVENT_RECORD

    event: Event


@frozen(eq=False)
class WaitWork:
    """A wait for an event."""

    type: ClassVar[int] = NodeType.WAIT_EVENT

    event: Event


Work: TypeAlias = KernelWork | CopyWork | FillWork | HostWork | EmptyWork | ChildWork | RecordWork | WaitWork


def perform(driver: Driver, context: Context, work: Work, clock_ms: Callable[[], float]) -> None:
    """Does it, in a context; nothing once a kernel has failed there. A child graph is left to who runs its nodes.

    Raises:
        DriverError: a copy or a fill leaves its allocation.
    """
    if context.fault is not None:
        return
    match work:
        case KernelWork():
            _launch(driver, context, work)
        case CopyWork():
            perform_copy(driver, work)
        case FillWork():
            fill(driver, work.address, work.value, work.element_bytes, work.pitch, work.width, work.height)
        case HostWork():
            c.CFUNCTYPE(None, c.c_void_p)(work.function)(work.argument)
        case RecordWork(event=event):
            event.recorded_ms, event.capture, event.tips = clock_ms(), None, ()


def _launch(driver: Driver, context: Context, work: KernelWork) -> None:
    try:
        driver.hardware.launch(
            work.function.kernel,
            grid=work.grid,
            block=work.block,
            shared_bytes=work.shared_bytes,
            arguments=work.arguments,
        )
    except KernelFault as fault:
        driver.fail(context, fault)


def perform_copy(driver: Driver, work: CopyWork) -> None:
    """Copies row by row, or all at once where rows follow each other. Raises DriverError as `copy` does."""
    if 0 in (work.width, work.height, work.depth):
        return
    for slice_number in range(work.depth):
        for row in range(work.height):
            destination, source = (
                Place(place.address + slice_number * slice_bytes + row * pitch, place.on_device)
                for place, pitch, slice_bytes in zip(
                    (work.destination, work.source), work.pitches, work.slices, strict=True
                )
            )
            copy(driver, destination, source, work.width)


def flat_copy(destination: Place, source: Place, size_bytes: int) -> CopyWork:
    """A copy of one run of bytes, with the parameters that the driver would report for it."""
    params = Memcpy3D(
        srcMemoryType=MemoryType.DEVICE if source.on_device else MemoryType.HOST,
        dstMemoryType=MemoryType.DEVICE if destination.on_device else MemoryType.HOST,
        WidthInBytes=size_bytes,
        Height=1,
        Depth=1,
    )
    setattr(params, "srcDevice" if source.on_device else "srcHost", source.address)
    setattr(params, "dstDevice" if destination.on_device else "dstHost", destination.address)
    return CopyWork(destination, source, size_bytes, 1, 1, (0, 0), (0, 0), bytes(params))


def copy_from_params(driver: Driver, params: Memcpy3D) -> CopyWork:
    """A copy as CUDA_MEMCPY3D describes it.

    Raises:
        DriverError: INVALID_VALUE for places that are none, or a pitch below the width; NOT_SUPPORTED for arrays.
    """
    places, pitches, slices = [], [], []
    for side in ("dst", "src"):
        memory_type = getattr(params, f"{side}MemoryType")
        if memory_type == MemoryType.ARRAY:
            raise DriverError(Result.NOT_SUPPORTED, "arrays")
        if memory_type not in (MemoryType.HOST, MemoryType.DEVICE, MemoryType.UNIFIED):
            raise DriverError(Result.INVALID_VALUE, f"{memory_type} is no memory type")
        base = getattr(params, f"{side}Host" if memory_type == MemoryType.HOST else f"{side}Device")
        pitch, height = getattr(params, f"{side}Pitch"), getattr(params, f"{side}Height")
        x, y, z = (getattr(params, f"{side}{part}") for part in ("XInBytes", "Y", "Z"))
        if (params.Height > 1 or params.Depth > 1) and pitch < x + params.WidthInBytes:
            raise DriverError(Result.INVALID_VALUE, f"a pitch of {pitch} bytes")
        if params.Depth > 1 and height < y + params.Height:
            raise DriverError(Result.INVALID_VALUE, f"a slice of {height} rows")
        places.append(locate(driver, base, memory_type))
        places[-1] = Place(places[-1].address + x + pitch * (y + height * z), places[-1].on_device)
        pitches.append(pitch)
        slices.append(pitch * height)
    return CopyWork(
        places[0],
        places[1],
        params.WidthInBytes,
        params.Height,
        params.Depth,
        (pitches[0], pitches[1]),
        (slices[0], slices[1]),
        bytes(params),
    )


def check_fill_work(driver: Driver, work: FillWork) -> None:
    """Raises DriverError where the fill could never be done."""
    check_fill(work.address, work.element_bytes, work.pitch, work.width, work.height)
    locate(driver, work.address, MemoryType.DEVICE)
