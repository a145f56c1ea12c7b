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
