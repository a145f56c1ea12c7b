"""What an explanation is: topics with facts and tables, as texts that are ready to be printed."""

from collections.abc import Sequence

from attrs import frozen

from cgraph.view.captions import TEXT_LENGTH, line

MOST_ROWS = 24
"""Rows of one table that are listed; the others are counted."""


@frozen
class Table:
    """Rows of texts under a heading; `more` counts rows that are left out."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@frozen
class Topic:
    """One thing that stands at a line.

    Args:
        title: what it is, in a line. facts: a line each.
        way: steps from it to the entry point, as indices into `View.origins`, the innermost first.
    """

    title: str
    facts: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    way: tuple[int, ...] = ()


def table(heading: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> tuple[Table, ...]:
    """A table with clean texts; none where there are no rows."""
    if not rows:
        return ()
    kept = tuple(tuple(line(cell, TEXT_LENGTH) for cell in row) for row in rows[:MOST_ROWS])
    return (Table(heading, columns, kept, max(0, len(rows) - MOST_ROWS)),)


def count_text(count: int, what: str) -> str:
    """`1 command`, `2 commands`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def documentation_lines(text: str | None) -> tuple[str, ...]:
    """A comment as lines, without empty ones."""
    return tuple(line(part.strip(), TEXT_LENGTH) for part in (text or "").splitlines() if part.strip())
