"""Comments and blank lines between the parts of a printed text.

Receives the comments of a module and, as printing goes on, the place that has been reached in the source; guarantees
that every comment is printed once, in order, and that a comment keeps its line where it shares one with the text
before it. A comment in the middle of a construct that is printed as one piece moves behind the piece.
"""

import re
from collections.abc import Sequence

from attrs import frozen

from cgraph.source import Source, Span
from cgraph.syntax.documentation import is_first_on_line
from cgraph.syntax.layout import Layout
from cgraph.syntax.tree import Comment

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


@frozen
class PlacedComment:
    """A comment and how it stands.

    Args:
        text: marks included, no blanks at the ends of lines.
        start: its offset.
        same_line: whether something else stands before it on its line.
        blank_before: whether a blank line is before it.
        ends_line: whether nothing may follow it on its line.
    """

    text: str
    start: int
    same_line: bool
    blank_before: bool
    ends_line: bool


class Trivia:
    """What stands between tokens.

    Args:
        source: of the module; spans in other sources (terms built from Python) have no comments and no blank lines.
        comments: in the order of the text.
    """

    def __init__(self, source: Source | None, comments: Sequence[Comment]) -> None:
        self._source = source
        self._comments = comments
        self._next = 0
        self._reached = 0
        self._blank_forced = False

    def reach(self, span: Span) -> None:
        """The text up to the end of the span is printed."""
        if span.source is self._source:
            self._reached = max(self._reached, span.stop)

    def take(self, limit: int) -> PlacedComment | None:
        """The next comment that starts before `limit`, which counts as printed, or None."""
        if self._next == len(self._comments) or self._comments[self._next].span.start >= limit:
            return None
        span = self._comments[self._next].span
        self._next += 1
        text = _tidy(span.text)
        same_line = not is_first_on_line(span.source.text, span.start)
        blank_before = self.blank_before(span.start)
        self._reached = max(self._reached, span.stop)
        return PlacedComment(text, span.start, same_line, blank_before, text.startswith("--"))

    def force_blank(self) -> None:
        """A blank line is to follow, whatever the source has."""
        self._blank_forced = True

    def blank_before(self, start: int) -> bool:
        """Whether a blank line lies between the place that has been reached and an offset."""
        forced = self._blank_forced
        self._blank_forced = False
        return forced or _BLANK_LINE.search(self._gap(start)) is not None

    def break_before(self, layout: Layout, span: Span, indent: int, *, keep_blank: bool = False) -> None:
        """A break before the part at `span`, after the comments that lie before it."""
        if span.source is not self._source:
            layout.line(indent)
        elif self._flush(layout, span.start, indent, keep_blank):
            layout.hard(indent, blank=keep_blank and self.blank_before(span.start))
        else:
            layout.line(indent, blank=keep_blank and self.blank_before(span.start))

    def line_before(self, layout: Layout, span: Span, indent: int, *, keep_blank: bool) -> None:
        """A line end before the part at `span`, after the comments that lie before it."""
        blank = False
        if span.source is self._source:
            self._flush(layout, span.start, indent, keep_blank)
            blank = keep_blank and self.blank_before(span.start)
        layout.hard(indent, blank=blank)

    def end(self, layout: Layout, span: Span, indent: int) -> None:
        """The comments before the closing bracket at the end of the span; then the span is printed."""
        if span.source is self._source:
            if self._flush(layout, span.stop, indent, keep_blank=False):
                layout.hard(indent)
            self._reached = max(self._reached, span.stop)

    def end_lines(self, layout: Layout, span: Span, indent: int) -> None:
        """As `end`, for a closing bracket on a line of its own."""
        if span.source is self._source:
            self._flush(layout, span.stop, indent, keep_blank=True)
        layout.hard(0)

    def _flush(self, layout: Layout, limit: int, indent: int, keep_blank: bool) -> bool:
        """Prints the comments that start before `limit`. True if a line end must follow."""
        forced = False
        while (comment := self.take(limit)) is not None:
            if comment.same_line and not forced:
                layout.text(" ")
            else:
                layout.hard(indent, blank=keep_blank and comment.blank_before)
            following = limit
            if self._next < len(self._comments):
                following = min(limit, self._comments[self._next].span.start)
            forced = comment.ends_line or "\n" in self._gap(following)
            if comment.ends_line or "\n" in comment.text:
                layout.remark(comment.text)
            else:
                layout.text(comment.text)
        return forced

    def _gap(self, stop: int) -> str:
        return "" if self._source is None else self._source.text[self._reached : stop]


def _tidy(text: str) -> str:
    """A comment without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.split("\n"))
