"""Parse tables from the grammar.

Receives `grammar.lark`; guarantees LALR(1) tables in a form that a short loop can follow: a state is a dict from the
next terminal to a state (shift) or to a `Reduction`, and from a non-terminal to the state after it. The loop itself
is in `parser.py`. Lark builds the tables; its own loop and its tokens are left aside because a command costs twice as
much with them.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from attrs import frozen
from lark import Lark
from lark.lexer import PatternStr

Build: TypeAlias = Callable[[Any, list[Any]], Any]
State: TypeAlias = dict[str, Any]


class Reduction(NamedTuple):
    """The end of a rule.

    Args:
        size: symbols of the rule.
        origin: the non-terminal that they become.
        build: makes its value from the builder and the symbols' values; None passes the only value on.
    """

    size: int
    origin: str
    build: Build | None


@frozen(eq=False)
class Tables:
    """What the grammar says, ready for use.

    Args:
        start: the state before the first token.
        words: each word of the language and its terminal.
        marks: each punctuation mark and its terminal.
        patterns: regular expressions of the other terminals.
    """

    start: State
    words: Mapping[str, str]
    marks: Mapping[str, str]
    patterns: Mapping[str, str]


def read_grammar() -> str:
    """The text of `grammar.lark`."""
    return files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")


@cache
def build_tables(builder: type) -> Tables:
    """The tables of the grammar, with the builder class's methods as actions; built once.

    Raises:
        AttributeError: if the grammar names an action that the builder lacks.
    """
    grammar = Lark(read_grammar(), parser="lalr", lexer="basic", maybe_placeholders=False)
    generated = grammar.parse_interactive("").parser_state.parse_conf
    states: dict[Any, State] = {number: {} for number in generated.states}
    for number, row in generated.states.items():
        for symbol, (action, argument) in row.items():
            states[number][symbol] = states[argument] if action.name == "Shift" else _reduction(argument, builder)
    fixed = {t.name: t.pattern.value for t in grammar.terminals if isinstance(t.pattern, PatternStr)}
    return Tables(
        start=states[generated.start_state],
        words={text: name for name, text in fixed.items() if text.isalnum()},
        marks={text: name for name, text in fixed.items() if not text.isalnum()},
        patterns={t.name: t.pattern.value for t in grammar.terminals if t.name not in fixed},
    )


def _reduction(rule: Any, builder: type) -> Reduction:
    """A rule of the grammar as a reduction; a rule without an action has one symbol and passes its value on."""
    build = getattr(builder, rule.alias) if rule.alias else None
    return Reduction(len(rule.expansion), str(rule.origin.name), build)
