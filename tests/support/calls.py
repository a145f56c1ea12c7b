"""Counts function calls, built-in ones too: a measure of work that does not depend on the machine."""

import sys
from collections.abc import Callable
from types import FrameType


def count_calls(action: Callable[[], object]) -> int:
    """How many calls the action makes."""
    count = 0

    def watch(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
