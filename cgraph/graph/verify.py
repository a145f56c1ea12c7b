"""Checks a built graph: whatever the checker of types could not know, because only a build has sizes and addresses.

Receives a graph; guarantees that a graph without errors reads nothing unwritten, overruns no plane, races with itself
nowhere, fills its results and asks only for launches that a device takes. Orders and memory are left to the schedule
and the memory plan.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import attrs

from cgraph.diagnostics import Problem
from cgraph.graph import rules_commands, rules_data
from cgraph.graph.hazards import Hazard, find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.graph.problems import CommandProblem
from cgraph.source import Source, Span

Rule: TypeAlias = Callable[[CommandGraph, Sequence[Hazard]], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    rules_commands.overruns,
    rules_commands.misaligned_parts,
    rules_commands.forbidden_aliases,
    rules_commands.copy_overlaps,
    rules_commands.grid_limits,
    rules_commands.block_limits,
    rules_commands.shared_memory_limits,
    rules_commands.natural_limits,
    rules_data.writes_to_given,
    rules_data.unwritten_reads,
    rules_data.incomplete_results,
    rules_data.dead_writes,
)
# Those that stop a graph; the others warn.
ERROR_RULES = tuple(rule for rule in RULES if rule is not rules_data.dead_writes)


def verify(
    graph: CommandGraph,
    hazards: Sequence[Hazard] | None = None,
    declared: Sequence[tuple[str, Span]] = (),
    root: Source | None = None,
    rules: Sequence[Rule] = RULES,
) -> tuple[Problem, ...]:
    """Every problem of the graph, errors and warnings, in the order of the commands; then those of planes.

    Args:
        graph: what the builder made.
        hazards: of this graph, where the caller has them already.
        declared: family name and span of the planes that should be used; one that is not is a warning.
        root: the user's own file. A problem of a command elsewhere is shown at the step in it that led there.
        rules: that are applied, of `RULES`.

    The same problem at several runs of one command (a loop, another call) is reported once, with a count.
    """
    if hazards is None:
        hazards = find_hazards(graph)
    problems = [_blame(problem, root) for rule in rules for problem in rule(graph, hazards)]
    problems += rules_data.unused_planes(graph, declared)
    last = len(graph.nodes)
    problems.sort(key=lambda problem: problem.node if isinstance(problem, CommandProblem) else last)
    return _without_repeats(problems)


def _blame(problem: Problem, root: Source | None) -> Problem:
    if root is None or not isinstance(problem, CommandProblem) or problem.origin.span.source is root:
        return problem
    step = problem.origin.innermost_in(root)
    return problem if step is None else attrs.evolve(problem, span=step.span)


def _without_repeats(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    kept: list[Problem] = []
    places: dict[object, int] = {}
    repeats: Counter[int] = Counter()
    for problem in problems:
        if isinstance(problem, CommandProblem):
            key = (problem.code, problem.span, problem.origin.span, problem.subject)
            place = places.setdefault(key, len(kept))
            if place < len(kept):
                repeats[place] += 1
                continue
        kept.append(problem)
    for place, count in repeats.items():
        problem = kept[place]
        if isinstance(problem, CommandProblem):
            kept[place] = attrs.evolve(problem, repeats=count)
    return tuple(kept)
