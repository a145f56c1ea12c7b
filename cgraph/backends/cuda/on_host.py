"""Images without a NumPy function, executed on the host: their kernels' PTX on the emulator's machine.

Receives launches and the host's planes; guarantees calls that change the planes as the kernels would on a device. The
emulator watches each access. A launch gets memory of its own that holds what its slots name and nothing else, at
addresses as aligned as on a device, so a kernel that leaves its slots is found even where the plane goes on.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from cgraph.backends.cuda.machine_kernels import load_machine_kernels, parameter_buffer
from cgraph.backends.cuda.sources import HALF_HEADER, HALF_MACRO, find_kernel_source
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.cuda.supply import compile_kernels
from cgraph.backends.planes import HostPlanes
from cgraph.backends.problems import HalfOfKernel, KernelFailed, SlotNotWritten
from cgraph.core.elements import Element
from cgraph.core.origins import Origin
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Slot
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.driver.hardware import Kernel, KernelFault
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.emulator.machine.memory import FRESH_BYTE
from cgraph.graph.model import Image, LaunchNode, PlaneArgument
from cgraph.source import Span

ALIGNMENT_BYTES = 256  # of a plane on a device; a part of it is as aligned as its offset


@frozen(eq=False)
class _Part:
    """Bytes of a plane that a launch names, and their copy in the machine's memory.

    Args:
        host: the plane's own bytes.
        device: the copy; written: 1 for each byte of it that something wrote.
        start: of the part in the plane, in bytes; address: of the copy.
    """

    host: NDArray[np.uint8]
    device: NDArray[np.uint8]
    written: NDArray[np.uint8]
    start: int
    address: int


@frozen
class _Pointer:
    """A pointer slot that a launch fills: bytes `start … stop` of a plane."""

    slot: Slot
    plane: int
    start: int
    stop: int


@define(eq=False)
class KernelsOnHost:
    """The kernels of images, ready to be bound to launches.

    Args:
        planes: the host's.
        kernels: by image.
        hardware: executes them.
    """

    planes: HostPlanes = field(repr=False)
    kernels: dict[Image, Kernel] = field(repr=False)
    hardware: MachineHardware = field(repr=False)
    _addresses: dict[tuple[int, int], int] = field(factory=dict, init=False, repr=False)

    def bind(self, node: LaunchNode) -> Callable[[], None]:
        """A launch as a call; it raises ProblemsFound (CG755 to CG766 with CG705, or CG706).

        A launch that is bound again, because a plane or a scalar changed, keeps its memory in the machine.
        """
        parts: list[_Part] = []
        places: list[tuple[_Pointer, _Part]] = []
        for number, group in enumerate(_touching(_pointers(node, self.planes))):
            parts.append(self._allocate((node.index, number), group))
            places.extend((pointer, parts[-1]) for pointer in group)
        addresses = {pointer.slot.number: part.address + pointer.start - part.start for pointer, part in places}
        kernel = self.kernels[node.image]
        return partial(self._launch, node, parameter_buffer(node, kernel, addresses), parts, places)

    def _allocate(self, key: tuple[int, int], group: Sequence[_Pointer]) -> _Part:
        """Memory for slots of one plane that share bytes, or for one slot; `key` names the node and the group."""
        plane, start, stop = group[0].plane, group[0].start, max(pointer.stop for pointer in group)
        before = start % ALIGNMENT_BYTES
        whole = stop - start == self.planes.memory[plane].size
        name = f"plane {self.planes.planes[plane].name}"
        label = name if whole else f"the part of {name} up to byte {stop}"
        memory = self.hardware.memory
        size_bytes = max(1, stop - start)
        if key not in self._addresses:
            self._addresses[key] = memory.allocate(before + size_bytes, label) + before
        address = self._addresses[key]
        host = self.planes.memory[plane][start:stop]
        return _Part(
            host,
            memory.array(address, size_bytes)[: host.size],
            memory.initialised(address, size_bytes)[: host.size],
            start,
            address,
        )

    def _launch(
        self,
        node: LaunchNode,
        arguments: bytes,
        parts: Sequence[_Part],
        places: Sequence[tuple[_Pointer, _Part]],
    ) -> None:
        for part in parts:
            part.device.fill(FRESH_BYTE)
            part.written.fill(0)
        for pointer, part in places:
            if pointer.slot.access is not AccessMode.WRITE:
                inside = slice(pointer.start - part.start, pointer.stop - part.start)
                part.device[inside] = part.host[inside]
                part.written[inside] = 1
        kernel = self.kernels[node.image]
        self.hardware.take_problems()
        try:
            self.hardware.launch(
                kernel, grid=node.grid, block=node.block, shared_bytes=node.shared_bytes, arguments=arguments
            )
        except KernelFault as stopped:
            raise ProblemsFound([*self.hardware.take_problems(), KernelFailed(*_told(node))]) from stopped
        problems = self.hardware.take_problems()
        if problems:
            raise ProblemsFound([*problems, KernelFailed(*_told(node))])
        for part in parts:
            np.copyto(part.host, part.device, where=part.written.view(bool))
        left = [found for pointer, part in places for found in _unwritten(node, pointer, part)]
        if left:
            raise ProblemsFound(left)


def load_kernels(
    nodes: Sequence[LaunchNode], half: Element, planes: HostPlanes, stored: StoredKernels | None = None
) -> KernelsOnHost:
    """Loads the kernels of launches into the emulator.

    Args:
        nodes: the first launch of each image.
        half: what the build bound `half` to.
        planes: that the launches work on.
        stored: kernels that were compiled before; None for the program's own files.

    Raises:
        ProblemsFound: CG704 where a kernel needs another `half`, CG730 to CG739 from the compiler, CG750 to CG754 where
            the emulator does not know what a kernel does, CG830 and CG831 where the stored ones will not do.
    """
    problems: list[Problem] = [
        HalfOfKernel(*_told(node), half=half.value) for node in nodes if not _suits(node.image, half, stored)
    ]
    if problems:
        raise ProblemsFound(problems)
    hardware = MachineHardware()
    supply = compile_kernels if stored is None else stored.supply
    return KernelsOnHost(planes, load_machine_kernels([node.image for node in nodes], half, hardware, supply), hardware)


def _suits(image: Image, half: Element, stored: StoredKernels | None) -> bool:
    """Whether the kernel's C++ types are those that the planes have in this build."""
    if half in HALF_MACRO:
        return True
    slots = image.signature.slots
    if any(slot.half for slot in slots) or (half is Element.F64 and any(slot.element is half for slot in slots)):
        return False
    if stored is not None:
        module = stored.modules.get(image)
        return module is None or all(name != HALF_HEADER for name, _ in module.includes)
    try:
        return not find_kernel_source(image.signature).needs(HALF_HEADER)
    except ProblemsFound:
        return True  # what is wrong with the file will be reported by the compiler


