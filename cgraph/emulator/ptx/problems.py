"""What can be wrong with a PTX text: codes CG750 to CG754.

Receives the facts from the reader; guarantees the wording. Every problem points into the PTX.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from cgraph.diagnostics import Problem


@frozen
class UnreadablePtx(Problem):
    """The text is not PTX. `expected` says what should stand there, `found` what does."""

    code: ClassVar[str] = "CG750"
    title: ClassVar[str] = "the PTX cannot be read: expected {expected}"
    label: ClassVar[str] = "found {found}"

    expected: str
    found: str


@frozen
class UnknownInstruction(Problem):
    """An instruction that the machine does not know. `known` are its forms with the same first word."""

    code: ClassVar[str] = "CG751"
    title: ClassVar[str] = "the emulator does not know the instruction {mnemonic}"
    label: ClassVar[str] = "not executed by the emulator"

    mnemonic: str
    known: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        return tuple(f"it knows {form}" for form in self.known[:8])


@frozen
class UnknownName(Problem):
    """A name that nothing declares. `kind` is what it should be, such as a register or a label."""

    code: ClassVar[str] = "CG752"
    title: ClassVar[str] = "{kind} {name} is not declared"
    label: ClassVar[str] = "used here"

    kind: str
    name: str


@frozen
class WrongOperand(Problem):
    """An operand that does not fit its instruction."""

    code: ClassVar[str] = "CG753"
    title: ClassVar[str] = "{mnemonic}: {fault}"
    label: ClassVar[str] = "in this instruction"

    mnemonic: str
    fault: str


@frozen
class UnsupportedPtx(Problem):
    """Something that PTX has and the emulator has not."""

    code: ClassVar[str] = "CG754"
    title: ClassVar[str] = "the emulator does not support {feature}"
    label: ClassVar[str] = "here"

    feature: str
