"""Checked terms: the syntax tree with every name resolved.

Made by the type rules from the syntax tree, read by the evaluator. A local name is the number of binders between its
use and its binder, so an environment is a linked list. Literals, lambdas, lets and applications keep their spans.
"""

from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

from cgraph.source import Span


class Primitive(Enum):
    """The names that the language itself defines, each with the number of its arguments."""

    THEN = "cgThen", 2
    PHASE = "cgPhase", 2
    LAUNCH = "cgLaunch", 5
    ARGUMENT = "cgArgument", 1
    POINTER = "cgPointer", 3
    NATURAL = "cgNatural", 3
    FLOAT = "cgFloat", 3
    NO_SLOTS = "cgNoSlots", 0
    FILL = "cgFill", 2
    COPY = "cgCopy", 2
    NOTHING = "cgNothing", 0
    AT = "cgAt", 2
    EACH = "cgEach", 2
    EACH_DOWN = "cgEachDown", 2
    ADD = "naturalAdd", 2
    MULTIPLY = "naturalMultiply", 2
    SUBTRACT = "naturalSubtract", 2
    DIVIDE = "naturalDivide", 2
    CEIL_DIVIDE = "naturalCeilDivide", 2
    MODULO = "naturalModulo", 2
    MINIMUM = "naturalMinimum", 2
    MAXIMUM = "naturalMaximum", 2
    FOLD = "naturalFold", 3

    def __init__(self, text: str, arity: int) -> None:
        self.text = text
        self.arity = arity


@frozen(eq=False)
class Local:
    """A bound name, `distance` binders out (0: the nearest); `level` binders are around its use."""

    distance: int
    level: int
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
    """A lambda with `level` binders around it; its type has been checked and is not needed any more."""

    name: str
    body: "CheckedTerm"
    level: int
    span: Span


@frozen(eq=False)
class Binding:
    """A let with `level` binders around it."""

    name: str
    value: "CheckedTerm"
    body: "CheckedTerm"
    level: int
    span: Span


@frozen(eq=False)
class Application:
    """A function and its arguments.

    `primitive` is the function where it is a primitive with just as many arguments as it takes; most are.
    """

    function: "CheckedTerm"
    arguments: "tuple[CheckedTerm, ...]"
    span: Span
    primitive: Primitive | None = field(init=False, repr=False)

    @primitive.default
    def _primitive(self) -> Primitive | None:
        value = self.function.value if isinstance(self.function, Constant) else None
        return value if isinstance(value, Primitive) and value.arity == len(self.arguments) else None


@frozen(eq=False)
class Hole:
    """A term that has an error; it evaluates to an unknown value, so that the rest can still be checked."""

    span: Span


CheckedTerm: TypeAlias = Local | Global | Constant | Function | Binding | Application | Hole
