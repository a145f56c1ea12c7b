"""Problems as people read them.

Receives problems of any stage; guarantees text that a terminal can show, ordered by place, for example

    error[CG004]: `)` closes nothing
     --> layer.cg:3:14
      |
    3 | def a = (f x))
      |              ^ no bracket is open here
      = fix: remove it
      |
    3 - def a = (f x))
    3 + def a = (f x)

Titles and labels are kept on one line; notes, helps and excerpts keep within the width.
"""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from cgraph.diagnostics.display import cut_line, display_line, safe_text
from cgraph.diagnostics.excerpt import Mark, draw_excerpt, last_line
from cgraph.diagnostics.paint import Paint
from cgraph.diagnostics.problem import Fix, Label, Problem, Severity
from cgraph.diagnostics.report import arrange
from cgraph.source import Source, Span

MAXIMUM_LABELS = 12
"""Further places shown for one problem; the others are counted."""
_MAXIMUM_FIX_LINES = 8


def render(problems: Iterable[Problem], *, colour: bool, width: int = 100) -> str:
    """The problems, a blank line between two, without a line end after the last one."""
    return "\n\n".join("\n".join(_render_one(problem, colour, width)) for problem in arrange(problems))


def _render_one(problem: Problem, colour: bool, width: int) -> Iterator[str]:
    paint = Paint(colour, problem.severity is Severity.ERROR)
    labels = problem.labels()
    excerpts = _marks_by_source(problem, labels[:MAXIMUM_LABELS])
    fix = problem.fix()
    numbers = [last_line(source, marks) for source, marks in excerpts]
    if fix is not None:
        numbers.append(Span(fix.span.source, fix.span.stop, fix.span.stop).line)
    gutter = len(str(max(numbers, default=0)))
    yield paint.severity(f"{problem.severity.value}[{problem.code}]") + paint.title(
        f": {safe_text(problem.render_title())}"
    )
    for source, marks in excerpts:
        arrow = "-->" if source is excerpts[0][0] else ":::"
        place = Span(source, marks[0].start, marks[0].stop).place
        yield f"{paint.frame(' ' * gutter + arrow)} {safe_text(place)}"
        yield from draw_excerpt(source, marks, width, gutter, paint)
    more = len(labels) - MAXIMUM_LABELS
    remarks = [("note", note) for note in problem.notes()]
    if more > 0:
        remarks.append(("note", f"{more} more {'place is' if more == 1 else 'places are'} not shown"))
    remarks += [("help", text) for text in problem.helps()]
    for kind, text in remarks:
        yield from _render_remark(kind, text, width, gutter, paint)
    if fix is not None:
        yield from _render_fix(fix, width, gutter, paint)


def _marks_by_source(problem: Problem, labels: Sequence[Label]) -> list[tuple[Source, list[Mark]]]:
    """The problem's own place first, then the other places of its source, then those of other sources."""
    marks: dict[Source, list[Mark]] = {}
    if problem.span is not None:
        source, start, stop = problem.span
        marks[source] = [Mark(start, stop, problem.render_label(), main=True)]
    for label in labels:
        source, start, stop = label.span
        marks.setdefault(source, []).append(Mark(start, stop, label.text, main=False))
    return list(marks.items())


def _render_remark(kind: str, text: str, width: int, gutter: int, paint: Paint) -> Iterator[str]:
    """A note or a help, wrapped; its own line ends are kept."""
    head = " " * gutter + " = "
    indentation = " " * (len(head) + len(kind) + 2)
    for number, line in enumerate(text.split("\n")):
        first = f"{kind}: " if number == 0 else ""
        room = max(width - len(indentation), 20)
        for part, piece in enumerate(wrap(safe_text(line), room) or [""]):
            lead = paint.frame(head) + paint.title(first) if first and part == 0 else indentation
            yield (lead + piece).rstrip()


def _render_fix(fix: Fix, width: int, gutter: int, paint: Paint) -> Iterator[str]:
    """A repair: the lines that it changes, before and after."""
    source, start, stop = fix.span
    yield from _render_remark("fix", fix.text, width, gutter, paint)
    first, last = source.line_of(start), source.line_of(stop)
    before, after = source.line_text(first), source.line_text(last)
    column = start - source.line_starts[first]
    old = [source.line_text(line) for line in range(first, min(last, first + _MAXIMUM_FIX_LINES) + 1)]
    new = (before[:column] + fix.replacement + after[stop - source.line_starts[last] :]).split("\n")
    yield paint.frame(" " * gutter + " |")
    for lines, sign, style in ((old, "-", paint.removed), (new, "+", paint.added)):
        for number, line in enumerate(lines[:_MAXIMUM_FIX_LINES]):
            shown = display_line(cut_line(line.rstrip("\r"), column, column, width - gutter - 3)[0]).text
            yield f"{paint.frame(f'{first + 1 + number:>{gutter}}')} {style(f'{sign} {shown}')}".rstrip()
        if len(lines) > _MAXIMUM_FIX_LINES:
            yield f"{' ' * gutter} {sign} …"
