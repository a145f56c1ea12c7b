"""Signals that ask a long command to end.

The first one is only noted, so that the command can end where it likes; the second one interrupts it as usual.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@define
class StopRequest:
    """Which signal has come; None so far."""

    number: int | None = None

    @property
    def exit_code(self) -> int:
        """Of a command that a signal ended, as shells count; 0 where none came."""
        return 0 if self.number is None else 128 + self.number


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Notes signals inside the block. Only the main thread may enter it."""
    request = StopRequest()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, _frame: FrameType | None) -> None:
        request.number = number
        restore()

    for number in SIGNALS:
        signal.signal(number, note)
    try:
        yield request
    finally:
        restore()
