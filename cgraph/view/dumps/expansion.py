"""Graphs inside the commands that run them: child graphs, and bodies of conditional commands.

Receives the graphs of a driver's dump, which stand beside each other there, and which command runs which by name.
Guarantees that each command of the text is placed at least once, boxes nested without a circle, and one legal order of
all. A graph that several commands run is drawn for each, up to a bound; then a box says where it is.
"""

from collections.abc import Iterator, Mapping, Sequence

from attrs import define, field, frozen

from cgraph.view.dumps import limits
from cgraph.view.dumps.levels import Level
from cgraph.view.model import PhaseKind, ViewPhase


@frozen
class Run:
    """A command runs a graph: index of its level, None for a graph that the text does not hold.

    Args:
        graph: its name in the text.
        name, title: of the box, without the number that a process gives to the graph.
    """

    level: int | None
    graph: str
    name: str
    title: str
    kind: PhaseKind


@define
class Placed:
    """A command at one of its places: index of its node in the text, the box, and the boxes that it runs."""

    node: int
    phase: int | None
    body: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()


@define
class Expansion:
    """All places of commands, boxes, edges (two places and the edge's index in the text), and an order."""

    placed: list[Placed] = field(factory=list)
    phases: list[ViewPhase] = field(factory=list)
    links: list[tuple[int, int, int]] = field(factory=list)
    sequence: list[int] = field(factory=list)


@frozen
class Survey:
    """How graphs run each other.

    Args:
        roots: levels that nothing runs, or one of each circle of which nothing outside runs any.
        refused: a node and the level that it would run inside itself.
        sizes: commands, edges and boxes of a level with all that it runs.
    """

    roots: tuple[int, ...]
    refused: frozenset[tuple[int, int]]
    sizes: Sequence[int]


def survey(levels: Sequence[Level], runs: Mapping[int, Sequence[Run]]) -> Survey:
    """Finds roots and circles, going through each level once.

    Args:
        levels: all graphs.
        runs: for each node of the text that runs graphs, which.
    """
    inner = [list(_inner(level, runs)) for level in levels]
    known = {target for targets in inner for _, target in targets}
    first = [number for number in range(len(levels)) if number not in known]
    roots, refused = [], set()
    state = [0] * len(levels)
    sizes = [len(level.nodes) + len(level.links) + 1 for level in levels]
    for start in (*first, *range(len(levels))):
        if state[start]:
            continue
        roots.append(start)
        state[start] = 1
        pending = [(start, iter(inner[start]))]
        while pending:
            number, targets = pending[-1]
            node, target = next(targets, (None, None))
            if node is None or target is None:
                state[number] = 2
                pending.pop()
                allowed = (goal for goer, goal in inner[number] if (goer, goal) not in refused)
                sizes[number] += sum(sizes[goal] for goal in allowed)
            elif state[target] == 1:
                refused.add((node, target))
            elif not state[target]:
                state[target] = 1
                pending.append((target, iter(inner[target])))
    return Survey(tuple(roots), frozenset(refused), sizes)


def expand(levels: Sequence[Level], runs: Mapping[int, Sequence[Run]], found: Survey) -> Expansion:
    """Places every graph; see the module."""
    work = _Expander(levels, runs, found)
    for root in found.roots:
        phase = None
        if len(found.roots) > 1:
            phase = len(work.made.phases)
            work.made.phases.append(ViewPhase(levels[root].name, levels[root].name, None, "graph"))
        work.place(root, phase)
    return work.made


@frozen
class _Frame:
    """A level that is being placed: the number of its first command, its places that are left, its box and depth."""

    level: int
    start: int
    places: Iterator[int]
    phase: int | None
    depth: int
    is_repeated: bool


@define
class _Expander:
    levels: Sequence[Level]
    runs: Mapping[int, Sequence[Run]]
    found: Survey
    made: Expansion = field(factory=Expansion)
    seen: set[int] = field(factory=set)
    repeated: int = 0

    def place(self, root: int, phase: int | None) -> None:
        """Places a level and all that it runs; the order has what a command runs right behind it."""
        frames = [self._frame(root, phase, 0, is_repeated=False)]
        while frames:
            frame = frames[-1]
            place = next(frame.places, None)
            if place is None:
                frames.pop()
                continue
            number = frame.start + place
            self.made.sequence.append(number)
            frames.extend(reversed(list(self._bodies(number, frame))))

    def _frame(self, number: int, phase: int | None, depth: int, *, is_repeated: bool) -> _Frame:
        """Makes the commands and edges of a level."""
        level = self.levels[number]
        self.seen.add(number)
        start = len(self.made.placed)
        self.made.placed.extend(Placed(node, phase) for node in level.nodes)
        self.made.links.extend((start + link.before, start + link.after, link.edge) for link in level.links)
        return _Frame(number, start, iter(level.sequence), phase, depth, is_repeated)

    def _bodies(self, number: int, frame: _Frame) -> Iterator[_Frame]:
        """The levels that a command runs, with a box each; what cannot be placed is a flag on the command."""
        placed = self.made.placed[number]
        boxes, flags = [], []
        for run in self.runs.get(placed.node, ()):
            if run.level is None:
                flags.append(f"{run.graph} is missing")
                continue
            if (placed.node, run.level) in self.found.refused:
                flags.append(f"runs {run.graph} in a circle")
                continue
            box = len(self.made.phases)
            boxes.append(box)
            is_repeated = frame.is_repeated or run.level in self.seen
            is_drawn = frame.is_repeated or not is_repeated or self._is_affordable(run.level)
            note = f"{run.graph} in the dump" if is_drawn else f"{run.graph}, drawn where it is run first"
            is_deep = frame.depth >= limits.DEEPEST_NESTING
            parent = None if is_deep else frame.phase
            self.made.phases.append(ViewPhase(run.name, run.title, parent, run.kind, note))
            if is_drawn:
                yield self._frame(run.level, box, 1 if is_deep else frame.depth + 1, is_repeated=is_repeated)
        placed.body, placed.flags = tuple(boxes), tuple(flags)

    def _is_affordable(self, level: int) -> bool:
        """Whether a graph may be drawn once more; if so, it is counted."""
        if self.repeated + self.found.sizes[level] > limits.MOST_REPEATED:
            return False
        self.repeated += self.found.sizes[level]
        return True


def _inner(level: Level, runs: Mapping[int, Sequence[Run]]) -> Iterator[tuple[int, int]]:
    """Nodes of a level and the levels that they run."""
    for node in level.nodes:
        yield from ((node, run.level) for run in runs.get(node, ()) if run.level is not None)
