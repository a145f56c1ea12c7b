"""What an emulated device found in a run: faults, and what a real device would have carried on with.

Receives the device's reports; guarantees that a run with reports is no success, and that the commands are named whose
kernels they are about. A real device reports nothing but results.
"""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from cgraph.backends.commands import describe
from cgraph.backends.cuda.calls import Explanation, no_explanation
from cgraph.backends.cuda.pieces import Piece
from cgraph.backends.problems_devices import CommandAtFault
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph


def _nobody() -> list[tuple[int, int]]:
    return []


def _nothing() -> int:
    return 0


@define(eq=False)
class Watch:
    """Takes the device's reports.

    Args:
        take: the problems found since the last time. found: how many there are to take.
        take_culprits: the graph nodes that they are about, by handle, and how many problems each had.
    """

    take: Explanation = no_explanation
    found: Callable[[], int] = _nothing
    take_culprits: Callable[[], list[tuple[int, int]]] = _nobody
    _commands: dict[int, int] = field(factory=dict)
    _seen: int = 0

    def begin(self) -> None:
        """Before a run: what was found earlier is none of its."""
        self.take_culprits()
        self._commands.clear()
        self._seen = self.found()

    def note(self, index: int) -> None:
        """After a command that ran alone: what is new is about it."""
        found = self.found()
        if found > self._seen:
            self._commands[index] = found - self._seen
        self._seen = found

    def blame(self, graph: CommandGraph, pieces: Sequence[Sequence[tuple[Piece, Any]]]) -> list[Problem]:
        """One problem for each command at fault, in program order."""
        commands = dict(self._commands)
        counts = dict(self.take_culprits())
        if counts:
            owners = {int(handle): index for index, pairs in enumerate(pieces) for _, handle in pairs}
            for handle, count in counts.items():
                commands[owners[handle]] = commands.get(owners[handle], 0) + count
        return [
            CommandAtFault(node.origin.span, describe(node), commands[node.index], node.origin)
            for node in graph.nodes
            if node.index in commands
        ]

    def check(self, graph: CommandGraph, pieces: Sequence[Sequence[tuple[Piece, Any]]]) -> None:
        """After a run. Raises ProblemsFound where there are reports."""
        problems = self.take()
        if problems:
            raise ProblemsFound([*problems, *self.blame(graph, pieces)])
