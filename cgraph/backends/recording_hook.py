"""The hook by which somebody watches every run of a program closely: recording.

While a watcher is set, each run of this thread's code (of its context, as `contextvars` has it) is handed to the
watcher instead of being done at once; the watcher does it command by command. Without one a run asks a single context
variable and does nothing else. What is kept of a run is left to the watcher.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.cuda.imported.protocol import ImportedRun
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.protocol import OnNode
from cgraph.graph.model import Access, CommandGraph
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


class Steppable(Protocol):
    """A prepared graph that can run command by command; every backend's executable is one."""

    @property
    def device_name(self) -> str:
        """What it runs on: `host`, `emulated`, `cuda:0`."""

    @property
    def architectures(self) -> tuple[str, ...]:
        """Of the devices whose machine code it runs, e.g. `sm_90`; () where it runs none."""

    @property
    def schedule(self) -> Schedule:
        """Of the graph."""

    @property
    def plan(self) -> MemoryPlan:
        """Of the schedule."""

    @property
    def stored(self) -> StoredKernels | None:
        """The stored kernels that it was prepared with; None where the program's own files were compiled."""

    def current_graph(self) -> CommandGraph:
        """The graph with the scalars that it would run with now."""

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane."""

    def bytes_of(self, access: Access) -> NDArray[np.uint8]:
        """A copy, or a view until the next command, of a part of a plane's memory."""

    def run_each(self, on_node: OnNode) -> None:
        """Runs every command once in the schedule's sequence, one by one; the bits are those of `run`.

        Args:
            on_node: called when a command has ended, before the next begins, with its index and its elapsed time in
                milliseconds.

        Raises:
            ProblemsFound: as `run`.
        """


Watcher: TypeAlias = Callable[[Steppable, OnNode | None], None]
ImportedWatcher: TypeAlias = Callable[[ImportedRun, OnNode | None], None]
_WATCHER: ContextVar[Watcher | None] = ContextVar("cgraph_watcher", default=None)
_IMPORTED_WATCHER: ContextVar[ImportedWatcher | None] = ContextVar("cgraph_imported_watcher", default=None)


def current_watcher() -> Watcher | None:
    """Who watches runs here; None where nobody does."""
    return _WATCHER.get()


def current_imported_watcher() -> ImportedWatcher | None:
    """Who watches runs of imported graphs here; None where nobody does."""
    return _IMPORTED_WATCHER.get()


@contextmanager
def watched_by(watcher: Watcher | None, imported: ImportedWatcher | None = None) -> Iterator[None]:
    """Hands every run inside to the watchers, and to those before afterwards; None lets runs be."""
    tokens = _WATCHER.set(watcher), _IMPORTED_WATCHER.set(imported)
    try:
        yield
    finally:
        _WATCHER.reset(tokens[0])
        _IMPORTED_WATCHER.reset(tokens[1])
