"""Names the thread at fault: fills in what every report of a running kernel says."""

from typing import Any, NoReturn

from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.problems import AccessFault, WrongInstructionUse
from cgraph.emulator.ptx.model import Instruction


def describe_threads(instruction: Instruction, frame: Frame, indices: Array) -> dict[str, Any]:
    """The fields of `KernelFault`: `indices` are the places of the lanes at fault in the frame, at least one."""
    wave = frame.wave
    lane = int(frame.lane_numbers[indices[0]])
    return {
        "span": instruction.span,
        "kernel": wave.context.function.name,
        "place": instruction.place,
        "block": wave.context.block_index(wave.first_block + int(wave.block_of[lane])),
        "thread": wave.context.thread_index(int(wave.thread_of[lane])),
        "threads": len(indices),
    }


def describe_access(
    instruction: Instruction, frame: Frame, indices: Array, *, region: Any, offset: int, size_bytes: int, writes: bool
) -> dict[str, Any]:
    """The fields of `AccessFault`, for the first of the lanes; `offset` is in bytes from the region's start."""
    return {
        **describe_threads(instruction, frame, indices),
        "access": "writes" if writes else "reads",
        "size_bytes": size_bytes,
        "space": region.space,
        "memory": region.label,
        "offset": offset,
        "extent": region.size_bytes,
    }


def raise_access(kind: type[AccessFault], **fields: Any) -> NoReturn:
    """Stops the launch with a fault of an access."""
    raise ProblemsFound([kind(**fields)])


def raise_misuse(instruction: Instruction, frame: Frame, indices: Array, fault: str) -> NoReturn:
    """Stops the launch: an instruction was given values with which it has no meaning."""
    fields = describe_threads(instruction, frame, indices)
    raise ProblemsFound([WrongInstructionUse(**fields, mnemonic=instruction.mnemonic, fault=fault)])
