"""Which bracket lacks its end, judging by the indentation.

Receives tokens up to the place where a bracket was found open; guarantees a guess only where the layout is clear: a
bracket that begins a line deeper than the one around it, and after it a line that begins no deeper although the
bracket is still open. A text without indentation gives no guess.
"""

from collections.abc import Iterable

from attrs import define

from cgraph.source import Span
from cgraph.syntax.documentation import is_first_on_line
from cgraph.syntax.lexer import Token
from cgraph.syntax.words import CLOSER_OF

_CLOSERS = frozenset(CLOSER_OF.values())
_BINDERS = frozenset({"lambda", "let", "pi"})


@define
class _Open:
    start: int
    column: int | None
    """Set where the bracket begins its line."""
    outer_column: int
    """Column of the nearest bracket around it that begins a line, -1 where there is none."""
    head: str = ""


def suspect_by_indentation(text: str, tokens: Iterable[Token]) -> int | None:
    """Offset of the bracket that looks unclosed, or None where the layout does not say."""
    opened: list[_Open] = []
    pending: tuple[_Open, _Open] | None = None
    for kind, start, stop in tokens:
        word = text[start:stop]
        if opened and not opened[-1].head:
            opened[-1].head = word
        if pending is not None:
            outer, inner = pending
            pending = None
            if not _is_chain(outer.head, inner.head or word):
                return outer.start
        column = start - text.rfind("\n", 0, start) - 1 if is_first_on_line(text, start) else None
        if kind in CLOSER_OF:
            inner = _Open(start, column, _line_column(opened))
            if column is not None and opened and _looks_unclosed(opened[-1], column):
                pending = opened[-1], inner
            opened.append(inner)
        elif kind in _CLOSERS:
            if opened:
                opened.pop()
        elif column is not None and opened and _looks_unclosed(opened[-1], column) and word != "in":
            return opened[-1].start
    return None


def opener_span(span: Span, offset: int | None) -> Span | None:
    """The bracket at an offset, in the same source as `span`."""
    return None if offset is None else Span(span.source, offset, offset + 1)


def _looks_unclosed(bracket: _Open, column: int) -> bool:
    return bracket.column is not None and column <= bracket.column and bracket.column > bracket.outer_column >= 0


def _line_column(opened: list[_Open]) -> int:
    """Column of the innermost open bracket that begins a line."""
    if not opened:
        return -1
    return opened[-1].outer_column if opened[-1].column is None else opened[-1].column


def _is_chain(outer: str, inner: str) -> bool:
    """Whether a term of the inner head is written below one of the outer head without indentation (see printer)."""
    return outer == inner or (outer in _BINDERS and inner in _BINDERS)
