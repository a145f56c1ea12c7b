"""Environments: the values of the bound names around a term, the nearest first.

An environment is a linked list with one cell for each binder around a term, so the terms know how long it is. Every
64th cell also leads to the 64th before it: a name that is bound 100,000 lets further out is found in about a thousand
steps.
"""

from cgraph.check.terms import Local
from cgraph.check.values import Environment, Value

SKIP = 64


def bind(value: Value, environment: Environment, level: int) -> Environment:
    """The environment with one more value; `level` is how many it has already."""
    if level % SKIP:
        return value, environment
    before = environment
    for _ in range(SKIP - 1 if level else 0):
        before = before[1]  # type: ignore[index]  # there are `level` cells
    return value, environment, before


def look_up(local: Local, environment: Environment) -> Value:
    """The value of a bound name."""
    distance = local.distance
    if distance >= SKIP:
        near = (local.level - 1) % SKIP
        for _ in range(near):
            environment = environment[1]  # type: ignore[index]  # the type rules counted the binders
        distance -= near
        for _ in range(distance // SKIP):
            environment = environment[2]  # type: ignore[index, misc]  # as above
        distance %= SKIP
    for _ in range(distance):
        environment = environment[1]  # type: ignore[index]  # as above
    return environment[0]  # type: ignore[index]  # as above
