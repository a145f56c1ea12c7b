"""Actions of the grammar for terms, types and words.

Receives values in the order of the rule: a token is `(kind, start, stop)`, and a word of the language, an extent or a
role is `(value, start, stop)`, so that places are read alike. Guarantees the nodes of `tree.py` with their spans, and
records in `problems` what only a look inside a token can tell (escapes, huge numbers). The grammar decides what may
stand where; declarations are in `builder.py`.
"""

import math
import re
import sys
from typing import Any, TypeAlias

from cgraph.core.elements import Element
from cgraph.core.quantities import Quantity
from cgraph.core.roles import AccessMode, Role
from cgraph.diagnostics.problem import Problem
from cgraph.source import Source, Span
from cgraph.syntax import tree
from cgraph.syntax.problems import BadNumber, UnknownEscape

Values: TypeAlias = list[Any]

MAXIMUM_DIGITS = 100
"""Digits of the longest natural: far beyond any size, and short enough that converting it costs nothing."""

_ESCAPE = re.compile(r"\\(.)")
_QUANTITIES = {quantity.name: quantity for quantity in Quantity}
_ELEMENTS = {element.name: element for element in Element}
_ACCESSES = {mode.name: mode for mode in AccessMode}
_ROLES = {role.name: role for role in Role}


def stop_of(value: Any) -> int:
    """Where a token or a node ends."""
    stop: int = value[2] if isinstance(value, tuple) else value.span.stop
    return stop


class TermBuilder:
    """Builds terms and types of one source.

    Args:
        source: the text that tokens are offsets of.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    # ── lists ──

    def first(self, values: Values) -> list[Any]:
        """A list of one."""
        return values

    def more(self, values: Values) -> list[Any]:
        """A list and one more."""
        items: list[Any] = values[0]
        items.append(values[1])
        return items

    def more_after_comma(self, values: Values) -> list[Any]:
        """A list, a comma and one more."""
        items: list[Any] = values[0]
        items.append(values[2])
        return items

    # ── terms ──

    def name(self, values: Values) -> tree.Name:
        """A name; the many copies of one name in a text share their characters."""
        _, start, stop = values[0]
        source = self.source
        return tree.Name(sys.intern(source.text[start:stop]), Span(source, start, stop))

    def natural(self, values: Values) -> tree.NaturalLiteral:
        """A natural."""
        token = values[0]
        return tree.NaturalLiteral(self.number(token), self.span(token, token))

    def float(self, values: Values) -> tree.FloatLiteral:
        """A float."""
        span = self.span(values[0], values[0])
        value = float(span.text)
        if math.isinf(value):
            self.problems.append(BadNumber(span, "a float of 64 bits ends at about 1.8e308"))
        return tree.FloatLiteral(value, span)

    def parenthesised(self, values: Values) -> Any:
        """`(x)` is x."""
        return values[1]

    def apply(self, values: Values) -> tree.Apply:
        """An application."""
        return tree.Apply(values[1], tuple(values[2]), Span(self.source, values[0][1], values[3][2]))

    def lambda_term(self, values: Values) -> tree.Lambda:
        """A function."""
        opener, _, quantity, name, _, type_, _, body, closer = values
        return tree.Lambda(quantity[0], name, type_, body, self.span(opener, closer))

    def let(self, values: Values) -> tree.Let:
        """A local name."""
        opener, _, quantity, name, _, value, _, body, closer = values
        return tree.Let(quantity[0], name, None, value, body, self.span(opener, closer))

    def let_with_type(self, values: Values) -> tree.Let:
        """A local name whose type is given."""
        opener, _, quantity, name, _, type_, _, value, _, body, closer = values
        return tree.Let(quantity[0], name, type_, value, body, self.span(opener, closer))

    def extent(self, values: Values) -> tuple[tuple[tree.Term, ...], int, int]:
        """`[m, n]`."""
        return tuple(values[1]), values[0][1], values[2][2]

    # ── types ──

    def simple_type(self, values: Values) -> tree.SimpleTypeExpression:
        """A type of one word."""
        span = self.span(values[0], values[0])
        return tree.SimpleTypeExpression(sys.intern(span.text), span)

    def plane_type(self, values: Values) -> tree.PlaneTypeExpression:
        """`Plane`, with or without element and extent."""
        element = values[1][0] if len(values) > 1 else None
        extent = values[2][0] if len(values) > 2 else None
        return tree.PlaneTypeExpression(element, extent, self.span(values[0], values[-1]))

    def pi(self, values: Values) -> tree.PiTypeExpression:
        """The type of a function."""
        opener, _, quantity, name, _, domain, _, codomain, closer = values
        return tree.PiTypeExpression(quantity[0], name, domain, codomain, self.span(opener, closer))

    # ── words ──

    def quantity(self, values: Values) -> tuple[Quantity, int, int]:
        """How often a bound name is used."""
        kind, start, stop = values[0]
        return _QUANTITIES[kind], start, stop

    def element(self, values: Values) -> tuple[Element, int, int]:
        """What an element of a plane is."""
        kind, start, stop = values[0]
        return _ELEMENTS[kind], start, stop

    def access(self, values: Values) -> tuple[AccessMode, int, int]:
        """How a slot's plane is touched."""
        kind, start, stop = values[0]
        return _ACCESSES[kind], start, stop

    def role(self, values: Values) -> tuple[tuple[Role, None], int, int]:
        """What a plane is for."""
        kind, start, stop = values[0]
        return (_ROLES[kind], None), start, stop

    def gradient_role(self, values: Values) -> tuple[tuple[Role, tree.Name], int, int]:
        """A plane that holds another one's gradient."""
        return (Role.GRADIENT, values[2]), values[0][1], stop_of(values[2])

    # ── help for the above ──

    def span(self, first: Any, last: Any) -> Span:
        """From the start of one token to the end of another token or node."""
        return Span(self.source, first[1], stop_of(last))

    def number(self, token: Any) -> int:
        """The value of a natural token."""
        span = self.span(token, token)
        if span.stop - span.start > MAXIMUM_DIGITS:
            self.problems.append(BadNumber(span, f"a natural has at most {MAXIMUM_DIGITS} digits"))
            return 0
        return int(span.text)

    def string(self, token: Any) -> str:
        """The value of a string token: marks removed, escapes replaced."""
        _, start, stop = token
        written = self.source.text[start + 1 : stop - 1]
        if "\\" not in written:
            return written
        for escape in _ESCAPE.finditer(written):
            if escape[1] not in '"\\':
                place = Span(self.source, start + 1 + escape.start(), start + 1 + escape.end())
                self.problems.append(UnknownEscape(place, escape[1]))
        return _ESCAPE.sub(r"\1", written)
