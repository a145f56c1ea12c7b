"""What a bundle may ask of whoever loads it: work and memory in proportion to the file.

Receives graphs from anywhere; guarantees that the analyses of a graph that was let through (hazards, schedule,
lifetimes) stay within a few gigabytes and seconds, far beyond what programs need. Graphs of a few commands can have a
quadratic number of hazards, or planes whose lifetimes are compared pairwise.
"""

from collections import defaultdict

import numpy as np

from cgraph.capture.codec.fields import FieldError
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph

MOST_SCRATCH = 32_768  # planes in the arena: lifetimes are compared pairwise, as bits
MOST_PIECES = 4_000_000  # parts of planes, cut wherever an access begins or ends, over all accesses


def check_effort(graph: CommandGraph, place: str) -> None:
    """Raises FieldError for a graph whose analysis is out of proportion."""
    scratch = sum(plane.role is Role.SCRATCH for plane in graph.planes)
    if scratch > MOST_SCRATCH:
        raise FieldError(f"{place}.planes", f"at most {MOST_SCRATCH} scratch planes", str(scratch))
    found = _pieces(graph)
    if found > MOST_PIECES:
        raise FieldError(f"{place}.nodes", f"accesses of at most {MOST_PIECES} pieces of planes", str(found))


def _pieces(graph: CommandGraph) -> int:
    """How many pieces all accesses touch; as many hazards there are at most, times a small factor."""
    ranges: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    counts: defaultdict[int, int] = defaultdict(int)
    for node in graph.nodes:
        for access in node.accesses:
            ranges[access.plane].add((access.start, access.stop))
            counts[access.plane] += 1
    rough = sum(counts[plane] * 2 * len(parts) for plane, parts in ranges.items())
    return rough if rough <= MOST_PIECES else _exact_pieces(graph)


def _exact_pieces(graph: CommandGraph) -> int:
    parts: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for node in graph.nodes:
        for access in node.accesses:
            parts[access.plane].append((access.start, access.stop))
    total = 0
    for of_plane in parts.values():
        ends = np.array(of_plane, np.uint64)
        points = np.unique(ends)
        total += int(np.diff(np.searchsorted(points, ends), axis=1).sum())
    return total
