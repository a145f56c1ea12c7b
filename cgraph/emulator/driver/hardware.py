"""What the emulated driver needs of a device: memory, and kernels that run.

The driver keeps contexts, modules, streams and graphs; a `Hardware` keeps bytes and executes code.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from cgraph.diagnostics import Problem
from cgraph.emulator.driver.results import Result
from cgraph.emulator.machine.memory import DeviceMemory

Grid = tuple[int, int, int]


class KernelParameter(Protocol):
    """Where an argument lies in a kernel's parameter buffer."""

    @property
    def offset(self) -> int:
        """In bytes."""

    @property
    def size_bytes(self) -> int:
        """In bytes."""


class Kernel(Protocol):
    """Code that can be launched."""

    @property
    def parameters(self) -> Sequence[KernelParameter]:
        """In their order."""

    @property
    def shared_bytes(self) -> int:
        """Static shared memory of a block."""

    @property
    def max_threads(self) -> int:
        """The most threads that a block may have."""


class Hardware(Protocol):
    """A device. Addresses of its memory are none of the host's."""

    @property
    def memory(self) -> DeviceMemory:
        """Its memory."""

    @property
    def total_bytes(self) -> int:
        """Memory of the device."""

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability, e.g. (8, 0)."""

    def load(self, text: str) -> Mapping[str, Kernel]:
        """The kernels of a PTX module by name. Raises ImageRefused."""

    def launch(self, kernel: Kernel, *, grid: Grid, block: Grid, shared_bytes: int, arguments: bytes) -> None:
        """Runs a kernel to its end. Raises KernelFault."""

    @property
    def found(self) -> int:
        """How many problems `take_problems` would give."""

    def take_problems(self) -> tuple[Problem, ...]:
        """What was found since the last time: faults, and what a real device would have carried on with."""


class ImageRefused(Exception):  # noqa: N818  (a refusal, told to the program as a result)
    """Code that the device cannot run.

    Args:
        text: what is wrong with it.
    """


class KernelFault(Exception):  # noqa: N818  (an event on the device, told to the program as a result)
    """A kernel did what no kernel may do.

    Args:
        result: of every later call in its context.
        text: what it did, where and which thread.
    """

    def __init__(self, result: Result, text: str) -> None:
        super().__init__(text)
        self.result = result
        self.text = text
