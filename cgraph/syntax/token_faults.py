"""Explains places where no token can be read: characters, numbers, strings and comments."""

import re

from cgraph.diagnostics.problem import Problem
from cgraph.source import Source, Span
from cgraph.syntax.lexer import BAD_CHARACTER, BAD_NUMBER, OPEN_STRING, Token, open_comments
from cgraph.syntax.problems import (
    BadNumber,
    StrayClosing,
    UnexpectedCharacter,
    UnterminatedComment,
    UnterminatedString,
    describe_character,
)

_NUMBER_FAULTS = (
    (r"-[0-9]+", "a natural has no sign; a float has a point, as in `-1.0`"),
    (r"-?[0-9]+\.", "a float has digits after its point, as in `1.0`"),
    (r"-?[0-9.]+[eE]", "an exponent has digits, as in `1.0e-5`"),
    (r"-?[0-9]+(\.[0-9]*){2,}", "a float has one point"),
    (r"-?[0-9]+(_[0-9]*)+", "digits are not grouped"),
    (r"0[xXoObB].*", "naturals are decimal"),
    (r"[0-9]+[A-Za-z_'].*", "a name begins with a letter or `_`, a number has digits alone"),
)
_POINT_DIGITS = re.compile(r"\.[0-9]+(?:[eE][+-]?[0-9]+)?")


def explain_token_fault(source: Source, token: Token) -> Problem:
    """The problem of a token whose kind is one of the lexer's `FAULTS`."""
    kind, start, stop = token
    span = Span(source, start, stop)
    if kind == BAD_CHARACTER and source.text.startswith("-}", start):
        return StrayClosing(Span(source, start, start + 2), "-}", "comment")
    if kind == BAD_CHARACTER:
        return UnexpectedCharacter(span, describe_character(span.text))
    if kind == BAD_NUMBER:
        return BadNumber(span, _number_fault(span.text))
    if kind == OPEN_STRING:
        return UnterminatedString(Span(source, start, start + len(span.text.rstrip())))
    opened = open_comments(source.text, start)
    innermost = None if len(opened) == 1 else Span(source, opened[-1], opened[-1] + 2)
    return UnterminatedComment(Span(source, start, start + 2), innermost)


def float_without_digit(point: Span) -> BadNumber | None:
    """The problem of `.5`, where the point is followed by digits."""
    found = _POINT_DIGITS.match(point.source.text, point.start)
    if found is None:
        return None
    return BadNumber(Span(point.source, *found.span()), f"a float begins with a digit, as in `0{found[0][:20]}`")


def _number_fault(text: str) -> str:
    for pattern, reason in _NUMBER_FAULTS:
        if re.fullmatch(pattern, text):
            return reason
    return "a natural has digits alone, a float a point or an exponent, as in `1.0e-5`"
