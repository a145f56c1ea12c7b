"""Runs rules that call each other through `yield` on an explicit stack.

A rule is a generator: it yields the rule for a part, is sent that part's result, and returns its own. Programs nest
100,000 deep; Python's stack does not.
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
# Yields rules for parts, is sent their results, returns its own.
Rule: TypeAlias = Generator["Rule[Any]", Any, Result]


def run(rule: Rule[Result]) -> Result:
    """The result of a rule and of all the rules that it asks for."""
    stack: list[Rule[Any]] = [rule]
    result: Any = None
    while stack:
        try:
            part = stack[-1].send(result)
        except StopIteration as finished:
            stack.pop()
            result = finished.value
        else:
            stack.append(part)
            result = None
    return result  # type: ignore[no-any-return]  # the first rule's own result
