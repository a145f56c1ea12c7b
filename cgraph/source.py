"""Source texts and places in them.

Receives the text of a program; guarantees that every place is a half-open pair of offsets into it. Lines and
columns are worked out only when something is printed, because most places are never printed.
"""

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from attrs import field, frozen


@frozen(eq=False, slots=False)
class Source:
    """One program text.

    Args:
        name: the path as the user gave it, or `<text>`; printed in diagnostics.
        text: the whole text; line ends are kept as they are.
    """

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        r"""Offset of the first character of each line (lines end at `\n`; a `\r` before it belongs to the line end)."""
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return tuple(starts)

    def line_of(self, offset: int) -> int:
        """The 0-based line that holds the offset."""
        return bisect_right(self.line_starts, offset) - 1

    def line_text(self, line: int) -> str:
        """The text of a 0-based line, without its line end."""
        start = self.line_starts[line]
        stop = self.line_starts[line + 1] if line + 1 < len(self.line_starts) else len(self.text)
        return self.text[start:stop].rstrip("\r\n")


class Span(NamedTuple):
    """A half-open range of offsets `start … stop` in a source. A tuple, because a program has one for every term."""

    source: Source
    start: int
    stop: int

    @property
    def text(self) -> str:
        """The characters that the span covers."""
        return self.source.text[self.start : self.stop]

    @property
    def line(self) -> int:
        """The 1-based line of the first character, for printing."""
        return self.source.line_of(self.start) + 1

    @property
    def column(self) -> int:
        """The 1-based column of the first character, counted in characters, for printing."""
        return self.start - self.source.line_starts[self.line - 1] + 1

    @property
    def place(self) -> str:
        """`name:line:column`, as editors and terminals link it."""
        return f"{self.source.name}:{self.line}:{self.column}"
