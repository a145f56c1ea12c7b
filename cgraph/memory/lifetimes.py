"""When scratch planes are in use, on the partial order of a schedule.

Receives a graph and its schedule; guarantees that two planes without a conflict have every use of one before every use
of the other in that order, so they may share bytes whichever order the device picks. Where planes go is left to the
placement.

Cost: with p planes, n nodes and e ends of lifetimes, one sweep over the schedule for each `BLOCK_MARKS` ends, on ints
of one bit per end; then p² bits for the conflicts, and for each of the p planes a few NumPy calls on p bits.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph
from cgraph.memory.bitsets import packed, transposed, unpacked
from cgraph.memory.reach import BLOCK_MARKS, Step, marks_before
from cgraph.schedule.model import Order, Schedule


@frozen(eq=False)
class Lifetime:
    """The uses of one scratch plane.

    Args:
        plane: its index in the graph.
        uses: the nodes that touch it, ascending.
        starts: uses that include every use with none before it; each use comes after, or is, one of them.
        ends: uses that include every use with none after it; each use comes before, or is, one of them.
    """

    plane: int
    uses: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def find_lifetimes(graph: CommandGraph, schedule: Schedule) -> list[Lifetime]:
    """The lifetimes of all scratch planes that hold a byte and that some node touches, in the order of the planes."""
    uses: defaultdict[int, list[int]] = defaultdict(list)
    scratch = [plane.role is Role.SCRATCH and plane.size_bytes > 0 for plane in graph.planes]
    for node in graph.nodes:
        for plane in {access.plane for access in node.accesses if scratch[access.plane]}:
            uses[plane].append(node.index)
    if schedule.order is Order.SERIAL:
        return [Lifetime(plane, tuple(nodes), (nodes[0],), (nodes[-1],)) for plane, nodes in sorted(uses.items())]
    not_first: defaultdict[int, set[int]] = defaultdict(set)
    not_last: defaultdict[int, set[int]] = defaultdict(set)
    for hazard in schedule.hazards:
        if scratch[hazard.plane]:
            not_first[hazard.plane].add(hazard.after)
            not_last[hazard.plane].add(hazard.before)
    return [
        Lifetime(
            plane,
            tuple(nodes),
            tuple(node for node in nodes if node not in not_first[plane]),
            tuple(node for node in nodes if node not in not_last[plane]),
        )
        for plane, nodes in sorted(uses.items())
    ]


def find_conflicts(lifetimes: Sequence[Lifetime], steps: Sequence[Step]) -> list[int]:
    """For each lifetime, as bits, the other ones that may be in use at the same time."""
    count = len(lifetimes)
    before = _surely_before(lifetimes, steps)
    after = transposed(before)
    everything = (1 << count) - 1
    return [everything ^ (before[place] | after[place] | 1 << place) for place in range(count)]


def largest_together_bytes(lifetimes: Sequence[Lifetime], sizes_bytes: Sequence[int], conflicts: Sequence[int]) -> int:
    """The total size of planes that conflict pairwise: no plan is smaller. The larger of two such sets.

    Planes in use at the same place of the program order conflict in any schedule, because program order is one that
    every schedule allows; the largest set of these, extended greedily, is the first. The second is greedy from the
    start. Under a serial schedule the first is what is live at once, and exact for that.
    """
    changes: defaultdict[int, int] = defaultdict(int)
    for lifetime, size_bytes in zip(lifetimes, sizes_bytes, strict=True):
        changes[lifetime.uses[0]] += size_bytes
        changes[lifetime.uses[-1] + 1] -= size_bytes
    live_bytes, most_bytes, fullest = 0, 0, 0
    for node in sorted(changes):
        live_bytes += changes[node]
        if live_bytes > most_bytes:
            most_bytes, fullest = live_bytes, node
    live = [place for place, lifetime in enumerate(lifetimes) if lifetime.uses[0] <= fullest <= lifetime.uses[-1]]
    return max(_extended_bytes(live, sizes_bytes, conflicts), _extended_bytes([], sizes_bytes, conflicts))


def _extended_bytes(together: Sequence[int], sizes_bytes: Sequence[int], conflicts: Sequence[int]) -> int:
    """The total size of some planes that conflict pairwise and of all that fit in with them, the largest first."""
    allowed = (1 << len(sizes_bytes)) - 1
    total_bytes = 0
    by_size = sorted(range(len(sizes_bytes)), key=lambda place: -sizes_bytes[place])
    for place in (*together, *by_size):
        if allowed >> place & 1:
            total_bytes += sizes_bytes[place]
            allowed &= conflicts[place]
    return total_bytes


def _surely_before(lifetimes: Sequence[Lifetime], steps: Sequence[Step]) -> list[int]:
    """For each lifetime, as bits, those whose every use comes before its every use."""
    ends = [(place, node) for place, lifetime in enumerate(lifetimes) for node in lifetime.ends]
    before = [(1 << len(lifetimes)) - 1] * len(lifetimes)
    for first in range(0, len(ends), BLOCK_MARKS):
        block = ends[first : first + BLOCK_MARKS]
        marks: defaultdict[int, int] = defaultdict(int)
        for bit, (_, node) in enumerate(block):
            marks[node] |= 1 << bit
        base, last = block[0][0], block[-1][0]
        first_bits = np.searchsorted([place for place, _ in block], range(base, last + 1))
        within = ((1 << (last + 1 - base)) - 1) << base
        reached = marks_before(steps, marks)
        for place, lifetime in enumerate(lifetimes):
            ended = (1 << len(block)) - 1
            for node in lifetime.starts:
                ended &= reached[node]
            all_ended = np.minimum.reduceat(unpacked(ended, len(block)), first_bits)
            before[place] &= ~within | packed(all_ended) << base
    return before
