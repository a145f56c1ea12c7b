"""What stands at a place of a text: finds it, and says what became of it.

Receives a view, one of its program's texts, and a place in it; guarantees at least one topic, or a problem that names
lines near by which have something to tell.
"""

import re

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.syntax.tree import (
    Declaration,
    Definition,
    ImageDeclaration,
    Import,
    ParameterDeclaration,
    PhaseDeclaration,
    PlaneDeclaration,
)
from cgraph.view.captions import line as one_line
from cgraph.view.explaining.commands import command_topic
from cgraph.view.explaining.declared import (
    definition_topic,
    image_topic,
    parameter_topic,
    phase_topic,
    plane_topic,
)
from cgraph.view.explaining.model import Topic, count_text
from cgraph.view.explaining.occurrences import Group, groups_at
from cgraph.view.explaining.problems_explaining import NoSuchLine, NothingHere
from cgraph.view.explaining.sites import Site, Text, offset_of, span_of_line, text_of
from cgraph.view.explaining.summaries import amount_text, commands_table
from cgraph.view.explaining.waits import edges_of
from cgraph.view.model import View

MOST_IN_FULL = 3
"""Commands of one line that are told in full; more are a table."""
MOST_NEAREST = 3
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")


def explain_line(
    view: View, source: Source, index: int | None, line: int, column: int | None = None
) -> tuple[Topic, ...]:
    """What stands at a line, or at a column of it.

    Args:
        view: of a build, a bundle or a dump.
        source: one of its texts.
        index: of the text in `View.sources`; None where no command comes from it.
        line: counted from 1.
        column: counted from 1; None for the whole line.

    Raises:
        ProblemsFound: CG514, nothing comes from there; CG515, there is no such line.
    """
    lines = len(source.line_starts) - (1 if source.text.endswith("\n") else 0)
    if not 1 <= line <= lines:
        raise ProblemsFound([NoSuchLine(None, source.name, line, lines)])
    text = text_of(view, source, index)
    topics = _at_line(view, text, line) if column is None else _at_column(view, text, line, column)
    if not topics:
        raise ProblemsFound([_nothing(text, line)])
    return topics


def _at_line(view: View, text: Text, line: int) -> tuple[Topic, ...]:
    declaration = _declaration_at(text, line)
    if declaration is not None and not isinstance(declaration, Definition):
        return _declared(view, text, declaration)
    sites = _sites_of_line(text, line)
    if declaration is None or declaration.name.span.line != line:
        topics = _commands(view, text, sites)
        return topics if topics or declaration is None else _declared(view, text, declaration)
    of_definition = _declared(view, text, declaration)
    one_line_long = text.source.line_of(declaration.span.stop) + 1 == line
    return (*of_definition, *(_commands(view, text, sites) if one_line_long else ()))


def _at_column(view: View, text: Text, line: int, column: int) -> tuple[Topic, ...]:
    """A name that stands there, unless it is called; else the innermost place that commands come from."""
    offset = offset_of(text.source, line, column)
    start = text.source.line_starts[line - 1]
    word = next(
        (
            match.group()
            for match in _NAME.finditer(text.source.line_text(line - 1))
            if match.start() <= offset - start < match.end()
        ),
        "",
    )
    declaration = _declaration_at(text, line)
    if declaration is not None and not isinstance(declaration, Import) and declaration.name.text == word:
        return _declared(view, text, declaration)
    for names, topic in (
        ((plane.family for plane in view.planes), plane_topic),
        ((phase.name for phase in view.phases), phase_topic),
        ((kernel.name for kernel in view.kernels), image_topic),
    ):
        if word in names:
            return (topic(view, word, text.index),)
    if declaration is not None and not isinstance(declaration, Definition):
        return _declared(view, text, declaration)
    topics = _commands(view, text, _innermost(text, offset))
    return topics if topics or declaration is None else _declared(view, text, declaration)


def _declaration_at(text: Text, line: int) -> Declaration | None:
    for declaration in text.declarations:
        span = declaration.span
        if span.line <= line <= text.source.line_of(max(span.start, span.stop - 1)) + 1:
            return declaration
    return None


def _declared(view: View, text: Text, declaration: Declaration) -> tuple[Topic, ...]:
    match declaration:
        case PlaneDeclaration():
            return (plane_topic(view, declaration.name.text, text.index),)
        case PhaseDeclaration():
            return (phase_topic(view, declaration.name.text, text.index),)
        case ImageDeclaration():
            return (image_topic(view, declaration.name.text, text.index),)
        case ParameterDeclaration():
            return (parameter_topic(view, declaration.name.text),)
        case Definition():
            return (definition_topic(view, text, declaration),)
        case Import():
            return ()


def _sites_of_line(text: Text, line: int) -> list[Site]:
    """The places that begin on a line; else those in the terms that begin there; else the innermost around it."""
    source = text.source
    first = source.line_starts[line - 1]
    stop = first + len(source.line_text(line - 1))
    begun = [site for site in text.sites if first <= site.start <= stop]
    if begun:
        return _without_outer(begun)
    outer = [term for term in text.terms if first <= term[0] < stop]
    inside = [site for site in text.sites if any(start <= site.start < end for start, end in outer[:1])]
    return _without_inner(inside) or _innermost(text, span_of_line(source, line).start)


def _without_outer(sites: list[Site]) -> list[Site]:
    """Without places that hold another of them, as a loop around a launch on the same line.

    Terms nest, and sites are ordered by where they begin, so the next one tells.
    """
    return [
        site
        for site, following in zip(sites, [*sites[1:], None], strict=True)
        if following is None or following.start >= site.stop
    ]


def _without_inner(sites: list[Site]) -> list[Site]:
    """Without places inside another of them; sites are ordered by where they begin."""
    kept: list[Site] = []
    for site in sites:
        if not kept or site.start >= kept[-1].stop:
            kept.append(site)
    return kept


def _innermost(text: Text, offset: int) -> list[Site]:
    around = [site for site in text.sites if site.start <= offset < site.stop]
    return [min(around, key=lambda site: site.stop - site.start)] if around else []


def _commands(view: View, text: Text, sites: list[Site]) -> tuple[Topic, ...]:
    """The commands that come from some places; no topic where there are none."""
    groups = groups_at(view, sites)
    if len(groups) <= MOST_IN_FULL:
        edges = edges_of(view)
        return tuple(command_topic(view, edges, group, text.index) for group in groups)
    return (_summary(view, text, groups),)


def _summary(view: View, text: Text, groups: list[Group]) -> Topic:
    runs = sorted((run for group in groups for run in group.runs), key=_positions(view).__getitem__)
    return Topic(
        f"{count_text(len(groups), 'command')}, {count_text(len(runs), 'run')}",
        (amount_text(view, runs),),
        commands_table(view, runs, text.index),
    )


def _positions(view: View) -> dict[int, int]:
    return {node: position for position, node in enumerate(view.sequence)}


def _nothing(text: Text, line: int) -> NothingHere:
    source = text.source
    told: dict[int, str] = {}
    for declaration in text.declarations:
        if not isinstance(declaration, Import):
            told[declaration.name.span.line] = declaration.name.text
    for site in text.sites:
        number = source.line_of(site.start) + 1
        told.setdefault(number, one_line(span_of_line(source, number).text))
    nearest = sorted(sorted(told, key=lambda number: (abs(number - line), number))[:MOST_NEAREST])
    return NothingHere(
        span_of_line(source, line),
        line,
        tuple(f"line {number} does: `{told[number]}`" for number in nearest),
    )
