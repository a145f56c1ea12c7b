"""Reads whatever `cgraph view` can show: a program, a bundle, a dump of another tool or a view.

Receives a path; guarantees a view, or problems. What a file is follows from its name, else from how it begins.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from cgraph.backends.host_rates import measure_host
from cgraph.capture.container import MAGIC
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.cli.options import read_source, report_problems
from cgraph.cli.run import fill, measure
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph
from cgraph.memory.model import MemoryPlan
from cgraph.models.inputs import Arrays
from cgraph.models.random_planes import random_planes
from cgraph.pipeline import Compiled, compile_program, lower
from cgraph.schedule.model import Order, Schedule
from cgraph.syntax.problems import UnreadableFile
from cgraph.view.bundles import view_of_bundle
from cgraph.view.data import read_view
from cgraph.view.dumps import examine_dump
from cgraph.view.dumps.limits import MOST_BYTES
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View, ViewNote
from cgraph.view.problems import NotRunnable, NotViewable

PROGRAM, BUNDLE, VIEW, DUMP = "program", "bundle", "view", "dump"
SNIFFED_BYTES = 64
TIMED_RUNS = 5
_BEGINNING_OF_DOT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:strict\s+)?digraph\b", re.IGNORECASE)
_SUFFIXES = {".cg": PROGRAM, ".cgb": BUNDLE, ".json": VIEW, ".dot": DUMP, ".gv": DUMP}


@frozen
class Settings:
    """How a program is built, and whether its run is measured."""

    parameters: Mapping[str, int | float] = field(repr=False)
    entry: str | None
    half: Element
    order: Order
    timed: bool = False
    seed: int = 0


def read_viewable(file: str, settings: Settings) -> View:
    """The view of what is in a file; `-` is a program on standard input.

    Raises:
        ProblemsFound: those of the stages that the file goes through; CG880 for a file of no known kind, CG884 for one
            that cannot be run where it shall be timed. What is wrong with parts of a dump is printed, and the rest of
            it is the view.
    """
    kind = kind_of(file)
    title = Path(file).name
    if kind == PROGRAM:
        return view_of_program(compile_viewable(file, settings), file, settings)
    if kind == BUNDLE:
        bundle = load_bundle(Path(file))
        if not settings.timed:
            return view_of_bundle(bundle, title)
        if not isinstance(bundle, Bundle):
            raise ProblemsFound([NotRunnable(None, file)])
        planes = {**random_planes((bundle.graph,), settings.seed), **bundle.data}
        return view_of_bundle(
            bundle,
            title,
            elapsed_ms=_times(bundle.graph, bundle.schedule, bundle.plan, planes),
            model=measure_host(),
        )
    if settings.timed:
        raise ProblemsFound([NotRunnable(None, file)])
    if kind == DUMP:
        reading = examine_dump(_content(file, MOST_BYTES + 1), title)
        if reading.problems:
            report_problems(reading.problems)
        return reading.view
    return read_view(_content(file), title)


def kind_of(file: str) -> str:
    """What a file is, by its name or by its first bytes.

    Raises:
        ProblemsFound: CG880, or CG011 where it cannot be read.
    """
    if file == "-":
        return PROGRAM
    kind = _SUFFIXES.get(Path(file).suffix.lower())
    if kind is not None:
        return kind
    start = _content(file, SNIFFED_BYTES)
    if start.startswith(MAGIC):
        return BUNDLE
    if start.lstrip().startswith(b'{"format"'):
        return VIEW
    if _BEGINNING_OF_DOT.match(start):
        return DUMP
    raise ProblemsFound([NotViewable(None, file)])


def is_of_broken_dump(view: View) -> bool:
    """Whether a dump that is shown, or that is compared with, was not read as a whole."""
    shown = [view] if view.comparison is None else [view, view.comparison.other]
    return any(note.severity == "error" for part in shown if part.kind == "dump" for note in part.notes)


def _content(file: str, most_bytes: int = -1) -> bytes:
    try:
        with Path(file).open("rb") as opened:
            return opened.read(most_bytes)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProblemsFound([UnreadableFile(None, file, reason.lower())]) from error


def compile_viewable(file: str, settings: Settings) -> Compiled:
    """A program, built. Raises ProblemsFound as its stages do."""
    return compile_program(
        read_source(file),
        settings.parameters,
        entry=settings.entry,
        half=settings.half,
        order=settings.order,
    )


def view_of_program(compiled: Compiled, file: str, settings: Settings) -> View:
    """The view of a built program, which is run first where it shall be timed. Raises ProblemsFound as a run does."""
    graph, program = compiled.graph, compiled.program
    elapsed_ms = None
    if settings.timed:
        planes, _, warnings = fill(compiled, file, None, {}, settings.seed)
        if warnings:
            report_problems(warnings)
        elapsed_ms = _times(graph, compiled.schedule, compiled.plan, planes)
    spans = [phase.span for phase in program.phases.values()] + [plane.span for plane in program.planes.values()]
    return view_of_graph(
        graph,
        compiled.schedule,
        compiled.plan,
        elapsed_ms=elapsed_ms,
        model=measure_host() if settings.timed else None,
        title="standard input" if file == "-" else Path(file).name,
        sources=dict.fromkeys(span.source for span in spans),
        notes=[ViewNote("warning", problem.render_title()) for problem in compiled.warnings],
    )


def _times(graph: CommandGraph, schedule: Schedule, plan: MemoryPlan, planes: Arrays) -> list[float]:
    """Milliseconds of each command on the host: the median of a few runs after one that nobody measures."""
    executable = lower(graph, schedule, plan)
    for plane in graph.planes:
        if plane.name in planes:
            executable.set(plane.name, planes[plane.name])
    executable.run()
    return measure(executable, len(graph.nodes), TIMED_RUNS)
