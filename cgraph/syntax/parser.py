"""From text to syntax tree.

Receives a source; guarantees a `Module`, or every syntax error of the text in one `ProblemsFound` (the first 20, and
the count of the others). After an error the parser goes on at the next declaration keyword that begins a line. The
grammar is `grammar.lark`; names, types and numbers are left to the checker.
"""

from collections.abc import Iterator
from typing import Any

from cgraph.core.collection import paused_collection
from cgraph.diagnostics.problem import ProblemsFound
from cgraph.source import Source, Span
from cgraph.syntax.builder import TreeBuilder
from cgraph.syntax.faults import explain
from cgraph.syntax.lexer import END, Token, tokens
from cgraph.syntax.problems import FurtherProblems
from cgraph.syntax.recovery import next_declaration
from cgraph.syntax.tables import State, Tables, build_tables
from cgraph.syntax.tree import Comment, Module

MAXIMUM_PROBLEMS = 20
"""Syntax errors shown for one file; further ones are only counted."""

MAXIMUM_COUNTED = 1000
"""Further syntax errors after which reading stops: the file is hardly a program."""


def parse(source: Source) -> Module:
    """The syntax tree of a source. Time and memory grow linearly with the text; nesting may be of any depth.

    Raises:
        ProblemsFound: with problems CG001 to CG010 and CG014, in the order of their places.
    """
    with paused_collection():
        return _parse(source, build_tables(TreeBuilder))


def _parse(source: Source, tables: Tables) -> Module:
    comments: list[Comment] = []
    builder = TreeBuilder(source, comments)
    stream = tokens(source, tables, comments)
    states = [tables.start]
    values: list[Any] = []
    unshown: list[Token] = []
    while True:
        token = _run(stream, builder, states, values)
        if token[0] == END and states[-1] is tables.start["start"]:
            break
        if len(builder.problems) < MAXIMUM_PROBLEMS:
            builder.problems.append(explain(source, tables, states, values, token))
        else:
            unshown.append(token)
        restart = next_declaration(source.text, token[1])
        if restart is None or len(unshown) == MAXIMUM_COUNTED:
            break
        _drop_unfinished(states, values)
        stream = tokens(source, tables, comments, restart)
    problems = builder.problems
    if unshown:
        place = Span(source, unshown[0][1], unshown[0][2])
        problems.append(FurtherProblems(place, len(unshown), "at least " if len(unshown) == MAXIMUM_COUNTED else ""))
    if problems:
        raise ProblemsFound(sorted(problems, key=lambda problem: problem.span.start if problem.span else 0))
    return Module(source, values[0], tuple(comments))


def _run(stream: Iterator[Token], builder: TreeBuilder, states: list[State], values: list[Any]) -> Token:
    """Reads tokens until one that the grammar does not accept (the end of the file is one) and returns it."""
    state = states[-1]
    for token in stream:
        kind = token[0]
        while (step := state.get(kind)).__class__ is not dict:
            if step is None:
                return token
            size, origin, build = step
            if size == 1:
                if build is not None:
                    values[-1] = build(builder, values[-1:])
                del states[-1]
            elif size:
                parts = values[-size:]
                del values[-size:], states[-size:]
                values.append(build(builder, parts))
            else:
                values.append(build(builder, []))
            state = states[-1][origin]
            states.append(state)
        state = step
        states.append(state)
        values.append(token)
    raise AssertionError("the last token is accepted by no rule")


def _drop_unfinished(states: list[State], values: list[Any]) -> None:
    """Takes the declaration at fault off the stacks; the list of those before it stays."""
    finished = 1 if values and isinstance(values[0], list) else 0
    del values[finished:], states[finished + 1 :]
