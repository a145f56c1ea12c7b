"""Lines of limited width from a stream of texts, groups and breaks.

Receives operations in the order of the text; guarantees output in linear time and without recursion, whatever the
nesting. A group that fits on the rest of its line is written flat, its breaks as spaces; otherwise all breaks
directly in it become line ends (Oppen's consistent breaks). Indentation is stated at each break, not kept as a
nesting depth.
"""

from array import array
from collections.abc import Sequence

from attrs import define, field

_TEXT, _MARK, _LINE, _HARD, _OPEN, _CLOSE, _REMARK = range(7)
_BREAKS = (_LINE, _HARD)


@define(eq=False)
class Layout:
    """A document under construction."""

    _kinds: bytearray = field(factory=bytearray, init=False)
    _texts: list[str] = field(factory=list, init=False)
    _indents: "array[int]" = field(factory=lambda: array("H"), init=False)

    def __len__(self) -> int:
        return len(self._kinds)

    def text(self, text: str) -> None:
        """A text without line end."""
        self._add(_TEXT, text, 0)

    def mark(self, mark: str, indent: int) -> None:
        """A bracket; where the line is full it goes to the next one, so that 100,000 of them do not make one line."""
        self._add(_MARK, mark, indent)

    def line(self, indent: int, *, blank: bool = False) -> None:
        """A space, or a line end; with `blank`, the line end is followed by a blank line."""
        self._add(_LINE, "\n" if blank else "", indent)

    def hard(self, indent: int, *, blank: bool = False) -> None:
        """A line end in any case: the groups around it are not flat."""
        self._add(_HARD, "\n" if blank else "", indent)

    def remark(self, text: str) -> None:
        """A comment that must end its line or holds line ends. Its width does not count, for it is never wrapped."""
        self._add(_REMARK, text, 0)

    def open(self) -> None:
        """Begins a group."""
        self._add(_OPEN, "", 0)

    def close(self) -> None:
        """Ends a group."""
        self._add(_CLOSE, "", 0)

    def flat(self) -> str:
        """Everything on one line."""
        return "".join(" " if kind in _BREAKS else text for kind, text in zip(self._kinds, self._texts, strict=True))

    def render(self, width: int) -> str:
        """The text in lines of at most `width` columns where a break allows it; no line ends in blanks."""
        widths, hards = self._sums()
        next_break, close_of = self._targets()
        parts: list[str] = []
        column = 0
        flat_until = -1
        for index, (kind, text, indent) in enumerate(zip(self._kinds, self._texts, self._indents, strict=True)):
            if kind == _TEXT:
                parts.append(text)
                column += len(text)
            elif kind == _MARK:
                if column >= width:
                    parts.append("\n" + " " * indent)
                    column = indent
                parts.append(text)
                column += 1
            elif kind in _BREAKS:
                if index < flat_until:
                    parts.append(" ")
                    column += 1
                else:
                    parts.append(f"\n{text}{' ' * indent}")
                    column = indent
            elif kind == _OPEN and index >= flat_until:
                stop = close_of[index]
                needed = widths[next_break[stop]] - widths[index]
                if hards[stop] == hards[index] and column + needed <= width:
                    flat_until = stop
            elif kind == _REMARK:
                parts.append(text)
                column = len(text) - text.rfind("\n") - 1 + (column if "\n" not in text else 0)
        return "".join(parts)

    def _add(self, kind: int, text: str, indent: int) -> None:
        self._kinds.append(kind)
        self._texts.append(text)
        self._indents.append(indent)

    def _sums(self) -> tuple[Sequence[int], Sequence[int]]:
        """Flat width and number of forced line ends before each operation."""
        widths, hards = array("q", [0]), array("q", [0])
        for kind, text in zip(self._kinds, self._texts, strict=True):
            size = 1 if kind in _BREAKS else 0 if kind == _REMARK else len(text)
            widths.append(widths[-1] + size)
            hards.append(hards[-1] + (kind in (_HARD, _REMARK)))
        return widths, hards

    def _targets(self) -> tuple[Sequence[int], Sequence[int]]:
        """The next break at or after each operation, and the end of each group."""
        count = len(self._kinds)
        next_break, close_of = array("q", [count]) * (count + 1), array("q", [0]) * count
        closers: list[int] = []
        following = count
        for index in range(count - 1, -1, -1):
            kind = self._kinds[index]
            if kind in _BREAKS:
                following = index
            elif kind == _CLOSE:
                closers.append(index)
            elif kind == _OPEN:
                close_of[index] = closers.pop()
            next_break[index] = following
        return next_break, close_of
