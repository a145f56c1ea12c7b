"""The syntax tree: what the parser makes and the printer prints.

Every node carries its span. Names are not resolved yet, nothing is checked. Nodes compare by identity: programs nest
100,000 deep, and a structural comparison would recurse.
"""

from typing import TypeAlias

from attrs import frozen

from cgraph.core.elements import Element
from cgraph.core.quantities import Quantity
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Relation, SlotKind
from cgraph.source import Source, Span

# ── terms ──────────────────────────────────────────────────────────────────────────────────────────


@frozen(eq=False)
class Name:
    """A use of a name."""

    text: str
    span: Span


@frozen(eq=False)
class NaturalLiteral:
    """A decimal natural."""

    value: int
    span: Span


@frozen(eq=False)
class FloatLiteral:
    """A float; the span's text is how it was written."""

    value: float
    span: Span


@frozen(eq=False)
class Lambda:
    """`(lambda quantity name : type . body)`."""

    quantity: Quantity
    name: Name
    type: "TypeExpression"
    body: "Term"
    span: Span


@frozen(eq=False)
class Let:
    """`(let quantity name [: type] = value in body)`."""

    quantity: Quantity
    name: Name
    type: "TypeExpression | None"
    value: "Term"
    body: "Term"
    span: Span


@frozen(eq=False)
class Apply:
    """`(function argument …)` with at least one argument; the parser makes `(x)` just x."""

    function: "Term"
    arguments: "tuple[Term, ...]"
    span: Span


Term: TypeAlias = Name | NaturalLiteral | FloatLiteral | Lambda | Let | Apply

# ── types ──────────────────────────────────────────────────────────────────────────────────────────


@frozen(eq=False)
class SimpleTypeExpression:
    """`Nat`, `Float`, `Phase`, `Image`, `Argument`, `Slots` or `Command`."""

    name: str
    span: Span


@frozen(eq=False)
class PlaneTypeExpression:
    """`Plane`, `Plane f32` or `Plane f32 [m, n]`; `extent` is None where it is not given."""

    element: Element | None
    extent: tuple[Term, ...] | None
    span: Span


@frozen(eq=False)
class PiTypeExpression:
    """`(pi quantity name : domain . codomain)`."""

    quantity: Quantity
    name: Name
    domain: "TypeExpression"
    codomain: "TypeExpression"
    span: Span


TypeExpression: TypeAlias = SimpleTypeExpression | PlaneTypeExpression | PiTypeExpression

# ── declarations ───────────────────────────────────────────────────────────────────────────────────
# `documentation` is the text of the comment block directly above, without comment marks; "" where there is none.


@frozen(eq=False)
class Import:
    """`import "path"`."""

    path: str
    span: Span
    path_span: Span


@frozen(eq=False)
class ParameterDeclaration:
    """`parameter name : type [= default]`."""

    name: Name
    type: TypeExpression
    default: Term | None
    documentation: str
    span: Span


@frozen(eq=False)
class PhaseDeclaration:
    """`phase name ["title"]`; the title is the name where none is given."""

    name: Name
    title: str
    documentation: str
    span: Span


@frozen(eq=False)
class IndexBinder:
    """`(name : Nat < bound)` of a plane family."""

    name: Name
    bound: Term
    span: Span


@frozen(eq=False)
class PlaneDeclaration:
    """`plane name (index …) : element [extent] role`. `gradient_of` is set exactly for the role GRADIENT."""

    name: Name
    indices: tuple[IndexBinder, ...]
    element: Element
    extent: tuple[Term, ...]
    role: Role
    gradient_of: Name | None
    documentation: str
    span: Span


@frozen(eq=False)
class SlotItem:
    """`slot 0 out : write f32 [m, n] [optional] [aliases a b]`, `slot 3 m : natural` or `slot 4 scale : float`."""

    number: int
    name: Name
    kind: SlotKind
    access: AccessMode | None
    element: Element | None
    extent: tuple[Term, ...]
    optional: bool
    aliases: tuple[Name, ...]
    span: Span


@frozen(eq=False)
class ConstantItem:
    """`constant name = term`: a size that the kernel is compiled with."""

    name: Name
    value: Term
    span: Span


@frozen(eq=False)
class GridItem:
    """`grid [x, y, z]`: the grid that a launch must ask for, in blocks; one to three terms, the rest are 1."""

    sizes: tuple[Term, ...]
    span: Span


@frozen(eq=False)
class BlockItem:
    """`block [x, y, z]`: threads of a block; one to three terms, the rest are 1."""

    sizes: tuple[Term, ...]
    span: Span


@frozen(eq=False)
class SharedItem:
    """`shared term`: bytes of dynamic shared memory of a block; 0 where it is not given."""

    size_bytes: Term
    span: Span


@frozen(eq=False)
class RequireItem:
    """`require term = term` or `require term <= term`: a condition on sizes that the kernel relies on."""

    left: Term
    relation: Relation
    right: Term
    span: Span


ImageItem: TypeAlias = SlotItem | ConstantItem | GridItem | BlockItem | SharedItem | RequireItem


@frozen(eq=False)
class ImageDeclaration:
    """`image name = kernel "file.cu" "entry" { items }`."""

    name: Name
    file: str
    entry: str
    items: tuple[ImageItem, ...]
    documentation: str
    span: Span


@frozen(eq=False)
class Definition:
    """`def name [: type] = term`."""

    name: Name
    type: TypeExpression | None
    value: Term
    documentation: str
    span: Span


Declaration: TypeAlias = (
    Import | ParameterDeclaration | PhaseDeclaration | PlaneDeclaration | ImageDeclaration | Definition
)


@frozen(eq=False)
class Comment:
    """A comment, its marks included."""

    span: Span


@frozen(eq=False)
class Module:
    """One file: its declarations and its comments, each in the order of the text."""

    source: Source
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...]
