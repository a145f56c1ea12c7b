"""Terms and types as text, laid out for people.

Receives tree nodes; guarantees a layout of linear size, by an explicit stack. The forms of a term that does not fit
on its line:

    (cgThen first               a chain: the last argument applies the same function again. Each link begins a line,
    (cgThen second              without more indentation; the last argument of the last link is indented.
      third))

    (lambda unrestricted l : Nat .          binders (lambda, let, pi) chain in the same way
    (let unrestricted x = (cgBoundary l) in
      body))

    (cgPhase cgPhaseQkv         any other application: head and arguments on the first line if all but the last fit
      body)

    (cgLayerNormBackward        and else each argument on its own line
      (cgLayerParameter l cgItemNorm1Gain)
      x)

Indentation stops growing at column 40: nesting may be 100,000 deep.
"""

from collections.abc import Callable, Sequence
from typing import Any

from cgraph.syntax.layout import Layout
from cgraph.syntax.literals import float_text
from cgraph.syntax.tree import (
    Apply,
    FloatLiteral,
    Lambda,
    Let,
    Name,
    NaturalLiteral,
    PiTypeExpression,
    PlaneTypeExpression,
    SimpleTypeExpression,
    Term,
    TypeExpression,
)
from cgraph.syntax.trivia import Trivia

INDENT = 2
MAXIMUM_INDENT = 40
SLOT_FILLERS = frozenset({"cgPointer", "cgNatural", "cgFloat"})

_Step = tuple[Callable[..., None], tuple[Any, ...]]


