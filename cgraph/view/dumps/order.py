"""A legal order of commands, near to the one that they are listed in.

Receives numbers of commands and who waits for whom; guarantees each once, behind all that it waits for. Where they wait
in a circle, dependencies are left out until none is left, and reported.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from attrs import field, frozen

MOST_CIRCLES = 10


@frozen
class Ordered:
    """An order, and what was left out for it.

    Args:
        sequence: each number once.
        dropped: indices of dependencies.
        circles: some of them, each with the commands of a circle that it closes, first to last.
    """

    sequence: list[int]
    dropped: set[int] = field(factory=set)
    circles: list[tuple[int, tuple[int, ...]]] = field(factory=list)


def ordered(count: int, edges: Sequence[tuple[int, int]]) -> Ordered:
    """The numbers below `count`, the smallest first of those that are ready."""
    work = _Work(edges, count)
    smallest = 0
    while True:
        work.take_ready()
        while smallest < count and work.done[smallest]:
            smallest += 1
        if smallest == count:
            return work.found
        held = [number for number in work.entering[smallest] if work.is_held(number)]
        if len(work.found.circles) < MOST_CIRCLES:
            circle = work.circle(smallest)
            held = circle[:1]
            work.found.circles.append((circle[0], tuple(edges[number][1] for number in reversed(circle))))
        for number in held:
            work.found.dropped.add(number)
            work.release(number)


class _Work:
    """What is done, what is ready, and how much each command still waits for."""

    def __init__(self, edges: Sequence[tuple[int, int]], count: int) -> None:
        self.edges = edges
        self.found = Ordered([])
        self.leaving: list[list[int]] = [[] for _ in range(count)]
        self.entering: list[list[int]] = [[] for _ in range(count)]
        for number, (before, after) in enumerate(edges):
            self.leaving[before].append(number)
            self.entering[after].append(number)
        self.waiting = [len(numbers) for numbers in self.entering]
        self.done = [False] * count
        self.ready = [node for node in range(count) if not self.waiting[node]]

    def take_ready(self) -> None:
        while self.ready:
            node = heappop(self.ready)
            self.done[node] = True
            self.found.sequence.append(node)
            for number in self.leaving[node]:
                if number not in self.found.dropped:
                    self.release(number)

    def release(self, number: int) -> None:
        after = self.edges[number][1]
        self.waiting[after] -= 1
        if not self.waiting[after]:
            heappush(self.ready, after)

    def is_held(self, number: int) -> bool:
        """Whether a dependency still keeps its end from being ready."""
        return not self.done[self.edges[number][0]] and number not in self.found.dropped

    def circle(self, start: int) -> list[int]:
        """Dependencies of a circle that `start` waits for, backwards from one into the circle's smallest command."""
        way: list[int] = []
        seen = {start: 0}
        node = start
        while True:
            number = next(number for number in self.entering[node] if self.is_held(number))
            way.append(number)
            node = self.edges[number][0]
            if node in seen:
                circle = way[seen[node] :]
                first = min(range(len(circle)), key=lambda place: self.edges[circle[place]][1])
                return circle[first:] + circle[:first]
            seen[node] = len(way)
