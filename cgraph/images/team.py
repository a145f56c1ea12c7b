"""A small team of threads that shares the parts of one piece of work.

Receives a number of parts and a function; guarantees that each part is done exactly once and that all are done when
it returns. Which worker does which part depends on the load, so a part writes only what belongs to it. NumPy's loops
and the BLAS release Python's lock, so threads do run at the same time.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

import numpy as np

# More threads than this spend their time waiting for Python's lock between the calls of short loops.
LARGEST_TEAM = 8


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Tickets:
    """The numbers 0 … count-1, each handed out once, in order, to whoever asks."""

    def __init__(self, count: int) -> None:
        self._numbers = iter(range(count))
        self._lock = Lock()

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            return next(self._numbers)


class Team:
    """Threads that wait for work: the caller's own and `size - 1` more, which start with the first shared work."""

    def __init__(self, size: int | None = None) -> None:
        self.size = min(usable_cores(), LARGEST_TEAM) if size is None else size
        self._others = ThreadPoolExecutor(self.size - 1, thread_name_prefix="cgraph") if self.size > 1 else None

    def share(self, count: int, work: Callable[[int, Iterator[int]], None]) -> None:
        """Calls `work(worker, parts)` on each worker; the iterators together give each part 0 … count-1 once.

        Floating-point warnings are off inside: a kernel that overflows gives infinity and says nothing.

        Raises:
            Exception: what a worker raised, after all have stopped.
        """
        tickets = _Tickets(count)

        def run(worker: int) -> None:
            with np.errstate(all="ignore"):
                work(worker, tickets)

        others: list[Future[None]] = []
        if self._others is not None:
            others = [self._others.submit(run, worker) for worker in range(1, min(self.size, count))]
        try:
            run(0)
        finally:
            for other in others:
                other.exception()
        for other in others:
            other.result()
