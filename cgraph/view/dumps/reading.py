"""From the text of a dump to a view: all steps in order.

Receives what cudaGraphDebugDotPrint, `debug_dump` of PyTorch, CuPy, MLX and HIP write, or any directed graph in DOT.
Guarantees a view that needs no further checks, with all that could be read, or a problem where there is nothing.
Nothing in a dump is executed or fetched. Time and memory are bounded by `limits`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from cgraph.core.collection import paused_collection
from cgraph.diagnostics import Problem
from cgraph.diagnostics.problem import Severity
from cgraph.diagnostics.report import arrange
from cgraph.source import Source
from cgraph.view.dumps.allocations import follow_memory
from cgraph.view.dumps.assembly import Kernels, edges_of, nodes_of, origins_of
from cgraph.view.dumps.commands import Command
from cgraph.view.dumps.expansion import Expansion, Placed, Run, expand, survey
from cgraph.view.dumps.generic import command_of, phases_of, text_of_label
from cgraph.view.dumps.labels import read_label
from cgraph.view.dumps.levels import Level, is_of_driver, level_of_all, levels_of_driver
from cgraph.view.dumps.limits import LONGEST_LABEL, MOST_PROBLEMS
from cgraph.view.dumps.model import DotGraph
from cgraph.view.dumps.problems_dumps import GraphInItself, MissingGraph, UnknownLabel
from cgraph.view.dumps.statements import read_statements
from cgraph.view.dumps.texts import clean_text
from cgraph.view.dumps.writers import writer_of
from cgraph.view.model import NoteSeverity, View, ViewNote, ViewSource

LONGEST_SOURCE = 2 * 1024 * 1024
"""Characters of a text that is shown beside the graph; a longer one would be most of a page that opens slowly."""


@frozen
class Reading:
    """A view of what could be read, and what is wrong with the text, by place; the view's notes tell the same."""

    view: View
    problems: tuple[Problem, ...]


def read_dump(content: str | bytes, name: str) -> View:
    """The view of a dump; what is wrong with its text stands in the notes.

    Args:
        content: a text in DOT, or its bytes: UTF-8, or UTF-16 with a byte-order mark.
        name: of the file, as a heading and for problems.

    Raises:
        ProblemsFound: CG890, it is no directed graph in DOT; CG891, it is too large.
    """
    return examine_dump(content, name).view


def examine_dump(content: str | bytes, name: str) -> Reading:
    """The view of a dump with the problems of its text. Raises as `read_dump`."""
    with paused_collection():
        return _examine(*clean_text(content, name), name)


def _examine(text: str, notes: list[ViewNote], name: str) -> Reading:
    source = Source(name, text)
    graph = read_statements(source)
    if is_of_driver(graph):
        commands = [read_label(node) for node in graph.nodes]
        made, problems = _place_driver(graph, commands)
        tool = writer_of(graph, commands)
    else:
        commands = [command_of(node) for node in graph.nodes]
        made, problems = _place_generic(graph)
        tool = "DOT of another tool"
        if graph.label:
            notes.append(ViewNote("note", text_of_label(graph.label, is_html=graph.is_html)))
    found = arrange(_few([*graph.problems, *problems]))
    is_shown = len(text) <= LONGEST_SOURCE
    if not is_shown:
        notes.append(ViewNote("note", "the text is too long to be shown beside the graph"))
    memory = follow_memory(
        [(number, commands[made.placed[number].node]) for number in made.sequence], is_whole=not graph.problems
    )
    kernels = Kernels()
    view = View(
        title=name,
        kind="dump",
        tool=tool,
        sources=(ViewSource(name, text),) if is_shown else (),
        origins=origins_of(graph) if is_shown else (),
        phases=tuple(made.phases),
        nodes=nodes_of(graph, commands, made, memory, kernels, with_origins=is_shown),
        kernels=tuple(kernels.found),
        planes=tuple(memory.planes),
        edges=edges_of(made),
        sequence=tuple(made.sequence),
        lifetimes=tuple(memory.lifetimes),
        notes=(*notes, *map(_note, found)),
    )
    return Reading(view, found)


def _place_driver(graph: DotGraph, commands: Sequence[Command]) -> tuple[Expansion, list[Problem]]:
    levels, problems = levels_of_driver(graph)
    runs, wrong = _runs(graph, commands, levels)
    found = survey(levels, runs)
    problems.extend(wrong)
    problems.extend(
        GraphInItself(graph.nodes[node].place, level.name, levels[target].name)
        for level in levels
        for node in level.nodes
        for target in dict.fromkeys(run.level for run in runs.get(node, ()))
        if target is not None and (node, target) in found.refused
    )
    problems.extend(
        UnknownLabel(node.place, command.doubt)
        for node, command in zip(graph.nodes, commands, strict=True)
        if command.doubt is not None and node.is_declared
    )
    return expand(levels, runs, found), problems


def _runs(
    graph: DotGraph, commands: Sequence[Command], levels: Sequence[Level]
) -> tuple[Mapping[int, Sequence[Run]], list[Problem]]:
    """Which levels each node of the text runs, and references to graphs that it does not hold."""
    numbers = {level.name: number for number, level in enumerate(levels)}
    runs: dict[int, Sequence[Run]] = {}
    problems: list[Problem] = []
    for level in levels:
        for node in level.nodes:
            if commands[node].graphs:
                runs[node] = list(_runs_of(commands[node], numbers))
                missing = (run.graph for run in runs[node] if run.level is None)
                problems.extend(MissingGraph(graph.nodes[node].place, name[:LONGEST_LABEL]) for name in missing)
    return runs, problems


def _runs_of(command: Command, numbers: Mapping[str, int]) -> Iterable[Run]:
    for place, (choice, name) in enumerate(command.graphs):
        if command.kind == "conditional":
            title = f"{command.label.removeprefix('conditional ')}, branch {choice or place}"
            yield Run(numbers.get(name), name, title, title, "body")
        else:
            yield Run(numbers.get(name), name, "child graph", "child graph", "child")


def _place_generic(graph: DotGraph) -> tuple[Expansion, list[Problem]]:
    level, problems = level_of_all(graph)
    return (
        Expansion(
            [Placed(number, node.box) for number, node in enumerate(graph.nodes)],
            phases_of(graph),
            [(link.before, link.after, link.edge) for link in level.links],
            level.sequence,
        ),
        problems,
    )


def _few(problems: Iterable[Problem]) -> Iterable[Problem]:
    """Not more of one kind than anyone will read."""
    counts: Counter[str] = Counter()
    for problem in problems:
        counts[problem.code] += 1
        if counts[problem.code] <= MOST_PROBLEMS:
            yield problem


def _note(problem: Problem) -> ViewNote:
    label = problem.render_label()
    text = f"{problem.render_title()}: {label}" if label else problem.render_title()
    severity: NoteSeverity = "error" if problem.severity is Severity.ERROR else "warning"
    return ViewNote(severity, text, line=None if problem.span is None else problem.span.line)