def _told(node: LaunchNode) -> tuple[Span, str, str, str, Origin]:
    """What problems of a launch begin with."""
    signature = node.image.signature
    return node.origin.span, signature.name, signature.file, signature.entry, node.origin


def _pointers(node: LaunchNode, planes: HostPlanes) -> list[_Pointer]:
    found = []
    for slot, argument, extent in zip(node.image.signature.slots, node.arguments, node.extents, strict=True):
        if isinstance(argument, PlaneArgument):
            element = slot.element or planes.planes[argument.plane].element
            stop = argument.offset + math.prod(extent) * element.size_bytes
            found.append(_Pointer(slot, argument.plane, argument.offset, stop))
    return found


def _touching(pointers: Sequence[_Pointer]) -> list[list[_Pointer]]:
    """Slots of one plane that share bytes, together; the first of each group begins first."""
    groups: list[list[_Pointer]] = []
    for _plane, of_plane in groupby(sorted(pointers, key=lambda p: (p.plane, p.start)), key=lambda p: p.plane):
        stop = -1
        for pointer in of_plane:
            if pointer.start < stop:
                groups[-1].append(pointer)
            else:
                groups.append([pointer])
            stop = max(stop, pointer.stop)
    return groups


def _unwritten(node: LaunchNode, pointer: _Pointer, part: _Part) -> list[Problem]:
    if pointer.slot.access is not AccessMode.WRITE:
        return []
    inside = part.written[pointer.start - part.start : pointer.stop - part.start]
    if inside.all():
        return []
    element = pointer.slot.element
    size_bytes = 1 if element is None else element.size_bytes
    missing = np.flatnonzero(~inside.reshape(-1, size_bytes).all(axis=1))
    elements = inside.size // size_bytes
    name, first = pointer.slot.name, int(missing[0])
    return [SlotNotWritten(*_told(node), slot=name, count=missing.size, first=first, elements=elements)]
