"""Loads and stores, of single values and vectors.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld, ld.global.nc, ldu, st". Cache hints change nothing.
"""

import numpy as np

from cgraph.emulator.machine.accesses import Accesses, build_addresses, space_of
from cgraph.emulator.machine.arrays import SIGNED, UNSIGNED, Array, DType
from cgraph.emulator.machine.context import Context
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.marks import mark_written
from cgraph.emulator.machine.registers import Resolver
from cgraph.emulator.ptx.model import Address, Instruction, Operand, Register, Symbol, Vector
from cgraph.emulator.ptx.types import SIZE_BYTES

STRONG = frozenset({"volatile", "relaxed", "acquire", "release"})


def is_strong(instruction: Instruction) -> bool:
    """Whether the program asks for an access that others may see at once: such accesses do not race."""
    return bool(STRONG & set(instruction.modifiers)) or instruction.opcode in {"atom", "red"}


def _element(kind: str) -> DType:
    return (SIGNED if kind.startswith("s") else UNSIGNED)[SIZE_BYTES[kind]]


def _count(instruction: Instruction) -> int:
    return 2 if "v2" in instruction.modifiers else 4 if "v4" in instruction.modifiers else 1


def _parts(operand: Operand, count: int) -> tuple[Operand | None, ...]:
    return operand.parts if count > 1 and isinstance(operand, Vector) else (operand,)


def build_load(decoder: Decoder, instruction: Instruction) -> Operation:
    """Loads. Narrow values are extended as their type says."""
    kind, count = type_of(instruction), _count(instruction)
    element = _element(kind)
    result, source = instruction.operands
    if not isinstance(source, Address):
        raise TypeError(source)
    targets = [
        None if part is None else decoder.write_as(part, _register_type(part, kind)) for part in _parts(result, count)
    ]
    known = _parameter_offset(decoder, source, count * element.itemsize, element.itemsize)
    if known is not None:
        return _build_parameter(decoder, known, element, targets)
    accesses = Accesses(instruction, space_of(instruction), count * element.itemsize, writes=False)
    addresses = build_addresses(decoder, source)
    strong = is_strong(instruction)
    shift = (count * element.itemsize).bit_length() - 1

    def run(regs: Regs, frame: Frame) -> None:
        for region, indices, positions in accesses.parts(addresses(regs, frame), frame):
            watch = frame.wave.context.watch
            if watch is not None:
                watch.read(accesses, frame, region, indices, positions, strong=strong)
            if count > 1:
                rows = region.view(element).reshape(-1, count).take(positions >> shift, 0)
                _spread(rows, regs, targets, indices)
            elif targets[0] is not None:
                _take(region.view(element), positions >> shift, regs[targets[0]], indices)

    return run


def _parameter_offset(decoder: Decoder, source: Address, size_bytes: int, align_bytes: int) -> int | None:
    """Where in the parameter buffer an address lies, if the text tells and all of it is inside."""
    if not isinstance(source.base, Symbol) or source.base.space != "param":
        return None
    offset = decoder.symbol_offset(source.base) + source.offset
    inside = 0 <= offset <= decoder.function.parameter_bytes - size_bytes and offset % align_bytes == 0
    return offset if inside else None


def _take(view: Array, places: Array, target: Array, indices: Array | None) -> None:
    if indices is not None:
        target[indices] = view[places]
    elif view.dtype == target.dtype:
        view.take(places, 0, target, "clip")
    else:
        target[...] = view.take(places)


def _spread(rows: Array, regs: Regs, targets: list[int | None], indices: Array | None) -> None:
    """The columns of a vector load, each to its register."""
    for place, target in enumerate(targets):
        if target is not None:
            regs[target][... if indices is None else indices] = rows[:, place]


def _register_type(operand: Operand, kind: str) -> DType:
    size_bytes = SIZE_BYTES[operand.type] if isinstance(operand, Register) else SIZE_BYTES[kind]
    return (SIGNED if kind.startswith("s") else UNSIGNED)[size_bytes]


def _build_parameter(decoder: Decoder, offset: int, element: DType, targets: list[int | None]) -> Operation:
    """A load from a place in the parameter buffer that is known beforehand."""
    pairs = [
        (target, decoder.registers.resolved(_parameter(offset + place * element.itemsize, element)))
        for place, target in enumerate(targets)
        if target is not None
    ]

    def run(regs: Regs, _: Frame) -> None:
        for target, value in pairs:
            regs[target][...] = regs[value]

    return run


def _parameter(offset: int, element: DType) -> Resolver:
    def resolve(context: Context) -> Array:
        return context.parameter(offset, element)

    return resolve


def build_store(decoder: Decoder, instruction: Instruction) -> Operation:
    """Stores. The lower part of wider registers is stored."""
    kind, count = type_of(instruction), _count(instruction)
    element = UNSIGNED[SIZE_BYTES[kind]]
    target, value = instruction.operands
    sources = [decoder.read_wide(part, f"b{8 * element.itemsize}") for part in _parts(value, count)]
    accesses = Accesses(instruction, space_of(instruction), count * element.itemsize, writes=True)
    addresses = build_addresses(decoder, target)
    strong = is_strong(instruction)
    shift = (count * element.itemsize).bit_length() - 1

    def run(regs: Regs, frame: Frame) -> None:
        for region, indices, positions in accesses.parts(addresses(regs, frame), frame):
            watch = frame.wave.context.watch
            if watch is not None:
                watch.write(accesses, frame, region, indices, positions, strong=strong)
            values = [regs[source] for source in sources]
            if indices is not None:
                values = [full(each, frame)[indices] for each in values]
            places = positions >> shift
            if count == 1:
                region.view(element)[places] = values[0]
            else:
                rows = np.empty((len(positions), count), element)
                for place, each in enumerate(values):
                    rows[:, place] = each
                region.view(element).reshape(-1, count)[places] = rows
            mark_written(region, positions, count * element.itemsize)

    return run


FAMILY = {"ld": build_load, "ldu": build_load, "st": build_store}
