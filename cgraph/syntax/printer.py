"""From syntax tree to text: the formatter, and short forms for messages.

Receives a module or a node; guarantees a text that parses to the same tree with the same comments, in lines of at most
100 columns where the text allows it, and that formatting it again changes nothing. One blank line is kept between
declarations, between the items of an image and between the links of a chain where the text has any; a declaration of
several lines always stands between blank lines. How terms are laid out is described in `term_printer.py`.
"""

from attrs import define

from cgraph.syntax.declaration_printer import write_declaration
from cgraph.syntax.layout import Layout
from cgraph.syntax.term_printer import TermPrinter
from cgraph.syntax.tree import Import, Module, Term, TypeExpression
from cgraph.syntax.trivia import Trivia

WIDTH = 120
MAXIMUM_MESSAGE_LENGTH = 80


@define(eq=False)
class _Piece:
    """A declaration with the comments on its last line, or a comment on lines of its own."""

    text: str
    blank_before: bool
    is_comment: bool
    is_tall: bool = False
    ends_line: bool = False
    """Ends with a `--` comment, so that nothing can follow on the line."""


def print_module(module: Module) -> str:
    """The text of a module, as `cgraph fmt` writes it. Linear in the size of the module."""
    trivia = Trivia(module.source, module.comments)
    pieces: list[_Piece] = []
    stop = 0
    for declaration in module.declarations:
        in_source = declaration.span.source is module.source
        if in_source:
            _add_comments(pieces, trivia, declaration.span.start, stop)
            stop = declaration.span.stop
        blank_before = in_source and trivia.blank_before(declaration.span.start)
        layout = Layout()
        write_declaration(layout, trivia, declaration)
        text = layout.render(WIDTH)
        is_tall = "\n" in text
        if not module.comments and not isinstance(declaration, Import) and declaration.documentation:
            text = _as_comment(declaration.documentation) + text
        pieces.append(_Piece(text, blank_before, is_comment=False, is_tall=is_tall))
    _add_comments(pieces, trivia, len(module.source.text) + 1, stop)
    _set_tall_apart(pieces)
    return "".join(("\n" if number and p.blank_before else "") + p.text + "\n" for number, p in enumerate(pieces))


def print_term(term: Term, maximum_length: int = MAXIMUM_MESSAGE_LENGTH) -> str:
    """A term on one line, for messages; cut with `…` where it is longer."""
    return _print_short(term, maximum_length)


def print_type(type_: TypeExpression, maximum_length: int = MAXIMUM_MESSAGE_LENGTH) -> str:
    """A type on one line, for messages; cut with `…` where it is longer."""
    return _print_short(type_, maximum_length)


def _print_short(node: Term | TypeExpression, maximum_length: int) -> str:
    layout = Layout()
    # Every second operation at least adds a character, so this many operations make the text long enough to be cut.
    TermPrinter(layout, Trivia(None, ())).write(node, 0, maximum_operations=8 * maximum_length)
    text = layout.flat()
    return text if len(text) <= maximum_length else text[: maximum_length - 1] + "…"


def _add_comments(pieces: list[_Piece], trivia: Trivia, limit: int, declaration_stop: int) -> None:
    """Adds the comments before `limit`: to the last piece where they share its line, else as pieces of their own.

    A comment from inside the declaration before, or from its last line, that got a line of its own must not document
    the next declaration: a blank line follows.
    """
    moved = False
    while (comment := trivia.take(limit)) is not None:
        last = pieces[-1] if pieces else None
        if last is not None and comment.same_line and not last.ends_line:
            last.text += " " + comment.text
            last.ends_line = comment.ends_line
        else:
            follows_moved = moved
            moved = comment.same_line or comment.start < declaration_stop
            blank_before = comment.blank_before or (follows_moved and not moved)
            pieces.append(_Piece(comment.text, blank_before, is_comment=True, ends_line=comment.ends_line))
    if moved:
        trivia.force_blank()


def _set_tall_apart(pieces: list[_Piece]) -> None:
    """Puts blank lines around declarations of several lines; comments directly above belong to the declaration."""
    for number, piece in enumerate(pieces):
        if not piece.is_tall:
            continue
        first = number
        while first > 0 and not pieces[first].blank_before and pieces[first - 1].is_comment:
            first -= 1
        pieces[first].blank_before = True
        if number + 1 < len(pieces):
            pieces[number + 1].blank_before = True


def _as_comment(documentation: str) -> str:
    return "".join(f"-- {line}".rstrip() + "\n" for line in documentation.split("\n"))
