"""Explains why the parser stopped.

Receives the parser's stacks and the token that no rule accepts; guarantees one problem whose place is the cause as
far as the text tells it: the bracket that is open, not the declaration after it. Faults inside a token are in
`token_faults.py`.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from attrs import frozen

from cgraph.diagnostics.problem import Problem
from cgraph.source import Source, Span
from cgraph.syntax.brackets import suspect_by_indentation
from cgraph.syntax.documentation import is_first_on_line
from cgraph.syntax.lexer import END, FAULTS, Token, tokens
from cgraph.syntax.problems import MismatchedClosing, ReservedWord, StrayClosing, UnclosedBracket, UnexpectedToken
from cgraph.syntax.tables import State, Tables
from cgraph.syntax.term_builder import stop_of
from cgraph.syntax.token_faults import explain_token_fault, float_without_digit
from cgraph.syntax.tree import Term
from cgraph.syntax.words import (
    CLOSER_OF,
    DECLARATION_WORDS,
    MARK_OF,
    RESERVED_WORDS,
    describe_expected,
    describe_found,
)


@frozen(eq=False)
class Fault:
    """Where the parser stopped.

    Args:
        values: of the symbols read so far in the declaration at fault; its open brackets are among them.
        accepted: the terminals that could have come.
        openers: brackets that are open, the outermost first.
    """

    source: Source
    tables: Tables
    values: Sequence[Any]
    token: Token
    accepted: frozenset[str]
    openers: Sequence[Token]

    @property
    def span(self) -> Span:
        """The token's place; the end of the file is where its last text ends."""
        kind, start, stop = self.token
        if kind == END:
            start = stop = len(self.source.text.rstrip())
        return Span(self.source, start, stop)

    @property
    def opener_span(self) -> Span:
        """The innermost open bracket."""
        _, start, stop = self.openers[-1]
        return Span(self.source, start, stop)

    @property
    def closer(self) -> str:
        """The terminal that closes the innermost open bracket."""
        return CLOSER_OF[self.openers[-1][0]]

    @property
    def expected(self) -> str:
        """What could have come, as a phrase."""
        return describe_expected(self.accepted, self.tables.words, self.tables.marks)

    @property
    def found(self) -> str:
        """What came, as a phrase."""
        return describe_found(self.source, self.token)


def explain(source: Source, tables: Tables, states: Sequence[State], values: Sequence[Any], token: Token) -> Problem:
    """The problem of a token that the state on top of the stack does not accept."""
    kind, start, _ = token
    if kind in FAULTS:
        return explain_token_fault(source, token)
    openers = [value for value in values if isinstance(value, tuple) and len(value) == 3 and _opens(value[0])]
    fault = Fault(source, tables, values, token, _accepted(states), openers)
    if kind in CLOSER_OF.values():
        return _explain_closing(fault)
    if openers and _accepted_after_closing(states, fault.closer, kind):
        return _explain_unclosed(fault, others=0)
    if openers and (kind == END or (kind in DECLARATION_WORDS and is_first_on_line(source.text, start))):
        return _explain_unclosed(fault, others=len(openers) - 1)
    return _explain_token(fault)


def _explain_closing(fault: Fault) -> Problem:
    """A closing bracket at the wrong place."""
    kind = fault.token[0]
    if not fault.openers:
        return StrayClosing(fault.span, MARK_OF[kind], "bracket")
    opener = MARK_OF[fault.openers[-1][0]]
    if fault.closer == kind:
        empty = kind == "RPAR" and fault.values[-1] is fault.openers[-1]
        help_text = "parentheses apply a function to arguments, as in `(cgThen first second)`" if empty else ""
        return UnexpectedToken(fault.span, fault.found, fault.expected, fault.opener_span, help_text)
    if any(CLOSER_OF[outer[0]] == kind for outer in fault.openers):
        insert_at = Span(fault.source, fault.span.start, fault.span.start)
        closer = MARK_OF[fault.closer]
        return UnclosedBracket(fault.opener_span, opener, closer, fault.found, fault.span, 0, None, insert_at)
    return MismatchedClosing(fault.span, MARK_OF[kind], opener, MARK_OF[fault.closer], fault.opener_span)


