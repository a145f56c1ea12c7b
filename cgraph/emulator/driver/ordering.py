"""In which order the ready nodes of a graph run.

A device may run nodes without a path between them in any order. The emulated one takes them as they were added, or, to
bring missing edges to light, in an order drawn at random.
"""

import os
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from random import Random

from attrs import define, field

SEED_VARIABLE = "CGRAPH_EMULATED_ORDER_SEED"


def random_from_environment() -> Random | None:
    """Random choices with the seed in `SEED_VARIABLE`; None where it is not set or no number."""
    text = os.environ.get(SEED_VARIABLE, "")
    return Random(int(text)) if text.isdecimal() else None  # noqa: S311  (reproducible choices, nothing secret)


@define(eq=False)
class Ordering:
    """How nodes are chosen: at random where there is a `chooser`, else the one that was added first."""

    chooser: Random | None = field(factory=random_from_environment)

    def choose_at_random(self, seed: int) -> None:
        """From now on nodes run in random orders that follow from the seed."""
        self.chooser = Random(seed)  # noqa: S311  (reproducible choices, nothing secret)

    def choose_first(self) -> None:
        """From now on nodes run as they were added, as far as their edges allow."""
        self.chooser = None

    def order(self, predecessors: Sequence[Sequence[int]]) -> Iterator[int]:
        """The nodes, each after all that it waits for; those on a cycle and behind one are missing.

        Args:
            predecessors: for each node those that it waits for.
        """
        waiting = [len(direct) for direct in predecessors]
        successors: list[list[int]] = [[] for _ in predecessors]
        for node, direct in enumerate(predecessors):
            for before in direct:
                successors[before].append(node)
        ready = [(self._rank(node), node) for node, count in enumerate(waiting) if count == 0]
        heapify(ready)
        while ready:
            _, node = heappop(ready)
            yield node
            for after in successors[node]:
                waiting[after] -= 1
                if waiting[after] == 0:
                    heappush(ready, (self._rank(after), after))

    def _rank(self, node: int) -> float:
        return node if self.chooser is None else self.chooser.random()
