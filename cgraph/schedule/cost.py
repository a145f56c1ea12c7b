"""A simple model of what a command costs, and the longest path through a schedule by it.

Receives a graph and a schedule; guarantees an estimate good enough to compare commands and to find what bounds the
whole. It knows nothing of caches, of tiles that do not fill a device, or of commands that compete for it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from attrs import frozen

from cgraph.graph.model import CommandGraph, JoinNode, Node
from cgraph.schedule.model import Schedule
from cgraph.schedule.operations import node_operations


@frozen
class CostModel:
    """What a device can do at best.

    Args:
        overhead_us: of one graph node. bandwidth_bytes_per_us: of its memory. operations_per_us: of its products.
        device: which one, in words.

    The defaults are an H200: 4.3 TB/s in a copy and 790 TFLOP/s in bf16 products, both measured; 1.3 µs a node is a
    published figure for the H100.
    """

    overhead_us: float = 1.3
    bandwidth_bytes_per_us: float = 4.3e6
    operations_per_us: float = 790e6
    device: str = "H200, at its best"


class CriticalPath(NamedTuple):
    """The costliest chain of commands that wait for each other, first to last, and its cost in microseconds."""

    nodes: tuple[int, ...]
    cost_us: float


def node_cost_us(node: Node, model: CostModel | None = None) -> float:
    """The overhead, plus the longer of moving the node's bytes and doing its products' operations.

    Bytes that are accumulated move twice. Operations that are not known count as none. A join costs nothing.
    """
    if isinstance(node, JoinNode):
        return 0.0
    model = model or CostModel()
    move_us = sum(moved_bytes(node)) / model.bandwidth_bytes_per_us
    return model.overhead_us + max(move_us, (node_operations(node) or 0) / model.operations_per_us)


def moved_bytes(node: Node) -> tuple[int, int]:
    """Bytes that a node reads, and bytes that it writes; accumulated ones are both."""
    read_bytes = written_bytes = 0
    for access in node.accesses:
        size_bytes = access.stop - access.start
        read_bytes += size_bytes * access.mode.reads
        written_bytes += size_bytes * access.mode.writes
    return read_bytes, written_bytes


def critical_path(graph: CommandGraph, schedule: Schedule, model: CostModel | None = None) -> CriticalPath:
    """The costliest path of a schedule by a model. Of equal ones, that whose last nodes come first in the program."""
    model = model or CostModel()
    return longest_path(schedule, [node_cost_us(node, model) for node in graph.nodes])


def longest_path(schedule: Schedule, costs_us: Sequence[float]) -> CriticalPath:
    """The costliest path of a schedule by the cost of each node. Of equal ones, that whose last nodes come first."""
    if not costs_us:
        return CriticalPath((), 0.0)
    ends_us: list[float] = []
    slowest: list[int | None] = []
    barrier: tuple[tuple[int, ...], int | None] = ((), None)
    for direct, cost_us in zip(schedule.predecessors, costs_us, strict=True):
        if direct is not barrier[0]:
            barrier = (direct, max(direct, key=ends_us.__getitem__, default=None))
        before = barrier[1]
        slowest.append(before)
        ends_us.append((0.0 if before is None else ends_us[before]) + cost_us)
    last: int | None = max(range(len(ends_us)), key=ends_us.__getitem__)
    path = []
    longest_us = max(ends_us)
    while last is not None:
        path.append(last)
        last = slowest[last]
    return CriticalPath(tuple(reversed(path)), longest_us)


def levels(schedule: Schedule) -> tuple[int, ...]:
    """For each node the length, in edges, of the longest path that ends in it."""
    found: list[int] = []
    barrier: tuple[tuple[int, ...], int] = ((), 0)
    for direct in schedule.predecessors:
        if direct is not barrier[0]:
            barrier = (direct, max((found[before] + 1 for before in direct), default=0))
        found.append(barrier[1])
    return tuple(found)
