"""What a meaning gets besides its slots: threads and memory to work in.

Guarantees that work is cut into parts by its size alone, never by the load, so that the same input gives the same
bits; and that scratch memory is allocated once and reused by every later call of the same worker.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from cgraph.images.team import Team

Array: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]

# Elements that one call of a ufunc works on. Five f32 arrays of this many stay within 640 KiB of cache,
# and the call's own cost of about a microsecond is small beside the loop.
CHUNK_ELEMENTS = 32768
# Waking a thread costs about as much as this many chunks of a cheap loop.
FEWEST_SHARED_CHUNKS = 4
ALIGNMENT_BYTES = 64


def aligned_bytes(size_bytes: int) -> NDArray[np.uint8]:
    """Zeroed memory that starts at a multiple of `ALIGNMENT_BYTES`."""
    memory = np.zeros(size_bytes + ALIGNMENT_BYTES, np.uint8)
    skip = -memory.ctypes.data % ALIGNMENT_BYTES
    return memory[skip : skip + size_bytes]


class Scratch:
    """Named arrays of one worker. A name's memory grows to the largest array asked for and is never given back."""

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: DType) -> Array:
        """An array with arbitrary contents; it shares its memory with the last one taken under this name."""
        size_bytes = dtype.itemsize
        for extent in shape:
            size_bytes *= extent
        memory = self._memory.get(name)
        if memory is None or memory.size < size_bytes:
            memory = self._memory[name] = aligned_bytes(size_bytes)
        return memory[:size_bytes].view(dtype).reshape(shape)


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes milliseconds, switching them microseconds."""
    return ThreadpoolController().select(user_api="blas")


@frozen(eq=False)
class HostContext:
    """The threads of a run and a scratch memory for each of them."""

    team: Team = field(factory=Team)
    scratch: tuple[Scratch, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "scratch", tuple(Scratch() for _ in range(self.team.size)))

    def share(self, count: int, work: Callable[[Scratch, Iterator[int]], None]) -> None:
        """Shares parts 0 … count-1 among the workers; each takes its scratch once and then walks its parts."""
        self.team.share(count, lambda worker, parts: work(self.scratch[worker], parts))

    def share_rows(self, rows: int, width: int, work: Callable[[Scratch, int, Iterator[slice]], None]) -> None:
        """Shares rows in chunks that stay in cache, or does them all here where waking threads would not pay.

        Args:
            rows: how many.
            width: elements of a row.
            work: called as work(scratch, chunk, parts); no part has more than `chunk` rows.
        """
        chunk = max(1, min(rows, CHUNK_ELEMENTS // max(width, 1)))
        chunks = -(-rows // chunk)

        def walk(scratch: Scratch, numbers: Iterator[int]) -> None:
            work(scratch, chunk, (slice(n * chunk, min(rows, (n + 1) * chunk)) for n in numbers))

        if chunks < FEWEST_SHARED_CHUNKS:
            with np.errstate(all="ignore"):
                walk(self.scratch[0], iter(range(chunks)))
        else:
            self.share(chunks, walk)

    def blas_alone(self) -> AbstractContextManager[object]:
        """While it lasts, the BLAS uses only the thread that calls it: for work that is already shared by threads.

        The limit belongs to the process, so two runs in two threads of one process must not overlap.
        """
        limiter: AbstractContextManager[object] = _blas().limit(limits=1)
        return limiter
