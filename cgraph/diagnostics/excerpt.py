"""Excerpts: marked places of one source with their lines.

Receives marks (a range of offsets, a text, whether it is the main one); guarantees the lines that hold them, each at
most as wide as asked, with carets under the marked characters. Of a range over several lines the first and the last
are marked. A line that is too long is cut around its marks; marks too far apart for one cut get a cut each.
"""

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from cgraph.diagnostics.display import cut_line, display_line, safe_text
from cgraph.diagnostics.paint import Paint
from cgraph.source import Source


@frozen
class Mark:
    """A range of offsets with a text under it; `main` is marked with `^`, another one with `-`."""

    start: int
    stop: int
    text: str
    main: bool


@frozen
class _LineMark:
    """A mark's part in one line, in characters from the line's start."""

    line: int
    start: int
    stop: int
    text: str
    main: bool


def draw_excerpt(source: Source, marks: Sequence[Mark], width: int, gutter: int, paint: Paint) -> Iterator[str]:
    """The printed lines, with line numbers in a gutter of the given width."""
    line_marks = sorted((part for mark in marks for part in _parts(source, mark)), key=lambda m: (m.line, m.start))
    room = max(width - gutter - 3, 20)
    yield paint.frame(" " * gutter + " |")
    shown = -1
    for group in _groups(line_marks, room):
        line = group[0].line
        if shown >= 0 and line > shown + 2:
            yield paint.frame(f"{'...':{gutter}}")
        elif line == shown + 2 and shown >= 0:
            between = cut_line(source.line_text(shown + 1), 0, 0, room)[0]
            yield f"{paint.frame(f'{shown + 2:>{gutter}} |')} {display_line(between).text}".rstrip()
        shown = line
        yield from _draw_line(source.line_text(line), group, room, gutter, paint)


def last_line(source: Source, marks: Sequence[Mark]) -> int:
    """The greatest 1-based line number that the excerpt shows."""
    return max(part.line for mark in marks for part in _parts(source, mark)) + 1


def _parts(source: Source, mark: Mark) -> Iterator[_LineMark]:
    first = source.line_of(mark.start)
    start = mark.start - source.line_starts[first]
    last = source.line_of(max(mark.stop - 1, mark.start))
    if first == last:
        yield _LineMark(first, start, mark.stop - source.line_starts[first], mark.text, mark.main)
        return
    yield _LineMark(first, start, len(source.line_text(first)), "from here", mark.main)
    text = source.line_text(last)
    indentation = len(text) - len(text.lstrip())
    stop = mark.stop - source.line_starts[last]
    yield _LineMark(last, min(indentation, stop - 1), stop, mark.text or "to here", mark.main)


def _groups(marks: Sequence[_LineMark], room: int) -> Iterator[list[_LineMark]]:
    """Marks of one line that fit into one cut of it."""
    group: list[_LineMark] = []
    for mark in marks:
        if group and (mark.line != group[0].line or mark.stop - group[0].start > room // 2):
            yield group
            group = []
        group.append(mark)
    if group:
        yield group


def _draw_line(line: str, marks: list[_LineMark], room: int, gutter: int, paint: Paint) -> Iterator[str]:
    """A line, the carets under it and their texts."""
    cut, shift = cut_line(line, marks[0].start, max(mark.stop for mark in marks), room)
    shown = display_line(cut)
    end = len(cut)
    yield f"{paint.frame(f'{marks[0].line + 1:>{gutter}} |')} {shown.text}".rstrip()
    placed = []
    for mark in marks:
        start = shown.columns[min(mark.start + shift, end)]
        stop = shown.columns[min(max(mark.stop + shift, 0), end)]
        placed.append(evolve(mark, start=start, stop=max(stop, start + 1)))
    for row in _draw_marks(placed, paint):
        yield f"{paint.frame(' ' * gutter + ' |')} {row}".rstrip()


def _draw_marks(marks: list[_LineMark], paint: Paint) -> Iterator[str]:
    """Rows of carets and texts; `start` and `stop` are columns. The last mark's text stands beside it."""
    carets = [(" ", False)] * max(mark.stop for mark in marks)
    for mark in sorted(marks, key=lambda mark: mark.main):
        carets[mark.start : mark.stop] = [("^" if mark.main else "-", mark.main)] * (mark.stop - mark.start)
    row = "".join(paint.mark(caret, main) if caret != " " else " " for caret, main in carets)
    texts = [mark for mark in marks if mark.text]
    if texts and texts[-1].stop == len(carets) and all(mark.stop <= texts[-1].start for mark in texts[:-1]):
        beside = texts.pop()
        row += " " + paint.mark(safe_text(beside.text), beside.main)
    yield row
    if texts:
        yield _hanging(texts, None, paint)
    while texts:
        yield _hanging(texts[:-1], texts[-1], paint)
        texts.pop()


def _hanging(marks: Sequence[_LineMark], last: _LineMark | None, paint: Paint) -> str:
    """A row with a line down from each mark, and the text of the last one at its column."""
    row = ""
    column = 0
    for mark in marks:
        if mark.start >= column and (last is None or mark.start < last.start):
            row += " " * (mark.start - column) + paint.mark("|", mark.main)
            column = mark.start + 1
    if last is not None:
        row += " " * (last.start - column) + paint.mark(safe_text(last.text), last.main)
    return row
