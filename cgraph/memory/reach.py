"""Which marks lie before each node of a schedule.

Receives a schedule and, for some nodes, marks as the bits of an int; guarantees the union of the marks over all
ancestors in one sweep. What a mark stands for is left to the caller, who keeps their number small enough for one int
per node (`BLOCK_MARKS`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cgraph.schedule.model import Schedule

BLOCK_MARKS = 8192

Step: TypeAlias = tuple[int, tuple[int, ...]]


def reach_steps(schedule: Schedule) -> list[Step]:
    """(place, places before it), in topological order; the places of nodes are their indices.

    Predecessors that several nodes share (a barrier) get a place of their own, after those of the nodes, so that a
    barrier between a nodes and b nodes takes a + b steps and not a · b.
    """
    users = Counter(id(direct) for direct in schedule.predecessors if len(direct) > 1)
    barriers: dict[int, int] = {}
    steps: list[Step] = []
    for node in schedule.sequence:
        direct = schedule.predecessors[node]
        if len(direct) > 1 and users[id(direct)] > 1:
            if id(direct) not in barriers:
                barriers[id(direct)] = len(schedule.sequence) + len(barriers)
                steps.append((barriers[id(direct)], direct))
            direct = (barriers[id(direct)],)
        steps.append((node, direct))
    return steps


def marks_before(steps: Sequence[Step], marks: Mapping[int, int]) -> list[int]:
    """For each place the marks of all places before it, without its own."""
    found = [0] * len(steps)
    for place, direct in steps:
        bits = 0
        for before in direct:
            bits |= found[before] | marks.get(before, 0)
        found[place] = bits
    return found
