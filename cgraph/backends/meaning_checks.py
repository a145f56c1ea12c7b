"""Holds images against the NumPy functions that say what they mean, and turns a function's error into a problem.

Receives launches and functions; guarantees that a function which is called later takes every keyword that it gets and
gets every one that it needs. Whether extents suit the function is known only when it runs.
"""

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from traceback import extract_tb

from attrs import frozen

from cgraph.backends.commands import describe
from cgraph.backends.problems_meanings import MeaningFailed, MeaningMismatch
from cgraph.core.signatures import SlotKind
from cgraph.graph.model import LaunchNode
from cgraph.images.registry import Meaning, keyword_of

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@frozen
class _Keywords:
    """What a function takes by keyword: all that it knows, None where it takes any; and those that it needs."""

    known: frozenset[str] | None
    needed: frozenset[str]


def check_meaning(function: Meaning, node: LaunchNode) -> MeaningMismatch | None:
    """What differs between a function's keywords and an image; None where nothing does.

    Args:
        function: the meaning of the image's kernel.
        node: a launch of the image.
    """
    reasons = tuple(_differences(function, node))
    if not reasons:
        return None
    signature = node.image.signature
    return MeaningMismatch(node.origin.span, signature.name, signature.file, signature.entry, node.origin, reasons)


def failed_meaning(node: LaunchNode, error: Exception) -> MeaningFailed:
    """The problem for an error that a launch's function raised."""
    signature = node.image.signature
    frame = extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return MeaningFailed(
        node.origin.span,
        signature.name,
        signature.file,
        signature.entry,
        node.origin,
        describe(node),
        f"{type(error).__name__}: {text}" if text else type(error).__name__,
        f"{frame.name} in line {frame.lineno} of {Path(frame.filename).name}",
        tuple(_arguments(node)),
    )


def _differences(function: Meaning, node: LaunchNode) -> Iterator[str]:
    signature = node.image.signature
    named = [(f"slot {slot.name}", keyword_of(slot.name)) for slot in signature.slots]
    named += [(f"constant {name}", keyword_of(name)) for name, _value in node.image.constants]
    given: dict[str, str] = {}
    for word, keyword in named:
        if keyword in given:
            yield f"{given[keyword]} and {word} are both called {keyword} in the function"
        given.setdefault(keyword, word)
    keywords = _keywords_of(function)
    if keywords is None:
        return
    if keywords.known is not None:
        yield from (f"the function takes no {word}" for keyword, word in given.items() if keyword not in keywords.known)
    yield from (
        f"the image has no `{keyword}`, which the function needs" for keyword in sorted(keywords.needed - given.keys())
    )


@cache
def _keywords_of(function: Meaning) -> _Keywords | None:
    """What a function takes besides the context, which comes first; None where it does not say."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return None
    if parameters and parameters[0].kind in _POSITIONAL:
        del parameters[0]
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    return _Keywords(
        None if open_ended else frozenset(parameter.name for parameter in parameters if parameter.kind in _BY_KEYWORD),
        frozenset(
            parameter.name
            for parameter in parameters
            if parameter.kind in _BY_KEYWORD and parameter.default is inspect.Parameter.empty
        ),
    )


def _arguments(node: LaunchNode) -> Iterator[str]:
    slots = zip(node.image.signature.slots, node.arguments, node.extents, strict=True)
    for slot, argument, extent in slots:
        pointer = slot.kind is SlotKind.POINTER and argument is not None
        yield f"{slot.name} {list(extent)}" if pointer else f"{slot.name} {argument}"
    yield from (f"{name} {value}" for name, value in node.image.constants)
