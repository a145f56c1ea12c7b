"""The rule of quantities: a name is used as often as its binder says."""

from collections.abc import Iterator

from cgraph.check.problems_usage import ErasedUsed, LinearNeverUsed, LinearUsedOften
from cgraph.check.scope import Binder
from cgraph.core.quantities import Quantity
from cgraph.diagnostics import Label, Problem


def check_usage(binder: Binder) -> Iterator[Problem]:
    """Compares the sum of all counted uses with the binder's quantity."""
    if binder.quantity is Quantity.UNRESTRICTED or binder.quantity_span is None:
        return
    total = Quantity.ERASED
    for _, count in binder.uses:
        total = total + count
    if binder.quantity.allows(total):
        return
    counted = [(span, count) for span, count in binder.uses if count is not Quantity.ERASED]
    if binder.quantity is Quantity.ERASED:
        uses = tuple(Label(span, f"used here ({_words(count)})") for span, count in counted)
        yield ErasedUsed(binder.span, binder.name, uses, binder.quantity_span)
    elif not counted:
        erased = tuple(span for span, _ in binder.uses)
        yield LinearNeverUsed(binder.span, binder.name, erased, binder.quantity_span)
    else:
        uses = tuple(Label(span, f"use {number}: {_words(count)}") for number, (span, count) in enumerate(counted, 1))
        many = any(count is Quantity.UNRESTRICTED for _, count in counted)
        times = "may be used many times" if many else f"is used {len(counted)} times"
        yield LinearUsedOften(binder.span, binder.name, times, uses, binder.quantity_span)


def _words(count: Quantity) -> str:
    return "counts once" if count is Quantity.LINEAR else "counts many, its place may be repeated"