def _explain_unclosed(fault: Fault, others: int) -> UnclosedBracket:
    """A bracket that is still open where its end should have been; so are `others` around it."""
    stream = tokens(fault.source, fault.tables, [], fault.openers[0][1])
    suspect = suspect_by_indentation(fault.source.text, _until(stream, fault.token[1]))
    end = stop_of(fault.values[-1]) if fault.closer in fault.accepted else None
    if end is not None and "\n" in fault.source.text[fault.opener_span.start : end]:
        end = None  # over several lines the missing end may belong to any of them
    return UnclosedBracket(
        fault.opener_span,
        MARK_OF[fault.openers[-1][0]],
        MARK_OF[fault.closer],
        fault.found,
        fault.span,
        others,
        None if suspect is None else Span(fault.source, suspect, suspect + 1),
        None if end is None else Span(fault.source, end, end),
    )


def _explain_token(fault: Fault) -> Problem:
    """A word, number, string or mark at the wrong place, or the end of the file."""
    kind, start, _ = fault.token
    if kind == "DOT" and "FLOAT" in fault.accepted:
        number = float_without_digit(fault.span)
        if number is not None:
            return number
    ends_declaration = kind in DECLARATION_WORDS and is_first_on_line(fault.source.text, start)
    ends_let = kind == "IN" and any(isinstance(value, tuple) and value[0] == "LET" for value in fault.values if value)
    if kind in RESERVED_WORDS and "NAME" in fault.accepted and not ends_declaration and not ends_let:
        word = fault.span.text
        role = "a term" if "LPAR" in fault.accepted else "a name"
        begins_term = kind in {"LAMBDA", "LET"} and role == "a term"
        help_text = (
            f"begin it with a parenthesis: `({word} …)`" if begins_term else f"choose another name than `{word}`"
        )
        return ReservedWord(fault.span, word, role, help_text)
    closes = bool(fault.openers) and fault.closer in fault.accepted
    return UnexpectedToken(
        fault.span,
        fault.found.removeprefix("the "),
        fault.expected,
        fault.opener_span if closes else None,
        _help(fault),
    )


def _help(fault: Fault) -> str:
    """How the place is usually written, where a common slip is known."""
    kind = fault.token[0]
    if "ERASED" in fault.accepted and "NAME" not in fault.accepted:
        return "say how often the name is used, as in `(lambda unrestricted x : Nat . …)`"
    if "DEF" in fault.accepted and kind in {"NAME", "NATURAL", "FLOAT", "LPAR"}:
        after_term = bool(fault.values) and isinstance(fault.values[-1], Term)
        return "an application stands in parentheses, as in `(naturalAdd 1 2)`" if after_term else ""
    if kind == "PI" and "NAT" in fault.accepted:
        return "begin it with a parenthesis: `(pi …)`"
    return ""


def _opens(kind: object) -> bool:
    return isinstance(kind, str) and kind in CLOSER_OF


def _until(stream: Iterator[Token], offset: int) -> Iterator[Token]:
    return takewhile(lambda token: token[1] < offset and token[0] not in FAULTS, stream)


def _accepted(states: Sequence[State]) -> frozenset[str]:
    """The terminals that can come next: those that end in a shift once all reductions before it are done."""
    terminals = (symbol for symbol in states[-1] if symbol.isupper())
    return frozenset(symbol for symbol in terminals if _shift(list(states), symbol))


def _accepted_after_closing(states: Sequence[State], closer: str, kind: str) -> bool:
    """Whether a token could come if the innermost bracket were closed before it."""
    stack = list(states)
    return _shift(stack, closer) and _shift(stack, kind)


def _shift(stack: list[State], terminal: str) -> bool:
    """Reads a terminal into a stack of states; False where it cannot come."""
    while True:
        step = stack[-1].get(terminal)
        if step is None:
            return False
        if isinstance(step, dict):
            stack.append(step)
            return True
        if step.origin == "start":
            return True
        del stack[len(stack) - step.size :]
        stack.append(stack[-1][step.origin])
