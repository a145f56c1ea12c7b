"""Pauses Python's cyclic garbage collector while a program is compiled.

Trees and graphs of programs hold no cycles, yet the collector walks all of them each time that enough new objects were
made; for 100,000 commands that is more than half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """No collection inside; afterwards the collector is as it was before."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
