r"""Labels of records: cells in bars and braces, as names and values.

Receives a label with its escapes; guarantees the cells, trimmed and without escapes, for any text: braces that do not
fit are text or end a group, and cells nested too deep stay in the last group. Drivers write tables in several ways;
`facts` reads them all as pairs.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from cgraph.view.dumps.limits import DEEPEST_RECORD

Cell: TypeAlias = "str | list[Cell]"
LONGEST_HEADING = 60
_PIECE = re.compile(r"[{}|]|(?:[^{}|\\]|\\.)++|\\", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LINE_ENDS = frozenset("nlr")


def cells_of(label: str) -> list[Cell]:
    """The cells of a record: a text, or a group as a list."""
    whole: list[Cell] = []
    groups = [whole]
    text = ""
    for piece in _PIECE.findall(label):
        if piece == "{" and len(groups) <= DEEPEST_RECORD:
            inner: list[Cell] = []
            groups[-1].append(inner)
            groups.append(inner)
            text = ""
        elif piece in "|}" or piece == "{":
            if text.strip():
                groups[-1].append(plain(text).strip())
            text = ""
            if piece == "}" and len(groups) > 1:
                groups.pop()
        else:
            text += piece
    if text.strip():
        groups[-1].append(plain(text).strip())
    return whole


def plain(text: str) -> str:
    r"""A text without escapes: `\n`, `\l` and `\r` end lines, before anything else a backslash means nothing."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] in _LINE_ENDS else found[1], text)


def facts(row: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """Names and values of a row, as far as they can be told apart.

    A row is a name and a value, a name before a group of such pairs, several of these, or a table: names in a group
    before values in a group, perhaps with a title, perhaps with headings over the names.
    """
    while len(row) == 1 and isinstance(row[0], list):
        row = row[0]
    title, rest = (row[0][:LONGEST_HEADING], row[1:]) if row and isinstance(row[0], str) else ("", row)
    groups = [cell for cell in rest if isinstance(cell, list)]
    if len(groups) < len(rest) or not groups:
        if title:
            yield title, " ".join(cell for cell in rest if isinstance(cell, str))
    elif len(groups) == 1:
        pairs = [pair for pair in groups[0] if _is_pair(pair)]
        inner = map(_pair, pairs) if len(pairs) == len(groups[0]) else facts(groups[0])
        yield from ((f"{title} {name}", value) for name, value in inner)
    elif not title and all(_is_titled(group) for group in groups):
        for group in groups:
            yield from facts(group)
    else:
        yield from _table(title, groups)


def _table(title: str, groups: Sequence[list[Cell]]) -> Iterator[tuple[str, str]]:
    """Pairs the last two groups; one before them has headings, each over as many names."""
    names, values = list(_names(groups[-2])), list(texts(groups[-1]))
    headings = [title] if len(groups) == 2 else [text[:LONGEST_HEADING] for text in texts(groups[-3])]
    for place, (name, value) in enumerate(zip_longest(names, values, fillvalue="")):
        heading = headings[place * len(headings) // max(len(names), len(values))] if headings else ""
        yield f"{heading} {name}".strip(), value


def _names(group: Sequence[Cell], heading: str = "") -> Iterator[str]:
    """Names in a group; a group in it belongs to a name in front of it or at its own beginning."""
    for place, cell in enumerate(group):
        if isinstance(cell, list):
            yield from _names(cell, heading)
        elif _is_heading(group, place):
            heading = cell[:LONGEST_HEADING]
        else:
            yield f"{heading} {cell}".strip()


def _is_heading(group: Sequence[Cell], place: int) -> bool:
    """Whether a group of names follows that brings no heading of its own."""
    following = group[place + 1] if place + 1 < len(group) else ""
    return isinstance(following, list) and not _is_titled(following)


def texts(group: Sequence[Cell]) -> Iterator[str]:
    """The texts of all cells, in order."""
    for cell in group:
        if isinstance(cell, str):
            yield cell
        else:
            yield from texts(cell)


def _is_pair(cell: Cell) -> bool:
    return isinstance(cell, list) and len(cell) == 2 and all(isinstance(part, str) for part in cell)


def _pair(cell: Cell) -> tuple[str, str]:
    return str(cell[0]), str(cell[1])


def _is_titled(group: Sequence[Cell]) -> bool:
    return len(group) == 2 and isinstance(group[0], str) and isinstance(group[1], list)
