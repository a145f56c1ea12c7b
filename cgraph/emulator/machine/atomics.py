"""Atomic operations: atom and red, on global and shared memory.

Lanes act one after another in ascending order, so a sum of floats has one value. Lanes with the same address take
turns: the first of each address act together, then the second, and so on.
Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
"""

from collections.abc import Callable, Sequence

import numpy as np

from cgraph.emulator.machine.accesses import Accesses, Region, build_addresses, space_of
from cgraph.emulator.machine.arrays import Array, DType
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs, full, type_of
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.halves import narrow, widen
from cgraph.emulator.machine.marks import mark_written
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.ptx.types import DTYPES, SIZE_BYTES

# old value, operands → new value.
Update = Callable[..., Array]
_NAMES = ("and", "or", "xor", "exch", "cas", "add", "min", "max", "inc", "dec")
# Operations of which the order does not matter, or of which NumPy keeps it, where nobody asks for old values.
_AT_ONCE = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "min": np.minimum,
            "max": np.maximum}  # fmt: skip
_HALVES = frozenset({"f16", "bf16", "f16x2", "bf16x2"})


def _update_of(name: str, kind: str) -> Update:
    """What an operation makes of the old value."""
    if kind in _HALVES:
        return lambda old, value: _add_halves(old, value, kind)
    simple: dict[str, Update] = {
        **_AT_ONCE,
        "exch": lambda _, value: value,
        "cas": lambda old, expected, value: np.asarray(np.where(old == expected, value, old)),
        "inc": lambda old, limit: np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)),
        "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1)),
    }
    return simple[name]


def _add_halves(old: Array, value: Array, kind: str) -> Array:
    half = np.dtype(np.uint16)
    first = np.ascontiguousarray(old).view(half)
    second = np.ascontiguousarray(value).view(half)
    return narrow(widen(first, kind) + widen(second, kind), kind).view(old.dtype)


def _type(kind: str) -> DType:
    return np.dtype(f"u{SIZE_BYTES[kind]}") if kind in _HALVES else DTYPES[kind]


def build_atomic(decoder: Decoder, instruction: Instruction) -> Operation:
    """atom, which gives the old value, and red, which does not."""
    kind = type_of(instruction)
    name = next(modifier for modifier in instruction.modifiers if modifier in _NAMES)
    dtype = _type(kind)
    operands = instruction.operands
    if instruction.opcode == "atom":
        target: int | None = decoder.write_as(operands[0], dtype)
        operands = operands[1:]
    else:
        target = None
    addresses = build_addresses(decoder, operands[0])
    sources = [decoder.read_as(operand, dtype) for operand in operands[1:]]
    accesses = Accesses(instruction, space_of(instruction), dtype.itemsize, writes=True)
    update = _update_of(name, kind)
    at_once = _AT_ONCE.get(name) if kind not in _HALVES else None

    def run(regs: Regs, frame: Frame) -> None:
        for region, indices, positions in accesses.parts(addresses(regs, frame), frame):
            watch = frame.wave.context.watch
            if watch is not None:
                watch.atomic(accesses, frame, region, indices, positions)
            values = [full(regs[source], frame) for source in sources]
            if indices is not None:
                values = [value[indices] for value in values]
            places = positions // dtype.itemsize
            view = region.view(dtype)
            if target is None and at_once is not None:
                at_once.at(view, places, values[0])
            else:
                old = _in_turns(view, places, values, update)
                if target is not None:
                    regs[target][... if indices is None else indices] = old
            _mark(region, positions, dtype.itemsize)

    return run


def _mark(region: Region, positions: Array, size_bytes: int) -> None:
    mark_written(region, positions, size_bytes)


def _in_turns(view: Array, places: Array, values: Sequence[Array], update: Update) -> Array:
    """Updates view at places, lane by lane where places repeat; returns what each lane found."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.nonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))[0]
    turns = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    old = np.empty(len(places), view.dtype)
    if len(starts) == len(order):
        groups = [order]
    else:
        by_turn = np.argsort(turns, kind="stable")
        bounds = np.nonzero(np.diff(turns[by_turn]))[0] + 1
        groups = [order[each] for each in np.split(by_turn, bounds)]
    for group in groups:
        before = view[places[group]]
        old[group] = before
        view[places[group]] = update(before, *(value[group] for value in values))
    return old


FAMILY = {"atom": build_atomic, "red": build_atomic}
