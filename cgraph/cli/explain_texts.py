"""Finds the text that `cgraph explain` is asked about, among those that a graph comes from.

Receives names of files; guarantees a view and one of its texts, or a problem. A program's texts are all files that it
imports, also those that no command comes from, as the declarations of images; a bundle's are those that it holds.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import click
from attrs import frozen

from cgraph.build.problems import NoEntry
from cgraph.check.program import CheckedProgram
from cgraph.cli.view_files import PROGRAM, Settings, compile_viewable, kind_of, read_viewable, view_of_program
from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.view.explaining.problems_explaining import NotOfProgram, NoWholeProgram
from cgraph.view.model import View

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)


@frozen
class Asked:
    """A line of a file, and perhaps a column, counted from 1."""

    file: str
    line: int
    column: int | None

    @classmethod
    def of(cls, place: str) -> Self:
        """`FILE:LINE` or `FILE:LINE:COLUMN`. Raises click.BadParameter for anything else."""
        match = _PLACE.fullmatch(place)
        if match is None or int(match["line"]) == 0 or (match["column"] is not None and int(match["column"]) == 0):
            raise click.BadParameter(f"`{place}` is not FILE:LINE or FILE:LINE:COLUMN, counted from 1")
        return cls(match["file"], int(match["line"]), None if match["column"] is None else int(match["column"]))


@frozen(eq=False)
class Texts:
    """A view and the texts that it comes from, each with its index in `View.sources`, None where it is not there.

    `are_short`: their names are only the ends of paths, as in files that shall not say where a program lay.
    """

    view: View
    sources: tuple[tuple[Source, int | None], ...]
    are_short: bool


def viewed_texts(graph: str, how: Settings, *, alone: bool) -> Texts:
    """What is in a file, with its texts.

    Args:
        graph: a program, bundle, dump or view.
        how: a program is built.
        alone: whether nobody named a program, so that one without an entry may be a part of another.

    Raises:
        ProblemsFound: those of the stages that the file goes through.
    """
    if kind_of(graph) != PROGRAM:
        view = read_viewable(graph, how)
        sources = enumerate(view.sources)
        return Texts(view, tuple((Source(source.name, source.text), index) for index, source in sources), True)
    try:
        compiled = compile_viewable(graph, how)
    except ProblemsFound as stopped:
        missing = next((problem for problem in stopped.problems if isinstance(problem, NoEntry)), None)
        if missing is None or not alone or how.entry is not None:
            raise
        raise ProblemsFound([NoWholeProgram(None, graph, missing.name)]) from stopped
    view = view_of_program(compiled, graph, how)
    return Texts(view, tuple((source, _index_of(view, source)) for source in _sources(compiled.program)), False)


def find_text(texts: Texts, graph: str, file: str) -> tuple[Source, int | None]:
    """The text of a file, by its path, else by the end of its path where that tells one text from the others.

    Raises:
        ProblemsFound: CG516, the graph does not come from such a file.
    """
    if file == graph and len(texts.sources) == 1:
        return texts.sources[0]
    for found in texts.sources:
        if _same_path(found[0].name, file):
            return found
    ends = [
        found
        for found in texts.sources
        if _is_end(file, found[0].name) or (texts.are_short and _is_end(found[0].name, file))
    ]
    if len(ends) != 1:
        names = tuple(source.name for source, _ in texts.sources)
        raise ProblemsFound([NotOfProgram(None, graph, file, names)])
    return ends[0]


def _sources(program: CheckedProgram) -> Iterable[Source]:
    """The program's own text first."""
    spans = (
        *(definition.span for definition in program.definitions.values()),
        *(plane.span for plane in program.planes.values()),
        *(image.signature.span for image in program.images.values()),
        *(phase.span for phase in program.phases.values()),
        *(parameter.span for parameter in program.parameters.values()),
    )
    return dict.fromkeys((program.root.source, *(span.source for span in spans)))


def _index_of(view: View, source: Source) -> int | None:
    """Of the text in a view, whose name is the end of the path."""
    for index, viewed in enumerate(view.sources):
        if viewed.text == source.text and _is_end(viewed.name, source.name):
            return index
    return None


def _same_path(first: str, second: str) -> bool:
    if first == second:
        return True
    try:
        return Path(first).resolve() == Path(second).resolve()
    except (OSError, ValueError, RuntimeError):
        return False


def _is_end(end: str, path: str) -> bool:
    """Whether a path's last parts are those of another."""
    parts, ends = (name.replace("\\", "/").split("/") for name in (path, end))
    return parts[-len(ends) :] == ends
