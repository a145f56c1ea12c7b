"""What looks on while a kernel runs. The machine tells it of accesses, barriers and exchanges; it changes nothing."""

from typing import Any, Protocol

from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.ptx.model import Instruction


class Watch(Protocol):
    """Whoever wants to know of accesses.

    `frame` holds the lanes of a wave, `region` and `positions` say where each accesses, `indices` are the lanes' places
    in the frame (None: all, in order). `strong` accesses are those that the program declares to be seen by others.
    """

    def begin_wave(self, wave: Any) -> None:
        """Blocks begin; shared memory is fresh."""

    def read(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None:
        """Lanes are about to read."""

    def write(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None:
        """Lanes are about to write."""

    def atomic(self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array) -> None:
        """Lanes are about to update."""

    def arrive(self, accesses: Any, wave: Any, region: Any, lanes: Array, positions: Array) -> None:
        """Bytes that lanes of the wave copied without waiting are about to arrive."""

    def barrier(self, _wave: Any, lanes: Array | None) -> None:
        """Lanes (None: all) leave a barrier of their block."""

    def warp_barrier(self, _wave: Any, lanes: Array | None) -> None:
        """Lanes leave a barrier of their warp."""

    def shuffle(self, instruction: Instruction, frame: Any, warps: Any, places: Array) -> None:
        """Lanes of incomplete warps read from the lanes at `places`, [rows, 32]."""

    def partial_barrier(
        self, instruction: Instruction, frame: Any, indices: Array, *, number: int, arrived: int, expected: int
    ) -> None:
        """A barrier opens though threads of the block have exited."""
