"""A simple model of what a command costs, and the longest path through a schedule by it.

Receives a graph and a schedule; guarantees an estimate good enough to compare commands and to find what bounds the
whole. It knows nothing of caches, of tiles that do not fill a device, or of commands that compete for it.
"""

from typing import NamedTuple

from attrs import frozen

from cgraph.graph.model import CommandGraph, JoinNode, LaunchNode, Node
from cgraph.schedule.model import Schedule


@frozen
class CostModel:
    """What a device can do at best.

    Args:
        overhead_us: of one graph node. bandwidth_bytes_per_us: of its memory. operations_per_us: of its products.

    The defaults are an H200: 4.3 TB/s in a copy and 790 TFLOP/s in bf16 products, both measured; 1.3 µs a node is a
    published figure for the H100.
    """

    overhead_us: float = 1.3
    bandwidth_bytes_per_us: float = 4.3e6
    operations_per_us: float = 790e6


class CriticalPath(NamedTuple):
    """The costliest chain of commands that wait for each other, first to last, and its cost in microseconds."""

    nodes: tuple[int, ...]
    cost_us: float


def node_cost_us(node: Node, model: CostModel | None = None) -> float:
    """The overhead, plus the longer of moving the node's bytes and doing its products' operations.

    Bytes that are accumulated move twice. A launch with naturals called m, n and k counts as a product of 2·m·n·k
    operations. A join costs nothing.
    """
    if isinstance(node, JoinNode):
        return 0.0
    model = model or CostModel()
    moved_bytes = 0
    for access in node.accesses:
        moved_bytes += (access.stop - access.start) * (access.mode.reads + access.mode.writes)
    move_us = moved_bytes / model.bandwidth_bytes_per_us
    return model.overhead_us + max(move_us, _operations(node) / model.operations_per_us)


def critical_path(graph: CommandGraph, schedule: Schedule, model: CostModel | None = None) -> CriticalPath:
    """The costliest path of a schedule. Of equal ones, that whose last nodes come first in the program."""
    if not graph.nodes:
        return CriticalPath((), 0.0)
    model = model or CostModel()
    ends_us: list[float] = []
    slowest: list[int | None] = []
    barrier: tuple[tuple[int, ...], int | None] = ((), None)
    for node in graph.nodes:
        direct = schedule.predecessors[node.index]
        if direct is not barrier[0]:
            barrier = (direct, max(direct, key=ends_us.__getitem__, default=None))
        before = barrier[1]
        slowest.append(before)
        ends_us.append((0.0 if before is None else ends_us[before]) + node_cost_us(node, model))
    last: int | None = max(range(len(ends_us)), key=ends_us.__getitem__)
    path = []
    cost_us = max(ends_us)
    while last is not None:
        path.append(last)
        last = slowest[last]
    return CriticalPath(tuple(reversed(path)), cost_us)


def levels(schedule: Schedule) -> tuple[int, ...]:
    """For each node the length, in edges, of the longest path that ends in it."""
    found: list[int] = []
    barrier: tuple[tuple[int, ...], int] = ((), 0)
    for direct in schedule.predecessors:
        if direct is not barrier[0]:
            barrier = (direct, max((found[before] + 1 for before in direct), default=0))
        found.append(barrier[1])
    return tuple(found)


def _operations(node: Node) -> int:
    if not isinstance(node, LaunchNode):
        return 0
    slots = node.image.signature.slots
    sizes = {slot.name: value for slot, value in zip(slots, node.arguments, strict=True) if isinstance(value, int)}
    if not {"m", "n", "k"} <= sizes.keys():
        return 0
    return 2 * sizes["m"] * sizes["n"] * sizes["k"]
