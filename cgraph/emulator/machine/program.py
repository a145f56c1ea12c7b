"""A function as the machine executes it: segments of operations, each ending where control may go elsewhere.

Receives a linked function; guarantees that lanes enter a segment only at its beginning, that an instruction which needs
whole warps begins one, and that barriers end one. When lanes execute which segment is left to the scheduler.
"""

from itertools import pairwise
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from attrs import define, field, frozen

from cgraph.core.collection import paused_collection
from cgraph.emulator.machine.arrays import BOOL
from cgraph.emulator.machine.constants import constant_registers, moved_register
from cgraph.emulator.machine.decoder import Decoder, Operation, Regs
from cgraph.emulator.machine.families import BUILDERS
from cgraph.emulator.machine.frame import Frame
from cgraph.emulator.machine.registers import Registers
from cgraph.emulator.ptx.model import Function, Instruction, Label, Operand, Vector


@frozen
class Jump:
    """All lanes go on at a segment."""

    target: int


@frozen
class Branch:
    """Lanes whose predicate holds (does not hold, if negated) go to `target`, the others to `otherwise`."""

    predicate: int
    negated: bool
    target: int
    otherwise: int


@frozen
class Table:
    """Lanes go to the target that a register says."""

    index: int
    targets: tuple[int, ...]


@frozen
class Barrier:
    """Lanes wait for others of their block.

    Args:
        instruction: the barrier; number, count: slots of its operands, count None where all threads are meant.
        waits: whether the lanes wait (`arrive` does not); target: where they go on.
        reduction: `popc`, `and`, `or` or nothing; result, predicate: slots; negated: of the predicate.
    """

    instruction: Instruction
    number: int
    count: int | None
    waits: bool
    target: int
    reduction: str = ""
    result: int | None = None
    predicate: int | None = None
    negated: bool = False


@frozen
class Trap:
    """The kernel stops itself."""

    instruction: Instruction


End: TypeAlias = Jump | Branch | Table | Barrier | Trap


@frozen
class Meeting:
    """What the first instruction of a segment needs: the lanes of a mask (a slot), or all 32 (None)."""

    instruction: Instruction
    mask: int | None


@define(eq=False)
class Segment:
    """Operations that lanes execute one after another.

    Args:
        operations: in order; touched, written: the bases that they use and change.
        meeting: which lanes the first instruction needs, if it needs others.
        length: how many instructions of the text it stands for.
    """

    operations: list[Operation] = field(factory=list)
    touched: tuple[int, ...] = ()
    written: frozenset[int] = frozenset()
    meeting: Meeting | None = None
    end: End = Jump(0)
    length: int = 1


@frozen(eq=False)
class Program:
    """A decoded function. Lanes that go to segment `exit` are done."""

    registers: Registers
    segments: tuple[Segment, ...]
    exit: int


_ENDS = frozenset({"bra", "brx", "ret", "exit", "trap", "brkpt"})
_MASKED = {"shfl": 4, "vote": 2, "match": 2, "redux": 2, "elect": 1}
_WHOLE = frozenset({"mma", "ldmatrix", "stmatrix", "movmatrix"})
_PROGRAMS: WeakKeyDictionary[Function, Program] = WeakKeyDictionary()


def decode(function: Function) -> Program:
    """The program of a function, decoded once."""
    program = _PROGRAMS.get(function)
    if program is None:
        with paused_collection():
            program = _PROGRAMS[function] = _Assembler(function).assemble()
    return program


def _is_barrier(instruction: Instruction) -> bool:
    return instruction.opcode == "barrier" or (instruction.opcode == "bar" and "warp" not in instruction.modifiers)


def _meets(instruction: Instruction) -> bool:
    return instruction.opcode in _MASKED or instruction.opcode in _WHOLE or instruction.modifiers[:1] == ("warp",)


