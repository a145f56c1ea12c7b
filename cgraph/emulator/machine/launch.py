"""One launch: a function over a grid of blocks."""

from collections.abc import Mapping

from attrs import frozen

from cgraph.emulator.machine.memory import DeviceMemory
from cgraph.emulator.ptx.model import Function
from cgraph.emulator.sanitizer import Sanitizer


@frozen
class LaunchStatistics:
    """What a launch did: instructions executed, counted once a thread, and the time that the emulation took."""

    thread_instructions: int
    elapsed_ms: float


def launch(
    function: Function,
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int,
    arguments: bytes,
    memory: DeviceMemory,
    sanitizer: Sanitizer | None = None,
    symbols: Mapping[str, int] | None = None,
) -> LaunchStatistics:
    """Executes a function to its end.

    Args:
        function: a kernel of a module that was read.
        grid: blocks along x, y, z; block: threads along x, y, z.
        shared_bytes: dynamic shared memory a block, in bytes.
        arguments: the parameter buffer, laid out by `Parameter.offset`; at least `function.parameter_bytes` long.
        memory: the device's memory.
        sanitizer: collects what is reported beyond accesses that no device allows; None reports only those.
        symbols: addresses of the module's variables, as `place_variables` gives them.

    Raises:
        ProblemsFound: the launch is refused, an access is out of bounds, misaligned or to freed memory, a barrier or a
            warp's instruction is never completed, or the kernel trapped. Memory keeps what was written before.
    """
    raise NotImplementedError
