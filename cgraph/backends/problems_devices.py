"""What a user may meet when a program shall run on a GPU or an emulated one: CG740 to CG744, CG748, CG767."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from cgraph.core.origins import Origin
from cgraph.diagnostics import Problem
from cgraph.graph.origins import origin_notes

INSTALL_HELP = "install cgraph-lang[cuda]"
WITHOUT_GPU_HELP = "without a GPU: --device emulated executes the kernels themselves, --device host uses NumPy"


@frozen
class NoDriver(Problem):
    """There is no CUDA driver on this machine."""

    code: ClassVar[str] = "CG740"
    title: ClassVar[str] = "there is no CUDA driver on this machine"

    def helps(self) -> Sequence[str]:
        """Other devices."""
        return (WITHOUT_GPU_HELP,)


@frozen
class NoDevice(Problem):
    """There is no device of that number. `count` is how many there are."""

    code: ClassVar[str] = "CG741"
    title: ClassVar[str] = "there is no device cuda:{number}; the driver knows {count}"

    number: int
    count: int

    def helps(self) -> Sequence[str]:
        """Other devices."""
        return () if self.count else (WITHOUT_GPU_HELP,)


@frozen
class DriverCallFailed(Problem):
    """A driver call failed. `span` is the command that it was made for, or None.

    Args:
        call: the driver's function.
        error: the driver's name of the result; text: what the driver says about it.
        command: in words, e.g. `command 3, cgImageAdd`; "" where no command in particular is concerned.
        origin: of the command.
    """

    code: ClassVar[str] = "CG742"
    title: ClassVar[str] = "{call} failed: {error}, {text}"
    label: ClassVar[str] = "{command}"

    call: str
    error: str
    text: str
    command: str = ""
    origin: Origin | None = field(default=None, repr=False)

    def notes(self) -> Sequence[str]:
        """The way to the command."""
        return () if self.origin is None else origin_notes(self.origin)


@frozen
class DoubleOnDevice(Problem):
    """A build in f64 was to run on a GPU."""

    code: ClassVar[str] = "CG743"
    title: ClassVar[str] = "a build with half = f64 runs on the host only"

    def helps(self) -> Sequence[str]:
        """What to choose."""
        return ("build with --half f16 or --half bf16, or run with --device host",)


@frozen
class UpdateImpossible(Problem):
    """A prepared graph does not take a change. `span` is the plane's declaration or the command."""

    code: ClassVar[str] = "CG744"
    title: ClassVar[str] = "{change} is impossible"

    change: str
    reasons: tuple[str, ...]

    def notes(self) -> Sequence[str]:
        """All reasons."""
        return self.reasons


@frozen
class CudaNotInstalled(Problem):
    """The Python packages for CUDA are not installed. `module` is what was missing."""

    code: ClassVar[str] = "CG748"
    title: ClassVar[str] = "the Python packages for CUDA are not installed: there is no module {module}"

    module: str

    def helps(self) -> Sequence[str]:
        """Both ways out."""
        return (INSTALL_HELP, "or run with --device host")


@frozen
class CommandAtFault(Problem):
    """A command whose kernel did something wrong; what, the emulated device says. `span` is the command.

    Args:
        command: in words.
        count: how many problems it had.
        origin: of the command.
    """

    code: ClassVar[str] = "CG767"
    title: ClassVar[str] = "the emulated device found {count} problem(s) in {command}"
    label: ClassVar[str] = "launched here"

    command: str
    count: int
    origin: Origin = field(repr=False)

    def notes(self) -> Sequence[str]:
        """The way to the command."""
        return origin_notes(self.origin)