class _Assembler:
    """Cuts a function into segments."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._constants = constant_registers(function)
        self._decoder = Decoder(function, constants=self._constants)
        self._instructions = function.instructions
        starts = {0, *function.labels.values()}
        for index, instruction in enumerate(self._instructions):
            controls = instruction.opcode in _ENDS or _is_barrier(instruction)
            if controls:
                starts.add(index + 1)
            if _meets(instruction) or (controls and instruction.guard is not None and instruction.opcode != "bra"):
                starts |= {index, index + 1} if instruction.guard is not None else {index}
        # A guarded instruction of these kinds stands alone in a segment, with a segment before it that chooses.
        self._starts = sorted(start for start in starts if start < len(self._instructions))
        self._numbers: dict[int, int] = {}
        self._alone: dict[int, int] = {}
        number = 0
        for start in self._starts:
            self._numbers[start] = number
            number += 1
            if self._is_alone(start):
                self._alone[start] = number
                number += 1
        self._exit = number
        self._numbers[len(self._instructions)] = number

    def _is_alone(self, start: int) -> bool:
        instruction = self._instructions[start]
        if instruction.guard is None:
            return False
        controls = instruction.opcode in _ENDS or _is_barrier(instruction)
        return (controls and instruction.opcode != "bra") or _meets(instruction)

    def assemble(self) -> Program:
        """All segments, in the order of the text."""
        segments: list[Segment] = []
        bounds = [*self._starts, len(self._instructions)]
        for start, stop in pairwise(bounds):
            if start in self._alone:
                segments.append(self._chooser(start))
            segments.append(self._segment(start, stop))
        return Program(self._decoder.registers, tuple(segments), self._exit)

    def _chooser(self, start: int) -> Segment:
        """Sends the lanes whose guard holds into the next segment, the others past it."""
        guard = self._instructions[start].guard
        if guard is None:
            raise TypeError(start)
        decoder = self._decoder
        decoder.begin()
        slot = decoder.read_as(guard.register, BOOL)
        end = Branch(slot, guard.negated, self._alone[start], self._numbers[start + 1])
        return Segment([], tuple(decoder.touched), frozenset(), None, end)

    def _segment(self, start: int, stop: int) -> Segment:
        decoder = self._decoder
        touched: set[int] = set()
        written: set[int] = set()
        segment = Segment(end=Jump(self._numbers[stop]), length=stop - start)
        for index in range(start, stop):
            instruction = self._instructions[index]
            decoder.begin()
            moved = moved_register(instruction)
            if moved is not None and moved.name in self._constants:
                continue
            if instruction.opcode in _ENDS or _is_barrier(instruction):
                segment.end = self._end(instruction, index)
            else:
                if _meets(instruction):
                    segment.meeting = self._meeting(instruction)
                operation = BUILDERS[instruction.opcode](decoder, instruction)
                if instruction.guard is not None and index not in self._alone:
                    operation = self._guarded(instruction, operation)
                segment.operations.append(operation)
            touched |= decoder.touched
            written |= decoder.written
        segment.touched = tuple(sorted(touched))
        segment.written = frozenset(written)
        return segment

    def _meeting(self, instruction: Instruction) -> Meeting:
        if instruction.opcode in _WHOLE:
            return Meeting(instruction, None)
        place = _MASKED.get(instruction.opcode, 0)
        return Meeting(instruction, self._decoder.read(instruction.operands[place], "u32"))

    def _guarded(self, instruction: Instruction, operation: Operation) -> Operation:
        """The operation for those lanes only whose predicate holds."""
        decoder = self._decoder
        guard = instruction.guard
        if guard is None:
            return operation
        bases, written = tuple(decoder.touched), tuple(decoder.written)
        slot = decoder.read_as(guard.register, BOOL)
        negated = guard.negated

        def run(regs: Regs, frame: Frame) -> None:
            holds = ~regs[slot] if negated else regs[slot]
            count = np.count_nonzero(holds)
            if count == frame.count:
                operation(regs, frame)
            elif count:
                indices = np.nonzero(holds)[0]
                part = frame.subset(indices, bases)
                operation(part.regs, part)
                frame.absorb(part, indices, written)

        return run

    def _end(self, instruction: Instruction, index: int) -> End:
        opcode = instruction.opcode
        after = self._numbers[index + 1]
        if opcode == "bra":
            target = self._target(instruction.operands[0])
            if instruction.guard is None:
                return Jump(target)
            slot = self._decoder.read_as(instruction.guard.register, BOOL)
            return Branch(slot, instruction.guard.negated, target, after)
        if opcode == "brx":
            slot = self._decoder.read(instruction.operands[0], "u32")
            labels = instruction.operands[-1]
            parts = labels.parts if isinstance(labels, Vector) else ()
            return Table(slot, tuple(self._target(label) for label in parts))
        if opcode in {"ret", "exit"}:
            return Jump(self._exit)
        if opcode in {"trap", "brkpt"}:
            return Trap(instruction)
        return self._barrier(instruction, after)

    def _target(self, label: Operand | None) -> int:
        if not isinstance(label, Label):
            raise TypeError(label)
        return self._numbers[self._function.labels[label.name]]

    def _barrier(self, instruction: Instruction, after: int) -> Barrier:
        decoder = self._decoder
        operands = instruction.operands
        reduction = next((each for each in instruction.modifiers if each in {"popc", "and", "or"}), "")
        if not reduction:
            count = decoder.read(operands[1], "u32") if len(operands) > 1 else None
            waits = "arrive" not in instruction.modifiers
            return Barrier(instruction, decoder.read(operands[0], "u32"), count, waits, after)
        result = decoder.write(operands[0], "u32" if reduction == "popc" else "pred")
        predicate = operands[-1]
        register = getattr(predicate, "register", predicate)
        return Barrier(
            instruction,
            decoder.read(operands[1], "u32"),
            decoder.read(operands[2], "u32") if len(operands) > 3 else None,
            waits=True,
            target=after,
            reduction=reduction,
            result=result,
            predicate=decoder.read_as(register, BOOL),
            negated=register is not predicate,
        )
