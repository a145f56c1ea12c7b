"""Terms made by Python calls.

An `Expression` wraps a term of the syntax tree. Python numbers stand for literals, operators for the arithmetic of
naturals, a call for application. Bound variables are told apart by identity until `naming` gives them texts.
"""

import re
from math import isfinite
from typing import TypeAlias, Union

from attrs import frozen

from cgraph.source import Source, Span
from cgraph.syntax import tree

# Terms get real places when the program's text is printed and read.
UNPLACED = Span(Source("<python>", ""), 0, 0)
# Marks the names of bound variables: every use is the binder's own node.
BOUND = Span(Source("<bound>", ""), 0, 0)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")


@frozen(eq=False, repr=False)
class Expression:
    """A term. `-` stops at 0, `//` rounds down."""

    term: tree.Term

    def __call__(self, *arguments: "Value") -> "Expression":
        """The term applied to arguments."""
        if not arguments:
            return self
        return Expression(tree.Apply(self.term, tuple(term_of(argument) for argument in arguments), UNPLACED))

    def __add__(self, other: "Natural") -> "Expression":
        return reference("naturalAdd")(self, natural(other))

    def __radd__(self, other: int) -> "Expression":
        return reference("naturalAdd")(natural(other), self)

    def __mul__(self, other: "Natural") -> "Expression":
        return reference("naturalMultiply")(self, natural(other))

    def __rmul__(self, other: int) -> "Expression":
        return reference("naturalMultiply")(natural(other), self)

    def __sub__(self, other: "Natural") -> "Expression":
        return reference("naturalSubtract")(self, natural(other))

    def __rsub__(self, other: int) -> "Expression":
        return reference("naturalSubtract")(natural(other), self)

    def __floordiv__(self, other: "Natural") -> "Expression":
        return reference("naturalDivide")(self, natural(other))

    def __rfloordiv__(self, other: int) -> "Expression":
        return reference("naturalDivide")(natural(other), self)

    def __mod__(self, other: "Natural") -> "Expression":
        return reference("naturalModulo")(self, natural(other))

    def __rmod__(self, other: int) -> "Expression":
        return reference("naturalModulo")(natural(other), self)


Natural: TypeAlias = Union[Expression, int]  # noqa: UP007  (the quoted uses above need a plain alias)
Value: TypeAlias = Union[Expression, int, float]  # noqa: UP007  (as above)


def reference(name: str) -> Expression:
    """A use of a name that the program or the library declares.

    Raises:
        ValueError: it cannot be a name.
    """
    return Expression(tree.Name(checked_name(name), UNPLACED))


def natural(value: Natural) -> Expression:
    """A natural number.

    Raises:
        TypeError: it is neither an expression nor an int.
        ValueError: it is negative.
    """
    if isinstance(value, Expression):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a natural number is an int or an expression, not {value!r}")
    if value < 0:
        raise ValueError(f"natural numbers start at 0: {value}")
    return Expression(tree.NaturalLiteral(value, UNPLACED))


def floating(value: Value) -> Expression:
    """A float; an int stands for the float of the same value.

    Raises:
        TypeError: it is neither an expression nor a number.
        ValueError: it is infinite or not a number, which the language cannot write.
    """
    if isinstance(value, Expression):
        return value
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"a float is a number or an expression, not {value!r}")
    if not isfinite(value):
        raise ValueError(f"the language writes finite floats only, not {value!r}")
    return Expression(tree.FloatLiteral(float(value), UNPLACED))


def term_of(value: Value) -> tree.Term:
    """The term that a value stands for: an int is a natural, a float a float. Raises as `natural` and `floating` do."""
    return floating(value).term if isinstance(value, float) else natural(value).term


def checked_name(name: str) -> str:
    """The name itself.

    Raises:
        ValueError: it is no name of the language.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a name is a letter or _, then letters, digits, _ and ': {name!r}")
    return name


def checked_text(text: str) -> str:
    """The text itself, for a string of the language.

    Raises:
        ValueError: it has a line end, which the language cannot write in a string.
    """
    if "\n" in text or "\r" in text:
        raise ValueError(f"a string has no line end: {text!r}")
    return text
