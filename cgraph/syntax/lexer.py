"""Tokens of a program text.

Receives a source and the grammar's tables; guarantees that tokens come in order, end with one of kind `$END`, and
that comments are collected on the way. A place where no token can be read becomes a token of a kind that no rule
accepts (one of `FAULTS`): the parser stops there and says what is wrong.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from cgraph.source import Source, Span
from cgraph.syntax.tables import Tables
from cgraph.syntax.tree import Comment

Token: TypeAlias = tuple[str, int, int]
"""Kind, and the offsets where it starts and stops."""

END = "$END"
BAD_CHARACTER = "BAD_CHARACTER"
BAD_NUMBER = "BAD_NUMBER"
OPEN_STRING = "OPEN_STRING"
OPEN_COMMENT = "OPEN_COMMENT"
FAULTS = frozenset({BAD_CHARACTER, BAD_NUMBER, OPEN_STRING, OPEN_COMMENT})

_NUMBER_LIKE = r"-?[0-9](?:[eE][+-](?=[0-9])|[A-Za-z0-9_'.])*"
_COMMENT_MARK = re.compile(r"\{-|-\}")


def tokens(source: Source, tables: Tables, comments: list[Comment], position: int = 0) -> Iterator[Token]:
    """Yields the tokens from an offset on; appends to `comments` every comment that it passes."""
    text = source.text
    words = tables.words
    marks = tables.marks
    pattern, kinds = _compiled(tables)
    intern = sys.intern
    while True:
        for found in pattern.finditer(text, position):
            index = found.lastindex or 0
            start, stop = found.span(index)
            kind = kinds[index]
            if kind == "NAME":
                word = intern(found[index])
                yield words.get(word, kind), start, stop
            elif kind == "MARK":
                yield marks[found[index]], start, stop
            elif kind == "LINE_COMMENT":
                if text[stop - 1] == "\r":
                    stop -= 1
                comments.append(Comment(Span(source, start, stop)))
            elif kind == "COMMENT_OPENER":
                position = comment_end(text, start)
                if position < 0:
                    yield OPEN_COMMENT, start, len(text)
                    yield END, len(text), len(text)
                    return
                comments.append(Comment(Span(source, start, position)))
                break
            else:
                yield kind, start, stop
                if kind == END:
                    return


def open_comments(text: str, start: int) -> list[int]:
    """Offsets of the block comments that are open at the end of the text, from the one that starts here inwards."""
    opened: list[int] = []
    for mark in _COMMENT_MARK.finditer(text, start):
        if mark[0] == "{-":
            opened.append(mark.start())
        else:
            opened.pop()
    return opened


def comment_end(text: str, start: int) -> int:
    """The offset after the block comment that starts here, or -1 where it does not end."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark[0] == "{-" else -1
        if depth == 0:
            return mark.end()
    return -1


@cache
def _compiled(tables: Tables) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """One expression for every token, white space before it skipped, and the kind of each of its groups."""
    marks = "|".join(re.escape(mark) for mark in sorted(tables.marks, key=len, reverse=True))
    after_number = r"(?![A-Za-z0-9_'.])"
    groups = (
        ("NAME", tables.patterns["NAME"]),
        ("COMMENT_OPENER", r"\{-"),
        ("MARK", marks),
        ("NATURAL", tables.patterns["NATURAL"] + after_number),
        ("FLOAT", tables.patterns["FLOAT"] + after_number),
        ("STRING", tables.patterns["STRING"]),
        ("LINE_COMMENT", tables.patterns["LINE_COMMENT"]),
        (OPEN_STRING, r'"[^\n]*'),
        (BAD_NUMBER, _NUMBER_LIKE),
        (END, r"\Z"),
        (BAD_CHARACTER, r"."),
    )
    alternatives = "|".join(f"({expression})" for _, expression in groups)
    expression = f"(?:{tables.patterns['SPACE']})?(?:{alternatives})"
    return re.compile(expression, re.DOTALL), ("", *(kind for kind, _ in groups))
