"""What an imported graph that is ready to run offers; no CUDA package is needed to know it."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.cuda.imported.model import ImportedGraph
from cgraph.backends.protocol import OnNode


class ImportedRun(Protocol):
    """A prepared imported graph. `ImportedExecutable` documents arguments and problems."""

    @property
    def graph(self) -> ImportedGraph:
        """What runs now, with the values that were set."""

    @property
    def device_name(self) -> str:
        """What it runs on: `emulated`, `cuda:0`."""

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies the bytes of an array into a plane."""

    def get(self, name: str) -> NDArray[np.uint8]:
        """A copy of a plane's bytes."""

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every node once."""

    def run_each(self, on_node: OnNode) -> None:
        """Runs every node once, each alone."""

    def rebind(self, name: str, memory: Any) -> None:
        """Binds a plane that is a whole allocation to other device memory."""

    def set_scalar(self, node: int | tuple[int, int], slot: str, value: Any) -> None:
        """Changes an argument of a kernel or the value of a memset."""

    def close(self) -> None:
        """Frees everything, once or again."""
