"""Sums over commands: how many, what they move and compute, how long they take.

Guarantees that what is not known of any command stays unknown, and that what is known of some is the sum of those.
"""

from collections.abc import Iterable

from attrs import frozen

from cgraph.view.model import View, ViewNode


@frozen
class Totals:
    """Sums over some commands.

    Args:
        read_bytes, written_bytes, operations: as those of a node. cost_us: estimated. elapsed_ms: measured.
    """

    commands: int = 0
    read_bytes: int | None = None
    written_bytes: int | None = None
    operations: int | None = None
    cost_us: float | None = None
    elapsed_ms: float | None = None

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.commands + other.commands,
            _sum(self.read_bytes, other.read_bytes),
            _sum(self.written_bytes, other.written_bytes),
            _sum(self.operations, other.operations),
            _float_sum(self.cost_us, other.cost_us),
            _float_sum(self.elapsed_ms, other.elapsed_ms),
        )

    def time_us(self, *, timed: bool) -> float | None:
        """The measured time, or the estimate."""
        if not timed:
            return self.cost_us
        return None if self.elapsed_ms is None else 1e3 * self.elapsed_ms

    def share_of(self, whole: "Totals", *, timed: bool) -> float | None:
        """The part of the whole's time, between 0 and 1; None where a time is not known, or the whole takes none."""
        mine, all_us = self.time_us(timed=timed), whole.time_us(timed=timed)
        return None if mine is None or not all_us else mine / all_us


def is_barrier(node: ViewNode) -> bool:
    """Whether a node only stands for edges, so that it is no command of the graph."""
    return "barrier" in node.flags


def command_count(view: View) -> int:
    """How many commands a graph has."""
    return sum(not is_barrier(node) for node in view.nodes)


def totals_of_node(node: ViewNode) -> Totals:
    """The sums of one command."""
    if is_barrier(node):
        return Totals()
    return Totals(1, node.read_bytes, node.written_bytes, node.operations, node.cost_us, node.elapsed_ms)


def totals_of(view: View, nodes: Iterable[int]) -> Totals:
    """The sums of some nodes, given by index."""
    return sum((totals_of_node(view.nodes[node]) for node in nodes), Totals())


def _sum(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second


def _float_sum(first: float | None, second: float | None) -> float | None:
    return second if first is None else first if second is None else first + second
