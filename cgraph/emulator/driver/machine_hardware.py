"""The emulated device: PTX is read by `ptx`, executed by `machine` and watched by `sanitizer`."""

from collections.abc import Mapping, Sequence
from itertools import chain
from weakref import finalize

from attrs import define, field, frozen

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.driver.hardware import Grid, ImageRefused, Kernel, KernelFault
from cgraph.emulator.driver.results import Result
from cgraph.emulator.machine import DeviceMemory, launch, place_variables
from cgraph.emulator.problems import KernelTrap, Misaligned, OutOfBounds, UseAfterFree
from cgraph.emulator.ptx import Function, Parameter, read_module
from cgraph.emulator.sanitizer import Sanitizer
from cgraph.emulator.sanitizer.effects import Effects

TOTAL_BYTES = 16 << 30  # a limit for programs that ask how much there is; the host's own memory may end before
CAPABILITY = (8, 0)
BLOCK_THREADS = 1024

# What a device would answer after such a fault.
RESULTS: tuple[tuple[type[Problem], Result], ...] = (
    (OutOfBounds, Result.ILLEGAL_ADDRESS),
    (UseAfterFree, Result.ILLEGAL_ADDRESS),
    (Misaligned, Result.MISALIGNED_ADDRESS),
    (KernelTrap, Result.LAUNCH_FAILED),
)


@define(eq=False)
class Variables:
    """A module's variables in device memory: addresses by name. They are freed with the last kernel of the module."""

    symbols: Mapping[str, int]
    memory: DeviceMemory

    def __attrs_post_init__(self) -> None:
        finalize(self, _free, self.memory, tuple(self.symbols.values())).atexit = False


@frozen(eq=False)
class LoadedKernel:
    """A kernel, and its module's variables."""

    function: Function
    variables: Variables

    @property
    def parameters(self) -> Sequence[Parameter]:
        """As the PTX declares them."""
        return self.function.parameters

    @property
    def shared_bytes(self) -> int:
        """Static shared memory of a block."""
        return self.function.shared_bytes

    @property
    def max_threads(self) -> int:
        """As the kernel was compiled for, else what the device takes."""
        return self.function.max_threads or BLOCK_THREADS


@define(eq=False)
class MachineHardware:
    """A device made of the emulator's parts; a `Hardware`.

    Args:
        sanitizer: collects what a device would carry on with. None: only what no device allows is found.
        problems: faults, in their order: those that failed a context.
        effects: of the next launches, for the sanitizer to hold their accesses against; None: against nothing.
    """

    sanitizer: Sanitizer | None = field(factory=Sanitizer)
    memory: DeviceMemory = field(factory=DeviceMemory)
    total_bytes: int = TOTAL_BYTES
    capability: tuple[int, int] = CAPABILITY
    problems: list[Problem] = field(factory=list)
    effects: Effects | None = None

    def load(self, text: str) -> Mapping[str, Kernel]:
        """The kernels of a PTX module by name. Raises ImageRefused."""
        try:
            module = read_module(text)
        except ProblemsFound as stopped:
            self.problems.extend(stopped.problems)
            raise ImageRefused(_texts(stopped)) from stopped
        variables = Variables(place_variables(module, self.memory), self.memory)
        return {
            name: LoadedKernel(function, variables) for name, function in module.functions.items() if function.entry
        }

    def launch(self, kernel: Kernel, *, grid: Grid, block: Grid, shared_bytes: int, arguments: bytes) -> None:
        """Runs a kernel to its end. Raises KernelFault."""
        if not isinstance(kernel, LoadedKernel):
            raise TypeError(f"no kernel of this device: {kernel!r}")
        try:
            launch(
                kernel.function,
                grid=grid,
                block=block,
                shared_bytes=shared_bytes,
                arguments=arguments,
                memory=self.memory,
                sanitizer=self.sanitizer,
                symbols=kernel.variables.symbols,
                effects=self.effects,
            )
        except ProblemsFound as stopped:
            self.problems.extend(stopped.problems)
            raise KernelFault(_result(stopped.problems[0]), _texts(stopped)) from stopped

    @property
    def found(self) -> int:
        """How many problems `take_problems` would give."""
        return len(self.problems) + (0 if self.sanitizer is None else len(self.sanitizer.problems))

    def take_problems(self) -> tuple[Problem, ...]:
        """What was found since the last time: faults, and what the sanitizer reported."""
        reported = [] if self.sanitizer is None else self.sanitizer.problems
        found = tuple(chain(self.problems, reported))
        self.problems.clear()
        reported.clear()
        return found


def _free(memory: DeviceMemory, addresses: Sequence[int]) -> None:
    for address in addresses:
        memory.free(address)


def _result(problem: Problem) -> Result:
    return next((result for kind, result in RESULTS if isinstance(problem, kind)), Result.LAUNCH_FAILED)


def _texts(stopped: ProblemsFound) -> str:
    return "; ".join(problem.render_title() for problem in stopped.problems)
