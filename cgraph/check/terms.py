"""Checked terms: the syntax tree with every name resolved.

Made by the type rules from the syntax tree, read by the evaluator. A local name is the number of binders between its
use and its binder, so an environment is a linked list. Literals, lambdas, lets and applications keep their spans.
"""

from enum import Enum
from typing import TypeAlias

from attrs import frozen

from cgraph.source import Span


class Primitive(Enum):
    """The names that the language itself defines."""

    THEN = "cgThen"
    PHASE = "cgPhase"
    LAUNCH = "cgLaunch"
    ARGUMENT = "cgArgument"
    POINTER = "cgPointer"
    NATURAL = "cgNatural"
    FLOAT = "cgFloat"
    NO_SLOTS = "cgNoSlots"
    FILL = "cgFill"
    COPY = "cgCopy"
    NOTHING = "cgNothing"
    AT = "cgAt"
    EACH = "cgEach"
    EACH_DOWN = "cgEachDown"
    ADD = "naturalAdd"
    MULTIPLY = "naturalMultiply"
    SUBTRACT = "naturalSubtract"
    DIVIDE = "naturalDivide"
    CEIL_DIVIDE = "naturalCeilDivide"
    MODULO = "naturalModulo"
    MINIMUM = "naturalMinimum"
    MAXIMUM = "naturalMaximum"
    FOLD = "naturalFold"


@frozen(eq=False)
class Local:
    """A bound name, `distance` binders out (0: the nearest)."""

    distance: int
    name: str
    span: Span


@frozen(eq=False)
class Global:
    """A declared name."""

    name: str
    span: Span


@frozen(eq=False)
class Constant:
    """A primitive or a literal number."""

    value: Primitive | int | float
    span: Span


@frozen(eq=False)
class Function:
    """A lambda; its type has been checked and is not needed any more."""

    name: str
    body: "CheckedTerm"
    span: Span


@frozen(eq=False)
class Binding:
    """A let."""

    name: str
    value: "CheckedTerm"
    body: "CheckedTerm"
    span: Span


@frozen(eq=False)
class Application:
    """A function and its arguments."""

    function: "CheckedTerm"
    arguments: "tuple[CheckedTerm, ...]"
    span: Span


@frozen(eq=False)
class Hole:
    """A term that has an error; it evaluates to an unknown value, so that the rest can still be checked."""

    span: Span


CheckedTerm: TypeAlias = Local | Global | Constant | Function | Binding | Application | Hole
