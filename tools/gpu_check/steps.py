"""The steps in their order: what matters most comes first, because the time is limited."""

from collections.abc import Callable, Iterator
from functools import partial

from attrs import frozen
from cases import FAMILIES
from rows import Row
from session import Session
from step_errors import check_errors, check_faults
from step_facts import check_facts
from step_imports import check_imports
from step_kernels import check_coverage, check_family
from step_layer import check_changes, check_layer, check_replays, check_small_layer
from step_peer import check_peer
from step_sanitizer import check_sanitizer
from step_times import check_times


@frozen
class Step:
    """A part of the check that runs in a process of its own.

    Args:
        limit_s: the most time that it gets.
        function: gives its rows, one after the other.
        shown: whether it is part of a whole check; the others are started by steps.
    """

    name: str
    limit_s: float
    function: Callable[[Session], Iterator[Row]]
    shown: bool = True


STEPS = (
    Step("facts", 30, check_facts),
    Step("layer backward", 90, check_layer),
    Step("coverage", 30, check_coverage),
    *(Step(f"kernels: {family}", 60, partial(check_family, family=family)) for family in FAMILIES),
    Step("replays", 60, check_replays),
    Step("changes", 40, check_changes),
    Step("imports", 60, check_imports),
    Step("errors", 30, check_errors),
    Step("faults", 30, check_faults),
    Step("times", 60, check_times),
    Step("PyTorch", 60, check_peer),
    Step("compute-sanitizer", 120, check_sanitizer),
    Step("small layer", 120, check_small_layer, shown=False),
)
