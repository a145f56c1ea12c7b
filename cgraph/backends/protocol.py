"""What every backend offers: a graph that is ready to run, with its planes in reach by name.

A backend prepares an `Executable` from a graph, its schedule and its memory plan, all verified; whatever cannot be
prepared is a `ProblemsFound` then, so that a run has no errors of the user's making left.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from numpy.typing import ArrayLike, NDArray

OnNode: TypeAlias = Callable[[int, float], None]


class Executable(Protocol):
    """A prepared graph. Planes keep their contents between runs; a new one's planes are all zero."""

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane.

        Args:
            name: the plane's, with its indices, e.g. `cgQkvWeight 0`.
            array: of the plane's element type and extent.

        Raises:
            ProblemsFound: no plane has that name (CG702), or type or extent differ (CG703).
        """

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane, in its element type and extent.

        A scratch plane may share its bytes with others; then it holds what the last command left there.

        Raises:
            ProblemsFound: no plane has that name (CG702).
        """

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every command once, in an order that the schedule allows.

        Args:
            on_node: called after each command with the node's index and its elapsed time in milliseconds.
        """

    def rebind(self, name: str, memory: Any) -> None:
        """Binds a plane to memory of others; the next run uses it. Nothing is copied.

        The memory is kept alive as long as the plane is bound to it. If its owner moves it, the next run uses the new
        place, or is refused. Who writes to it must have ended before a run.

        Args:
            name: the plane's; not of a scratch plane, whose place the memory plan chose.
            memory: an array in the backend's memory, of the plane's element type and extent, its elements one after
                the other. A GPU also takes an address, for which the caller vouches.

        Raises:
            ProblemsFound: CG744 with all reasons, CG702 for an unknown name.
        """

    def set_scalar(self, node: int, slot: str, value: float) -> None:
        """Changes a scalar of a command; the next run uses it.

        Args:
            node: the command's index.
            slot: the name of a natural or float slot of its image; `value` for a fill.
            value: an int for a natural. One on which sizes depend cannot change.

        Raises:
            ProblemsFound: CG744 with all reasons.
        """

    def close(self) -> None:
        """Frees what it holds, once or again. Nothing else may be called afterwards."""
