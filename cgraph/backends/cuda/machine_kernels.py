"""Kernels for the emulator's machine, used without a driver: loaded, and their arguments put in place.

Receives images and launches; guarantees kernels that the machine executes and parameter buffers as these declare them.
Where planes lie in the machine's memory is left to the caller.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import KernelSupply, Target
from cgraph.backends.cuda.supply import compile_kernels
from cgraph.core.elements import Element
from cgraph.core.signatures import SlotKind
from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.driver.hardware import ImageRefused, Kernel
from cgraph.emulator.driver.machine_hardware import MachineHardware
from cgraph.graph.model import Image, LaunchNode

SCALARS: dict[SlotKind, np.dtype[Any]] = {
    SlotKind.POINTER: np.dtype("<u8"),
    SlotKind.NATURAL: np.dtype("<i4"),
    SlotKind.FLOAT: np.dtype("<f4"),
}


def load_machine_kernels(
    images: Sequence[Image], half: Element, hardware: MachineHardware, supply: KernelSupply = compile_kernels
) -> dict[Image, Kernel]:
    """Loads images' kernels as PTX; images of one file share a module and its variables.

    Args:
        images: each once.
        half: what the build bound `half` to.
        hardware: the machine.
        supply: gives the PTX.

    Raises:
        ProblemsFound: what the supply raises (CG730 to CG739 from the compiler), CG750 to CG754 where the machine does
            not know what a kernel does.
    """
    major, minor = hardware.capability
    modules: dict[str, Mapping[str, Kernel]] = {}
    compiled = supply(images, half, Target(f"sm_{major}{minor}", (CodeKind.PTX,)))
    for kernel in compiled:
        if kernel.module.key not in modules:
            try:
                modules[kernel.module.key] = hardware.load(kernel.module.code.decode())
            except ImageRefused as stopped:
                raise ProblemsFound(hardware.take_problems()) from stopped
    return {kernel.image: modules[kernel.module.key][kernel.entry.name] for kernel in compiled}


def parameter_buffer(node: LaunchNode, kernel: Kernel, addresses: Mapping[int, int]) -> bytes:
    """A launch's arguments as its kernel declares them.

    Args:
        node: the launch.
        kernel: of its image.
        addresses: of pointer arguments, by slot number; those left out are null.
    """
    buffer = bytearray(max((p.offset + p.size_bytes for p in kernel.parameters), default=0))
    slots = node.image.signature.slots
    for slot, argument, parameter in zip(slots, node.arguments, kernel.parameters, strict=True):
        value: Any = addresses.get(slot.number, 0) if slot.kind is SlotKind.POINTER else argument
        encoded = np.array(value, SCALARS[slot.kind]).tobytes()
        buffer[parameter.offset : parameter.offset + parameter.size_bytes] = encoded
    return bytes(buffer)
