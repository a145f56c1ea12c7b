r"""Words of a text in the DOT language.

Receives any text; guarantees words that follow one another, without comments, each with its place. A quoted text is
given without its quotes, `\"` and broken lines resolved, all other escapes kept, because what they mean depends on
the label that they stand in. A text that never ends, or not soon enough,
is a word of its own kind, the last one.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from cgraph.view.dumps.limits import LONGEST_TEXT

Kind: TypeAlias = Literal["name", "quoted", "html", "sign", "open", "other", "end"]

_SPACE = re.compile(r"(?:[\s\ufeff\0]+|//[^\n]*|/\*.*?(?:\*/|\Z)|(?m:^)\#[^\n]*)++", re.DOTALL)
_WORD = re.compile(
    r"""
      (?P<name>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))
    | (?P<sign>->|--|[{}\[\];,=:+])
    | "(?P<quoted>[^"\\]*+(?:\\.[^"\\]*+)*+)"
    | (?P<open>["<])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ANGLE = re.compile("[<>]")
_QUOTE_ESCAPE = re.compile(r'\\("|\r?\n)')


class Word(NamedTuple):
    """One word with its place. `open` begins a text that has no end, `end` is the end of the file."""

    kind: Kind
    text: str
    start: int
    stop: int


def words(text: str, start: int) -> Iterator[Word]:
    """The words from an offset on; the last one has the kind `end` or `open`."""
    position = start
    while True:
        space = _SPACE.match(text, position)
        position = space.end() if space else position
        found = _WORD.match(text, position, position + LONGEST_TEXT)
        if found is None:
            yield Word("end", "", len(text), len(text))
            return
        kind = found.lastgroup
        if kind == "open":
            word = _html(text, position) if text[position] == "<" else None
            yield word or Word("open", text[position], position, min(len(text), position + LONGEST_TEXT))
            if word is None:
                return
        elif kind == "quoted":
            word = Word("quoted", _QUOTE_ESCAPE.sub(_unquoted, found["quoted"]), position, found.end())
            yield word
        else:
            word = Word(_KINDS[kind or ""], found[0], position, found.end())
            yield word
        position = word.stop


_KINDS: dict[str, Kind] = {"name": "name", "sign": "sign", "other": "other"}


def _unquoted(escape: re.Match[str]) -> str:
    return '"' if escape[1] == '"' else ""


def _html(text: str, start: int) -> Word | None:
    """A text in balanced angle brackets; None where they are not balanced."""
    depth = 0
    for bracket in _ANGLE.finditer(text, start, start + LONGEST_TEXT):
        depth += 1 if bracket[0] == "<" else -1
        if depth == 0:
            return Word("html", text[start + 1 : bracket.start()], start, bracket.end())
    return None
