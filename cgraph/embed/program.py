"""A program built by Python calls, declaration by declaration.

Guarantees nothing about the program but that it can be written: its text is checked like any other, so that every
place in a message is a place in that text.
"""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.embed.binders import NAT
from cgraph.embed.expressions import (
    UNPLACED,
    Expression,
    Natural,
    Value,
    checked_name,
    checked_text,
    natural,
    reference,
    term_of,
)
from cgraph.embed.naming import Namer, Part, reserved_texts
from cgraph.embed.slots import Item
from cgraph.source import Source
from cgraph.syntax import tree
from cgraph.syntax.printer import print_module


@frozen(eq=False)
class _Declared:
    """A declaration before its variables have names: `make` puts the parts with named variables in."""

    name: str
    parts: tuple[Part, ...]
    make: Callable[[Sequence[Any]], tree.Declaration]


class Program:
    """Declarations in order. Every method that declares a name gives back an expression that uses it.

    `documentation` becomes the comment above the declaration. A name that the language cannot write raises ValueError.

    Args:
        imports: files whose declarations the program uses, relative to its folder or to the library.
    """

    def __init__(self, imports: Sequence[str] = ()) -> None:
        self._imports = tuple(checked_text(path) for path in imports)
        self._declared: list[_Declared] = []

    def parameter(
        self, name: str, type_: tree.TypeExpression = NAT, *, default: Value | None = None, documentation: str = ""
    ) -> Expression:
        """A value that is bound when a graph is built."""
        parts = (type_, None if default is None else term_of(default))
        return self._declare(
            name, parts, lambda made: tree.ParameterDeclaration(_node(name), made[0], made[1], documentation, UNPLACED)
        )

    def phase(self, name: str, title: str | None = None, *, documentation: str = "") -> Expression:
        """A named part of programs; the title is the name where none is given."""
        shown = name if title is None else checked_text(title)
        return self._declare(name, (), lambda _: tree.PhaseDeclaration(_node(name), shown, documentation, UNPLACED))

    def plane(
        self,
        name: str,
        element: Element | str,
        extent: Sequence[Natural],
        role: Role | str | None = None,
        *,
        gradient_of: Expression | str | None = None,
        indices: Sequence[tuple[str, Natural]] = (),
        documentation: str = "",
    ) -> Expression:
        """A plane, or with indices a family of planes, used like `family(l)`.

        Args:
            name: of the plane or family.
            element: what one element is.
            extent: row-major, in elements; it may use the indices, by `reference("l")`.
            role: not given exactly where gradient_of is.
            gradient_of: the plane whose gradient this is.
            indices: name and exclusive upper bound of each index.
            documentation: the comment above it.

        Raises:
            ValueError: an unknown element type or role, or not one of role and gradient_of.
        """
        if (role is None) is (gradient_of is None) or (role is not None and Role(role) is Role.GRADIENT):
            raise ValueError(f"plane {name}: give a role, or gradient_of for a gradient")
        element = Element(element)
        of = None if gradient_of is None else _node(_text_of(gradient_of))
        index_names = [_node(index) for index, _ in indices]
        bounds = tuple(natural(bound).term for _, bound in indices)
        sizes = tuple(natural(size).term for size in extent)

        def make(made: Sequence[Any]) -> tree.Declaration:
            binders = tuple(
                tree.IndexBinder(index, bound, UNPLACED)
                for index, bound in zip(index_names, made[: len(bounds)], strict=True)
            )
            kind = Role.GRADIENT if role is None else Role(role)
            extent_terms = tuple(made[len(bounds) :])
            return tree.PlaneDeclaration(_node(name), binders, element, extent_terms, kind, of, documentation, UNPLACED)

        return self._declare(name, (*bounds, *sizes), make)

    def image(self, name: str, file: str, entry: str, items: Sequence[Item], *, documentation: str = "") -> Expression:
        """A kernel with its signature.

        Args:
            name: of the image.
            file: the .cu file.
            entry: the kernel in it.
            items: made by the functions of `slots`; slots in the order of the kernel's parameters.
            documentation: the comment above it.
        """

        def make(made: Sequence[Any]) -> tree.Declaration:
            terms = iter(made)
            nodes = []
            number = 0
            for item in items:
                nodes.append(item.make(tuple(next(terms) for _ in item.sizes), number))
                number += item.is_slot
            return tree.ImageDeclaration(
                _node(name), checked_text(file), checked_text(entry), tuple(nodes), documentation, UNPLACED
            )

        return self._declare(name, tuple(size for item in items for size in item.sizes), make)

    def define(
        self, name: str, value: Value, type_: tree.TypeExpression | None = None, *, documentation: str = ""
    ) -> Expression:
        """A definition."""
        parts = (type_, term_of(value))
        return self._declare(
            name, parts, lambda made: tree.Definition(_node(name), made[0], made[1], documentation, UNPLACED)
        )

    def source(self, name: str = "<python>") -> Source:
        """The program's text, as `cgraph fmt` would lay it out.

        Raises:
            ValueError: a variable is used outside the function that binds it.
        """
        namer = Namer(declared.name for declared in self._declared)
        declarations: list[tree.Declaration] = [tree.Import(path, UNPLACED, UNPLACED) for path in self._imports]
        declarations += (declared.make(namer.name_variables(declared.parts)) for declared in self._declared)
        return Source(name, print_module(tree.Module(Source(name, ""), tuple(declarations), ())))

    def _declare(
        self, name: str, parts: tuple[Part, ...], make: Callable[[Sequence[Any]], tree.Declaration]
    ) -> Expression:
        if checked_name(name) in reserved_texts():
            raise ValueError(f"{name} is a word of the language")
        self._declared.append(_Declared(name, parts, make))
        return reference(name)


def _node(name: str) -> tree.Name:
    return tree.Name(checked_name(name), UNPLACED)


def _text_of(plane: Expression | str) -> str:
    if isinstance(plane, str):
        return plane
    if not isinstance(plane.term, tree.Name):
        raise TypeError("gradient_of takes the name of a plane or of a family, without indices")
    return plane.term.text
