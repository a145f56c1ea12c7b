"""What every test on the emulated device leaves behind: nothing that keeps the device's context.

Whole models keep prepared programs, and with them the primary context. A context that is still in use keeps the error
of a kernel that failed, as the driver's documentation says, so that a test of faults would spoil all tests after it.
"""

import gc
from collections.abc import Iterator

import pytest

from cgraph.models.gpt_program import prepared_program


@pytest.fixture(autouse=True)
def _no_prepared_programs() -> Iterator[None]:
    _forget()
    yield
    _forget()


def _forget() -> None:
    if prepared_program.cache_info().currsize:
        prepared_program.cache_clear()
        gc.collect()
