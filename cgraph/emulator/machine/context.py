"""What one launch gives its kernel: grid, parameters, addresses, memory."""

import numpy as np
from attrs import define, field

from cgraph.emulator.machine.arrays import Array, DType
from cgraph.emulator.machine.memory import DeviceMemory
from cgraph.emulator.machine.watch import Watch
from cgraph.emulator.ptx.model import Function

Triple = tuple[int, int, int]


@define(eq=False)
class Context:
    """One launch.

    Args:
        function: what is executed; grid: blocks; block: threads.
        shared_bytes: static and dynamic shared memory a block, in bytes.
        parameters: the parameter buffer as bytes, padded to whole 16 bytes.
        symbols: addresses of the module's variables; memory: the device's.
        watch: looks at accesses, None where nothing is watched.
        executed: instructions so far, counted once a thread.
    """

    function: Function
    grid: Triple
    block: Triple
    shared_bytes: int
    dynamic_shared_bytes: int
    parameters: Array = field(repr=False)
    symbols: dict[str, int]
    memory: DeviceMemory
    watch: Watch | None
    executed: int = 0

    @property
    def threads(self) -> int:
        """Threads a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        x, y, z = self.grid
        return x * y * z

    def block_index(self, number: int) -> Triple:
        """The index of the block of that number (x runs fastest)."""
        return _index(number, self.grid)

    def thread_index(self, number: int) -> Triple:
        """The index of the thread of that number in its block (x runs fastest)."""
        return _index(number, self.block)

    def parameter(self, offset: int, dtype: DType) -> Array:
        """The value at an offset of the parameter buffer, as an array without dimensions."""
        return self.parameters[offset : offset + dtype.itemsize].view(dtype).reshape(())


def _index(number: int, extent: Triple) -> Triple:
    x, y, _ = extent
    return number % x, number // x % y, number // (x * y)


def padded_parameters(arguments: bytes) -> Array:
    """The parameter buffer with zeros behind it, so that any aligned value can be viewed."""
    return np.frombuffer(arguments.ljust(-(-len(arguments) // 16) * 16 + 16, b"\0"), np.uint8)
