"""What can be wrong with a launch: one class per error, codes CG755 to CG765.

Receives the facts from the machine and the sanitizer; guarantees the wording. Every problem points into the PTX, and
names the .cu line, the kernel, the block and the thread, where they are known.
"""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Label, Problem
from cgraph.emulator.ptx.model import Place
from cgraph.graph.origins import origin_notes


@frozen
class LaunchRefused(Problem):
    """A launch that no device accepts."""

    code: ClassVar[str] = "CG755"
    title: ClassVar[str] = "kernel {kernel} cannot be launched: {fault}"

    kernel: str
    fault: str


@frozen
class KernelFault(Problem):
    """Base of what goes wrong while a kernel runs; `span` is the PTX instruction.

    Args:
        kernel: its name; place: the .cu line, if known.
        block, thread: the indices (x, y, z) of the first thread at fault; None where no single one is.
        threads: how many threads are at fault at this instruction at once.
        command, origin: the launch in a program, in words and where it comes from, if that is known.
        more_launches: how many more launches of the same text have the same fault.
    """

    kernel: str
    place: Place | None
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    threads: int
    command: str = field(default="", kw_only=True)
    origin: Origin | None = field(default=None, kw_only=True, repr=False)
    more_launches: int = field(default=0, kw_only=True)

    @property
    def where(self) -> str:
        """The .cu line, or the kernel where that is not known."""
        return str(self.place) if self.place is not None else self.kernel

    def details(self) -> Sequence[str]:
        """Facts of this kind of fault."""
        return ()

    def labels(self) -> Sequence[Label]:
        """The launch."""
        return () if self.origin is None else (Label(self.origin.span, f"launched here: {self.command}"),)

    def notes(self) -> Sequence[str]:
        """The details, the thread, then the way to the launch."""
        place = "" if self.place is None else f", at {self.place}"
        thread = "" if self.thread is None else f", block {self.block}, thread {self.thread}"
        more = [f"and {self.threads - 1} more threads at the same time"] if self.threads > 1 else []
        if self.more_launches:
            more.append(f"and in {self.more_launches} more launches of the same text")
        way = () if self.origin is None else origin_notes(self.origin)
        return (*self.details(), f"in kernel {self.kernel}{thread}{place}", *more, *way)

    def _fields(self) -> dict[str, object]:
        return {**super()._fields(), "where": self.where}


@frozen
class AccessFault(KernelFault):
    """Base of faults of one access.

    Args:
        access: `reads` or `writes`; size_bytes: of the access by one thread.
        space: `global`, `shared`, `local` or `parameter` memory.
        memory: what lies there: a plane's name, `shared memory`, …; offset: in it, in bytes; extent: its size in bytes.
        element: where the offset is in a plane, counted in its elements; index: that element's, () outside the plane.
    """

    access: str
    size_bytes: int
    space: str
    memory: str
    offset: int
    extent: int
    element: int | None = field(default=None, kw_only=True)
    index: tuple[int, ...] = field(default=(), kw_only=True)

    def details(self) -> Sequence[str]:
        if self.element is None:
            return (f"{self.memory} has {self.extent} bytes",)
        index = f", at {list(self.index)}" if self.index else ""
        return (f"that is element {self.element}{index}; {self.memory} has {self.extent} bytes",)


@frozen
class OutOfBounds(AccessFault):
    """An access outside what was allocated."""

    code: ClassVar[str] = "CG756"
    title: ClassVar[str] = "{where} {access} out of bounds of {memory}"
    label: ClassVar[str] = "{access} {size_bytes} bytes of {space} memory at byte {offset} of {memory}"


@frozen
class Misaligned(AccessFault):
    """An access to an address that is no multiple of its size."""

    code: ClassVar[str] = "CG757"
    title: ClassVar[str] = "{where} {access} {memory} at an address that is no multiple of {size_bytes}"
    label: ClassVar[str] = "{access} {size_bytes} bytes of {space} memory at byte {offset} of {memory}"


@frozen
class UseAfterFree(AccessFault):
    """An access to memory that was freed."""

    code: ClassVar[str] = "CG758"
    title: ClassVar[str] = "{where} {access} {memory} after it was freed"
    label: ClassVar[str] = "{access} {size_bytes} bytes of {space} memory at byte {offset} of {memory}"


@frozen
class UninitialisedRead(AccessFault):
    """A read of bytes that nothing wrote. `pending` says whether a cp.async that was not waited for will write them."""

    code: ClassVar[str] = "CG759"
    title: ClassVar[str] = "{where} reads bytes of {memory} that nothing wrote"
    label: ClassVar[str] = "reads {size_bytes} bytes of {space} memory at byte {offset} of {memory}"

    pending: bool = False

    def details(self) -> Sequence[str]:
        if self.pending:
            return (*super().details(), "a cp.async writes them, but no cp.async.wait came between")
        return super().details()


@frozen
class Race(AccessFault):
    """Base of two accesses of which no order is known, one of them a write. `other` is who came first, and how."""

    other: str

    def details(self) -> Sequence[str]:
        return (*super().details(), self.other)


@frozen
class SharedRace(Race):
    """Two threads of a block use the same shared bytes with no barrier between."""

    code: ClassVar[str] = "CG760"
    title: ClassVar[str] = "{where} {access} shared memory that another thread uses without a barrier between"
    label: ClassVar[str] = "{access} {size_bytes} bytes at byte {offset} of {memory}"


@frozen
class GlobalRace(Race):
    """Two blocks of one launch use the same global bytes."""

    code: ClassVar[str] = "CG761"
    title: ClassVar[str] = "{where} {access} bytes of {memory} that another block of the launch uses"
    label: ClassVar[str] = "{access} {size_bytes} bytes at byte {offset} of {memory}"


@frozen
class PartialBarrier(KernelFault):
    """A barrier that only some threads of a block reach. `arrived` of `expected` threads came to barrier `number`."""

    code: ClassVar[str] = "CG762"
    title: ClassVar[str] = "{where} has a barrier that only a part of a block reaches"
    label: ClassVar[str] = "{arrived} of {expected} threads reach barrier {number} here"

    number: int
    arrived: int
    expected: int
    reason: str

    def details(self) -> Sequence[str]:
        return (self.reason,)


@frozen
class PartialWarp(KernelFault):
    """A warp's instruction that not all the lanes execute which it needs."""

    code: ClassVar[str] = "CG763"
    title: ClassVar[str] = "{where}: {mnemonic} is not executed by all lanes that it needs"
    label: ClassVar[str] = "{fault}"

    mnemonic: str
    fault: str


@frozen
class KernelTrap(KernelFault):
    """The kernel stopped itself."""

    code: ClassVar[str] = "CG764"
    title: ClassVar[str] = "{where}: the kernel stopped itself{message}"
    label: ClassVar[str] = "trap"

    message: str


@frozen
class WrongInstructionUse(KernelFault):
    """Operand values with which an instruction has no meaning, such as a barrier's number beyond 15."""

    code: ClassVar[str] = "CG765"
    title: ClassVar[str] = "{where}: {fault}"
    label: ClassVar[str] = "{mnemonic}"

    mnemonic: str
    fault: str
