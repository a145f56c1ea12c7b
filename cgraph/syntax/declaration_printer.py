"""Declarations as text.

Receives one declaration; guarantees its layout without the comments around it (see `printer.py`), those inside it kept.
Imports, phases, planes and the items of an image stand on one line unless an extent is too long for it.
"""

from attrs import frozen

from cgraph.core.signatures import SlotKind
from cgraph.source import Span
from cgraph.syntax.layout import Layout
from cgraph.syntax.literals import string_text
from cgraph.syntax.term_printer import INDENT, TermPrinter
from cgraph.syntax.tree import (
    BlockItem,
    ConstantItem,
    Declaration,
    Definition,
    GridItem,
    ImageDeclaration,
    ImageItem,
    Import,
    ParameterDeclaration,
    PhaseDeclaration,
    PlaneDeclaration,
    RequireItem,
    SharedItem,
    SlotItem,
    Term,
    TypeExpression,
)
from cgraph.syntax.trivia import Trivia


def write_declaration(layout: Layout, trivia: Trivia, declaration: Declaration) -> None:
    """Writes a declaration from column 0 on."""
    writer = _Writer(layout, trivia, TermPrinter(layout, trivia))
    match declaration:
        case Import():
            layout.text(f"import {string_text(declaration.path)}")
        case PhaseDeclaration():
            title = "" if declaration.title == declaration.name.text else f" {string_text(declaration.title)}"
            layout.text(f"phase {declaration.name.text}{title}")
        case ParameterDeclaration():
            writer.binding(f"parameter {declaration.name.text}", declaration.type, declaration.default)
        case Definition():
            writer.binding(f"def {declaration.name.text}", declaration.type, declaration.value)
        case PlaneDeclaration():
            writer.plane(declaration)
        case ImageDeclaration():
            writer.image(declaration)
    trivia.reach(declaration.span)


@frozen
class _Writer:
    layout: Layout
    trivia: Trivia
    terms: TermPrinter

    def binding(self, head: str, type_: TypeExpression | None, value: Term | None) -> None:
        """`head : type = value`."""
        layout = self.layout
        layout.open()
        layout.open()
        layout.text(head)
        if type_ is not None:
            layout.text(" :")
            self.trivia.break_before(layout, type_.span, 2 * INDENT)
            self.terms.write(type_, 2 * INDENT)
        if value is not None:
            layout.text(" =")
        layout.close()
        if value is not None:
            self.trivia.break_before(layout, value.span, INDENT)
            self.terms.write(value, INDENT)
        layout.close()

    def plane(self, plane: PlaneDeclaration) -> None:
        """A plane or a family of planes."""
        self.layout.text(f"plane {plane.name.text}")
        for index in plane.indices:
            self.layout.text(f" ({index.name.text} : Nat < ")
            self.terms.write(index.bound, INDENT)
            self.layout.text(")")
        self.layout.text(f" : {plane.element.value} ")
        self.terms.write_sizes(plane.extent, INDENT)
        of = "" if plane.gradient_of is None else f" of {plane.gradient_of.text}"
        self.layout.text(f" {plane.role.value}{of}")

    def image(self, image: ImageDeclaration) -> None:
        """An image, an item a line."""
        head = f"image {image.name.text} = kernel {string_text(image.file)} {string_text(image.entry)} {{"
        self.layout.text(head)
        self.trivia.reach(Span(image.span.source, image.name.span.stop, image.name.span.stop))
        for number, item in enumerate(image.items):
            self.trivia.line_before(self.layout, item.span, INDENT, keep_blank=number > 0)
            self.item(item)
            self.trivia.reach(item.span)
        self.trivia.end_lines(self.layout, image.span, INDENT)
        self.layout.text("}")

    def item(self, item: ImageItem) -> None:
        """One item of an image."""
        match item:
            case SlotItem():
                self.slot(item)
            case ConstantItem(name, value):
                self.layout.text(f"constant {name.text} = ")
                self.terms.write(value, INDENT)
            case GridItem(sizes):
                self.sizes("grid", sizes)
            case BlockItem(sizes):
                self.sizes("block", sizes)
            case SharedItem(size_bytes):
                self.sizes("shared", (size_bytes,))
            case RequireItem(left, relation, right):
                self.layout.text("require ")
                self.terms.write(left, INDENT)
                self.layout.text(f" {relation.value} ")
                self.terms.write(right, INDENT)

    def slot(self, slot: SlotItem) -> None:
        """A slot of an image."""
        head = f"slot {slot.number} {slot.name.text} : "
        if slot.kind is not SlotKind.POINTER or slot.access is None or slot.element is None:
            self.layout.text(head + slot.kind.value)
            return
        self.layout.text(f"{head}{slot.access.value} {slot.element.value} ")
        self.terms.write_sizes(slot.extent, INDENT)
        if slot.optional:
            self.layout.text(" optional")
        if slot.aliases:
            self.layout.text(" aliases " + " ".join(name.text for name in slot.aliases))

    def sizes(self, word: str, sizes: tuple[Term, ...]) -> None:
        """`word n` or `word [x, y, z]`."""
        self.layout.text(f"{word} ")
        if len(sizes) == 1:
            self.terms.write(sizes[0], INDENT)
        else:
            self.terms.write_sizes(sizes, INDENT)
