"""What a user may meet when the emulated driver is set up: CG745 to CG747, CG749."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.diagnostics import Problem


@frozen
class NoCompiler(Problem):
    """There is no C compiler for the small library that stands for the driver. `tried` are the commands looked for."""

    code: ClassVar[str] = "CG745"
    title: ClassVar[str] = "the emulated device needs a C compiler once, and there is none"

    tried: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        """What was looked for."""
        return (f"not found: {', '.join(self.tried)}",)

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return ("install gcc or clang, or name a compiler in the environment variable CC", "or run with --device host")


@frozen
class StubNotBuilt(Problem):
    """The C compiler failed, or what it made does not load."""

    code: ClassVar[str] = "CG746"
    title: ClassVar[str] = "the emulated driver's library cannot be made: {what}"

    what: str
    log: str = field(repr=False)

    def notes(self) -> Sequence[str]:
        """What was said."""
        return tuple(self.log.splitlines()[:8])


@frozen
class EmulatorFailed(Problem):
    """An error in the emulator itself. `call` is the entry point, `trace` the traceback."""

    code: ClassVar[str] = "CG749"
    title: ClassVar[str] = "the emulator itself failed in {call}; this is a defect of cgraph"

    call: str
    trace: str = field(repr=False)

    def notes(self) -> Sequence[str]:
        """The end of the traceback, which says most."""
        return tuple(line.strip() for line in self.trace.splitlines()[-7:])


@frozen
class DriverInUse(Problem):
    """This process uses another CUDA driver already; it can have one only."""

    code: ClassVar[str] = "CG747"
    title: ClassVar[str] = "this process uses the real CUDA driver already, so it cannot emulate one"

    def helps(self) -> Sequence[str]:
        """What to do."""
        return ("use the emulated device in a process of its own, before the first call of any CUDA library",)
