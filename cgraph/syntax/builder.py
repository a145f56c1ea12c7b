"""Actions of the grammar for declarations and images.

Receives and guarantees what `term_builder.py` does. Documentation comes from the comments that the lexer has passed.
"""

from bisect import bisect_left
from typing import Any

from cgraph.core.signatures import Relation, SlotKind
from cgraph.source import Source
from cgraph.syntax import tree
from cgraph.syntax.documentation import documentation_above
from cgraph.syntax.term_builder import TermBuilder, Values


class TreeBuilder(TermBuilder):
    """Builds the tree of one source. Its public methods are the names after `->` in `grammar.lark`.

    Args:
        source: the text that tokens are offsets of.
        comments: those that the lexer has passed so far; documentation is found among them.
    """

    def __init__(self, source: Source, comments: list[tree.Comment]) -> None:
        super().__init__(source)
        self.comments = comments

    # ── declarations ──

    def import_file(self, values: Values) -> tree.Import:
        """An import."""
        keyword, path = values
        return tree.Import(self.string(path), self.span(keyword, path), self.span(path, path))

    def parameter(self, values: Values) -> tree.ParameterDeclaration:
        """A parameter without a default."""
        keyword, name, _, type_ = values
        return tree.ParameterDeclaration(name, type_, None, self._above(keyword), self.span(keyword, type_))

    def parameter_with_default(self, values: Values) -> tree.ParameterDeclaration:
        """A parameter with a default."""
        keyword, name, _, type_, _, default = values
        return tree.ParameterDeclaration(name, type_, default, self._above(keyword), self.span(keyword, default))

    def phase(self, values: Values) -> tree.PhaseDeclaration:
        """A phase whose title is its name."""
        keyword, name = values
        return tree.PhaseDeclaration(name, name.text, self._above(keyword), self.span(keyword, name))

    def phase_with_title(self, values: Values) -> tree.PhaseDeclaration:
        """A phase with a title."""
        keyword, name, title = values
        return tree.PhaseDeclaration(name, self.string(title), self._above(keyword), self.span(keyword, title))

    def plane(self, values: Values) -> tree.PlaneDeclaration:
        """A plane."""
        keyword, name, _, element, extent, role = values
        return self.plane_family([keyword, name, [], None, element, extent, role])

    def plane_family(self, values: Values) -> tree.PlaneDeclaration:
        """A family of planes."""
        keyword, name, indices, _, element, extent, role = values
        kind, gradient_of = role[0]
        span = self.span(keyword, role)
        above = self._above(keyword)
        return tree.PlaneDeclaration(name, tuple(indices), element[0], extent[0], kind, gradient_of, above, span)

    def index_binder(self, values: Values) -> tree.IndexBinder:
        """An index of a family."""
        return tree.IndexBinder(values[1], values[5], self.span(values[0], values[6]))

    def definition(self, values: Values) -> tree.Definition:
        """A definition without a type."""
        keyword, name, _, value = values
        return tree.Definition(name, None, value, self._above(keyword), self.span(keyword, value))

    def definition_with_type(self, values: Values) -> tree.Definition:
        """A definition with a type."""
        keyword, name, _, type_, _, value = values
        return tree.Definition(name, type_, value, self._above(keyword), self.span(keyword, value))

    def module(self, values: Values) -> tuple[tree.Declaration, ...]:
        """The declarations of a file."""
        return tuple(values[0])

    def empty_module(self, _values: Values) -> tuple[tree.Declaration, ...]:
        """A file without declarations."""
        return ()

    # ── images ──

    def image(self, values: Values) -> tree.ImageDeclaration:
        """An image."""
        keyword, name, _, _, file, entry, _, items, closer = values
        above = self._above(keyword)
        span = self.span(keyword, closer)
        return tree.ImageDeclaration(name, self.string(file), self.string(entry), tuple(items), above, span)

    def image_without_items(self, values: Values) -> tree.ImageDeclaration:
        """An image that says nothing of its kernel."""
        return self.image([*values[:-1], [], values[-1]])

    def natural_slot(self, values: Values) -> tree.SlotItem:
        """A slot that takes a natural."""
        return self._number_slot(SlotKind.NATURAL, values)

    def float_slot(self, values: Values) -> tree.SlotItem:
        """A slot that takes a float."""
        return self._number_slot(SlotKind.FLOAT, values)

    def pointer_slot(self, values: Values) -> tree.SlotItem:
        """A slot that takes a plane."""
        keyword, number, name, _, access, element, extent, optional, aliases = values
        last = aliases[-1] if aliases else optional or extent
        return tree.SlotItem(
            self.number(number),
            name,
            SlotKind.POINTER,
            access[0],
            element[0],
            extent[0],
            optional is not None,
            aliases,
            self.span(keyword, last),
        )

    def yes(self, values: Values) -> Any:
        """A word that may be left out, given."""
        return values[0]

    def no(self, _values: Values) -> None:
        """A word that may be left out, left out."""

    def aliases(self, values: Values) -> tuple[tree.Name, ...]:
        """Slots that may name the same plane."""
        return tuple(values[1])

    def no_aliases(self, _values: Values) -> tuple[tree.Name, ...]:
        """No such slots."""
        return ()

    def constant(self, values: Values) -> tree.ConstantItem:
        """A size that the kernel is compiled with."""
        return tree.ConstantItem(values[1], values[3], self.span(values[0], values[3]))

    def grid(self, values: Values) -> tree.GridItem:
        """The grid of a launch."""
        return tree.GridItem(values[1][0], self.span(values[0], values[1]))

    def block(self, values: Values) -> tree.BlockItem:
        """The threads of a block."""
        return tree.BlockItem(values[1][0], self.span(values[0], values[1]))

    def one_size(self, values: Values) -> tuple[tuple[tree.Term, ...], int, int]:
        """A size in x alone."""
        span = values[0].span
        return (values[0],), span.start, span.stop

    def shared(self, values: Values) -> tree.SharedItem:
        """Dynamic shared memory."""
        return tree.SharedItem(values[1], self.span(values[0], values[1]))

    def require_equal(self, values: Values) -> tree.RequireItem:
        """A condition that two sizes are equal."""
        return tree.RequireItem(values[1], Relation.EQUAL, values[3], self.span(values[0], values[3]))

    def require_at_most(self, values: Values) -> tree.RequireItem:
        """A condition that one size is at most another."""
        return tree.RequireItem(values[1], Relation.AT_MOST, values[3], self.span(values[0], values[3]))

    # ── help for the above ──

    def _above(self, keyword: Any) -> str:
        """The documentation of the declaration that begins with this token."""
        before = bisect_left(self.comments, keyword[1], key=lambda comment: comment.span.start)
        return documentation_above(self.source.text, keyword[1], self.comments, before)

    def _number_slot(self, kind: SlotKind, values: Values) -> tree.SlotItem:
        keyword, number, name, _, word = values
        position = self.number(number)
        return tree.SlotItem(position, name, kind, None, None, (), False, (), self.span(keyword, word))