class TermPrinter:
    """Writes terms and types into a layout.

    Args:
        layout: receives the operations.
        trivia: comments and blank lines between the parts.
    """

    def __init__(self, layout: Layout, trivia: Trivia) -> None:
        self._layout = layout
        self._trivia = trivia
        self._steps: list[_Step] = []

    def write(self, node: Term | TypeExpression, base: int, maximum_operations: int | None = None) -> None:
        """Writes a node whose lines are indented by `base`; stops early once the layout holds so many operations."""
        self._steps.append((self._node, (node, base)))
        while self._steps:
            step, arguments = self._steps.pop()
            step(*arguments)
            if maximum_operations is not None and len(self._layout) > maximum_operations:
                self._steps.clear()

    def write_sizes(self, sizes: Sequence[Term], base: int) -> None:
        """Writes `[m, n]`."""
        self._layout.open()
        self._layout.mark("[", base)
        for number, size in enumerate(sizes):
            if number:
                self._layout.text(",")
                self._trivia.break_before(self._layout, size.span, _inner(base))
            self.write(size, _inner(base))
        self._layout.mark("]", base)
        self._layout.close()

    def _node(self, node: Term | TypeExpression, base: int, linked: bool = False) -> None:
        """One node; a linked one belongs to the group of the chain it continues."""
        layout = self._layout
        match node:
            case Name(text) | SimpleTypeExpression(text):
                layout.text(text)
                self._trivia.reach(node.span)
            case NaturalLiteral(value):
                layout.text(str(value))
                self._trivia.reach(node.span)
            case FloatLiteral():
                layout.text(float_text(node))
                self._trivia.reach(node.span)
            case Apply():
                self._apply(node, base, linked)
            case Lambda(quantity, name, type_, body):
                self._binder(node, base, linked, f"lambda {quantity.value} {name.text} : ", type_, body)
            case PiTypeExpression(quantity, name, domain, codomain):
                self._binder(node, base, linked, f"pi {quantity.value} {name.text} : ", domain, codomain)
            case Let():
                self._let(node, base, linked)
            case PlaneTypeExpression():
                self._plane(node, base)

    def _plan(self, *steps: _Step) -> None:
        self._steps.extend(reversed(steps))

    def _apply(self, node: Apply, base: int, linked: bool) -> None:
        inner = _inner(base)
        *before, last = node.arguments
        ends_chain = linked and isinstance(last, Name)
        steps: list[_Step] = [(self._node, (node.function, inner))]
        for argument in node.arguments if ends_chain else before:
            steps += (self._break, (argument, inner)), (self._node, (argument, inner))
        self._begin(base, linked)
        self._layout.open()
        self._plan(
            *steps,
            (self._layout.close, ()),
            *(() if ends_chain else self._tail(last, base, _applies_same(node, last))),
            (self._end, (node, base, linked)),
        )

    def _binder(
        self,
        node: Lambda | PiTypeExpression,
        base: int,
        linked: bool,
        head: str,
        type_: TypeExpression,
        body: Term | TypeExpression,
    ) -> None:
        chained = isinstance(body, PiTypeExpression if isinstance(node, PiTypeExpression) else Lambda | Let)
        self._begin(base, linked)
        self._layout.text(head)
        self._plan(
            (self._node, (type_, _inner(_inner(base)))),
            (self._layout.text, (" .",)),
            *self._tail(body, base, chained),
            (self._end, (node, base, linked)),
        )

    def _let(self, node: Let, base: int, linked: bool) -> None:
        inner = _inner(base)
        deeper = _inner(inner)
        self._begin(base, linked)
        self._layout.open()
        self._layout.text(f"let {node.quantity.value} {node.name.text}")
        typed: list[_Step] = []
        if node.type is not None:
            typed = [(self._layout.text, (" : ",)), (self._node, (node.type, deeper))]
        self._plan(
            *typed,
            (self._layout.text, (" =",)),
            (self._break, (node.value, deeper)),
            (self._node, (node.value, deeper)),
            (self._layout.line, (inner,)),
            (self._layout.text, ("in",)),
            (self._layout.close, ()),
            *self._tail(node.body, base, isinstance(node.body, Lambda | Let)),
            (self._end, (node, base, linked)),
        )

    def _plane(self, node: PlaneTypeExpression, base: int) -> None:
        self._layout.text("Plane" if node.element is None else f"Plane {node.element.value}")
        if node.extent is None:
            self._trivia.reach(node.span)
            return
        self._layout.text(" ")
        self._layout.open()
        self._layout.mark("[", base)
        steps: list[_Step] = []
        for number, size in enumerate(node.extent):
            if number:
                steps += (self._layout.text, (",",)), (self._break, (size, _inner(base)))
            steps.append((self._node, (size, _inner(base))))
        self._plan(
            *steps,
            (self._layout.mark, ("]", base)),
            (self._layout.close, ()),
            (self._trivia.reach, (node.span,)),
        )

    def _tail(self, last: Term | TypeExpression, base: int, chained: bool) -> tuple[_Step, _Step]:
        """The break before the last part, and the part; a link of a chain keeps the indentation and the group."""
        indent = base if chained else _inner(base)
        keep_blank = chained and isinstance(last, Apply)
        return (self._break, (last, indent, keep_blank)), (self._node, (last, indent, chained))

    def _break(self, node: Term | TypeExpression, indent: int, keep_blank: bool = False) -> None:
        self._trivia.break_before(self._layout, node.span, indent, keep_blank=keep_blank)

    def _begin(self, base: int, linked: bool) -> None:
        if not linked:
            self._layout.open()
        self._layout.mark("(", base)

    def _end(self, node: Term | TypeExpression, base: int, linked: bool) -> None:
        self._trivia.end(self._layout, node.span, _inner(base))
        self._layout.mark(")", base)
        if not linked:
            self._layout.close()


def _inner(base: int) -> int:
    return min(base + INDENT, MAXIMUM_INDENT)


def _applies_same(node: Apply, last: Term) -> bool:
    """Whether the last argument applies the same named function again, or fills the next slot of a launch."""
    outer = node.function
    inner = last.function if isinstance(last, Apply) else None
    if not isinstance(outer, Name) or not isinstance(inner, Name):
        return False
    return outer.text == inner.text or {outer.text, inner.text} <= SLOT_FILLERS
