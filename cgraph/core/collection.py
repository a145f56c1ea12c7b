"""Pauses Python's cyclic garbage collector while a program is compiled.

Trees and graphs of programs hold no cycles, yet the collector walks all of them each time that enough new objects were
made; for 100,000 commands that is more than half of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """No collection inside; afterwards the collector is as it was before.

    What was made inside counts as long-lived then: a collection of young objects would walk all of it at once.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            # Together these two move every object to the oldest generation and visit none. Objects that somebody froze
            # would be thawed, so then nothing is moved.
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
