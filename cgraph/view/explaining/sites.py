"""Where in one text commands come from: each place, how far it reaches, and which commands came from it.

Receives a view and one of its texts; guarantees places in the order of the text, the same for the same view. A way's
step knows only where it begins (`(cgLaunch image 1 1 1`), so the syntax tree says how far its term reaches; a text that
does not parse, as a dump, has steps that reach as far as they say. Cost linear in steps, commands and text.
"""

from collections.abc import Iterator, Mapping

from attrs import frozen

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source, Span
from cgraph.syntax.parser import parse
from cgraph.syntax.tree import Apply, Declaration, Definition, Lambda, Let, Term
from cgraph.view.model import View


@frozen(eq=False)
class Site:
    """A place that commands come from: a call, a loop, a launch, a fill or a copy.

    Args:
        start, stop: offsets of its whole term.
        steps: those of the ways that lead through it, as indices into `View.origins`.
    """

    start: int
    stop: int
    steps: tuple[int, ...]


@frozen(eq=False)
class Text:
    """One text of a program.

    Args:
        source: with the name that is printed. index: in `View.sources`; None where no command comes from it.
        declarations: in their order; () for a text that is no program.
        terms: begin and end of every applied term, the outer ones first where some begin together.
        sites: ordered by where they begin.
    """

    source: Source
    index: int | None
    declarations: tuple[Declaration, ...]
    terms: tuple[tuple[int, int], ...]
    sites: tuple[Site, ...]


def text_of(view: View, source: Source, index: int | None) -> Text:
    """A text with its sites."""
    declarations: tuple[Declaration, ...] = ()
    terms: list[tuple[int, int]] = []
    try:
        declarations = parse(source).declarations
        terms = sorted(_terms(declarations), key=lambda term: (term[0], -term[1]))
    except ProblemsFound:
        pass
    ends: dict[int, int] = {}
    for start, stop in terms:
        ends.setdefault(start, stop)
    return Text(source, index, declarations, tuple(terms), tuple(_sites(view, source, index, ends)))


def _terms(declarations: tuple[Declaration, ...]) -> Iterator[tuple[int, int]]:
    waiting: list[Term] = [declared.value for declared in declarations if isinstance(declared, Definition)]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Apply):
            yield term.span.start, term.span.stop
            waiting += (term.function, *term.arguments)
        elif isinstance(term, Lambda):
            waiting.append(term.body)
        elif isinstance(term, Let):
            waiting += (term.value, term.body)


def _sites(view: View, source: Source, index: int | None, ends: Mapping[int, int]) -> Iterator[Site]:
    """Entries are left out: their place is a definition's name."""
    on_way = _steps_of_commands(view)
    steps: dict[int, list[int]] = {}
    stops: dict[int, int] = {}
    for number, origin in enumerate(view.origins):
        is_entry = origin.parent is None and view.kind != "dump"
        if origin.source != index or not on_way[number] or is_entry:
            continue
        start = offset_of(source, origin.start_line, origin.start_column)
        steps.setdefault(start, []).append(number)
        stops[start] = max(stops.get(start, start), offset_of(source, origin.stop_line, origin.stop_column))
    for start in sorted(steps):
        yield Site(start, max(stops[start], ends.get(start, start)), tuple(steps[start]))


def _steps_of_commands(view: View) -> list[bool]:
    """For each step whether it leads to a command: others are places of declarations."""
    found = [False] * len(view.origins)
    for node in view.nodes:
        if node.origin is not None:
            found[node.origin] = True
    for number in range(len(view.origins) - 1, -1, -1):
        parent = view.origins[number].parent
        if found[number] and parent is not None:
            found[parent] = True
    return found


def offset_of(source: Source, line: int, column: int) -> int:
    """The offset of a 1-based line and column, within the text."""
    starts = source.line_starts
    return min(starts[min(line, len(starts)) - 1] + column - 1, len(source.text))


def span_of_line(source: Source, line: int) -> Span:
    """What is written on a 1-based line, without the blanks around it."""
    text = source.line_text(line - 1)
    start = source.line_starts[line - 1] + len(text) - len(text.lstrip())
    return Span(source, start, max(start, source.line_starts[line - 1] + len(text.rstrip())))
