"""Transitive reduction of an acyclic graph whose nodes are numbered in a topological order.

Receives each node's predecessors; guarantees the least set of edges with the same paths, which for an acyclic graph
is unique. The meaning of an edge is left to the caller.

Method: an edge u → v goes if another predecessor of v can be reached from u. Sources u are taken in blocks: one sweep
over the nodes after a block carries, as the bits of an int, which of the block's sources reach each node. A sweep ends
at the last edge that could go, and a block without such an edge has none, so a chain costs nothing and edges that
stay near cost little. At worst every block sweeps over all later nodes: (edges × nodes / `BLOCK_SOURCES`) operations on
ints of 1 KiB, each about 0.1 µs, and 1 KiB for each node that a sweep reaches.
"""

from collections.abc import Sequence

BLOCK_SOURCES = 8192


def transitive_reduction(
    predecessors: Sequence[tuple[int, ...]], block_sources: int = BLOCK_SOURCES
) -> list[tuple[int, ...]]:
    """The predecessors of each node without those that another predecessor implies.

    Args:
        predecessors: for each node, distinct nodes with smaller numbers, ascending.
        block_sources: sources in one sweep; any size gives the same result.
    """
    redundant: dict[int, set[int]] = {}
    last_tests = _last_tests(predecessors, block_sources)
    for block, last in enumerate(last_tests):
        first = block * block_sources
        if last > first:
            _sweep(predecessors, range(first, first + block_sources), last, redundant)
    return [
        tuple(u for u in direct if u not in redundant[node]) if node in redundant else direct
        for node, direct in enumerate(predecessors)
    ]


def _last_tests(predecessors: Sequence[tuple[int, ...]], block_sources: int) -> list[int]:
    """For each block of sources, the last node with an edge from it that another predecessor may imply."""
    last = [-1] * (len(predecessors) // block_sources + 1)
    for node, direct in enumerate(predecessors):
        for u in direct[:-1]:  # nothing can stand between a node and the last of its predecessors
            last[u // block_sources] = node
    return last


def _sweep(predecessors: Sequence[tuple[int, ...]], sources: range, last: int, redundant: dict[int, set[int]]) -> None:
    """Find the edges from these sources that other paths imply, up to the node `last`."""
    first = sources.start
    reached = [0] * (last + 1 - first)  # bit u - first: u reaches the node, and is not the node
    for node in range(first + 1, last + 1):
        bits = 0
        own = 0
        for u in predecessors[node]:
            if u >= first:
                bits |= reached[u - first]
                if u < sources.stop:
                    own |= 1 << (u - first)
        implied = bits & own
        if implied:
            gone = redundant.setdefault(node, set())
            gone.update(u for u in predecessors[node] if u in sources and implied >> (u - first) & 1)
        reached[node - first] = bits | own
