"""The sanitizer's eyes: checks each access as it happens."""

from typing import Any

from cgraph.emulator.machine.arrays import Array
from cgraph.emulator.ptx.model import Instruction
from cgraph.emulator.sanitizer.collection import Sanitizer


class Watching:
    """Checks accesses of one launch.

    Args:
        sanitizer: takes the reports.
    """

    def __init__(self, sanitizer: Sanitizer) -> None:
        self._sanitizer = sanitizer

    def begin_wave(self, wave: Any) -> None: ...
    def read(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None: ...
    def write(
        self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array, *, strong: bool
    ) -> None: ...
    def atomic(self, accesses: Any, frame: Any, region: Any, indices: Array | None, positions: Array) -> None: ...
    def arrive(self, accesses: Any, wave: Any, region: Any, lanes: Array, positions: Array) -> None: ...
    def barrier(self, wave: Any, lanes: Array | None) -> None: ...
    def warp_barrier(self, wave: Any, lanes: Array | None) -> None: ...
    def shuffle(self, instruction: Instruction, frame: Any, warps: Any, places: Array) -> None: ...
    def partial_barrier(
        self, instruction: Instruction, frame: Any, indices: Array, *, number: int, arrived: int, expected: int
    ) -> None: ...
