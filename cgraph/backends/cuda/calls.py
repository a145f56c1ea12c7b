"""Driver calls, each checked.

Receives a function of cuda.bindings.driver and its arguments; guarantees that a result other than success is a
`ProblemsFound` which names the call, the driver's own error and, where there is one, the command.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen
from cuda.bindings import driver as cu

from cgraph.backends.commands import describe
from cgraph.backends.problems_devices import DriverCallFailed
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Node

Explanation: TypeAlias = Callable[[], tuple[Problem, ...]]


def no_explanation() -> tuple[Problem, ...]:
    """A device that says no more than the result."""
    return ()


@frozen(eq=False)
class Calls:
    """Makes driver calls.

    Args:
        explain: what the device itself has to say about a failure; an emulated one knows the line and the thread.
    """

    explain: Explanation = no_explanation

    def __call__(self, function: Callable[..., tuple[Any, ...]], *arguments: Any, node: Node | None = None) -> Any:
        """Makes a call.

        Args:
            function: of cuda.bindings.driver.
            arguments: as that takes them.
            node: the command for which the call is made.

        Returns:
            The value that the call gives, a tuple of several, or None.

        Raises:
            ProblemsFound: CG742, behind what the device has to say about it.
        """
        result, *values = function(*arguments)
        if result != cu.CUresult.CUDA_SUCCESS:
            raise ProblemsFound([*self.explain(), failure(function.__name__, result, node)])
        return values[0] if len(values) == 1 else tuple(values) or None


def failure(call: str, result: Any, node: Node | None = None) -> DriverCallFailed:
    """The problem of a call that failed, in the driver's words."""
    name, text = _said(cu.cuGetErrorName(result)), _said(cu.cuGetErrorString(result))
    if node is None:
        return DriverCallFailed(None, call, name, text)
    return DriverCallFailed(node.origin.span, call, name, text, describe(node), node.origin)


def _said(answer: tuple[Any, ...]) -> str:
    result, text = answer
    return text.decode() if result == cu.CUresult.CUDA_SUCCESS and text is not None else "unknown error"
