"""Puts the emulated driver in the place of the real one, for the rest of the process.

Receives a device; guarantees that every entry point that cuda-python asks for is answered, those that are not emulated
with CUDA_ERROR_NOT_SUPPORTED, and that no Python exception crosses into C: a call ends with a result. An error in the
driver itself is CUDA_ERROR_UNKNOWN, and its traceback is kept in `Driver.failures`.
"""

import atexit
import ctypes as c
import os
import traceback
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.emulator.driver import (
    entries_context,
    entries_copies,
    entries_device,
    entries_edges,
    entries_functions,
    entries_graphs,
    entries_launch,
    entries_memory,
    entries_modules,
    entries_nodes,
    entries_streams,
    entries_user_objects,
)
from cgraph.emulator.driver.abi import Entry
from cgraph.emulator.driver.hardware import Hardware
from cgraph.emulator.driver.problems_driver import DriverInUse, EmulatorFailed
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.stub import LIBRARY_NAME, build_stub, load_stub

TABLES = (
    entries_device.TABLE,
    entries_context.TABLE,
    entries_modules.TABLE,
    entries_functions.TABLE,
    entries_memory.TABLE,
    entries_copies.TABLE,
    entries_streams.TABLE,
    entries_launch.TABLE,
    entries_edges.TABLE,
    entries_nodes.TABLE,
    entries_graphs.TABLE,
    entries_user_objects.TABLE,
)
RESOLVER = c.CFUNCTYPE(c.c_int, c.c_char_p, c.c_int, c.c_uint64, c.POINTER(c.c_void_p))


def entries() -> Iterable[Entry]:
    """Every entry point that is emulated."""
    return (entry for table in TABLES for entry in table)


@define(eq=False)
class Installation:
    """The emulated driver in its place. It stays until the process ends: nobody knows who holds its functions.

    Args:
        driver: its state.
        asked: names and versions that were asked for and are not emulated.
    """

    driver: Driver
    asked: list[tuple[str, int]] = field(factory=list)
    _kept: list[Any] = field(factory=list)

    def take_problems(self) -> tuple[Problem, ...]:
        """What the device and the driver found since the last time: faults, reports, errors in the emulator itself."""
        found = self.driver.hardware.take_problems()
        failures, self.driver.failures = self.driver.failures, []
        return (*found, *(EmulatorFailed(None, *failure.split(": ", 1)) for failure in failures))

    def take_culprits(self) -> list[tuple[int, int]]:
        """Handles of the graph nodes whose kernels had problems since the last time, and how many each had."""
        culprits, self.driver.culprits = self.driver.culprits, []
        return culprits

    def connect(self, library: c.CDLL) -> None:
        """Registers the answers with the C library."""
        functions = {(entry.name, entry.version): _callback(self.driver, entry) for entry in entries()}

        def resolve(name: bytes, version: int, _flags: int, place: Any) -> int:
            function = functions.get((name.decode("utf-8", "replace"), version))
            if function is None:
                self.asked.append((name.decode("utf-8", "replace"), version))
            else:
                place[0] = c.cast(function, c.c_void_p)
            return Result.SUCCESS

        resolver = RESOLVER(resolve)
        self._kept.extend((library, functions, resolver))
        library.cgraph_register_resolver(resolver)
        # Other libraries call the driver when Python has ended already.
        atexit.register(library.cgraph_close)


def _callback(driver: Driver, entry: Entry) -> Any:
    """The C function that answers an entry point."""

    def answer(*passed: int) -> int:
        with driver.lock:
            driver.calls[entry.name] += 1
            try:
                driver.require(entry.needs)
                entry.call(driver, passed)
            except DriverError as error:
                return error.result
            except BaseException:  # noqa: BLE001  (whatever it is, it must not cross into C)
                driver.failures.append(f"{entry.name}: {traceback.format_exc()}")
                return Result.UNKNOWN
            return Result.SUCCESS

    return entry.prototype(answer)


_installed: list[Installation] = []


def installed() -> Installation | None:
    """The emulated driver of this process, if there is one."""
    return _installed[0] if _installed else None


def install(hardware: Hardware) -> Installation:
    """Puts the emulated driver in place, once for a process; later calls give the first one and its device.

    Raises:
        ProblemsFound: the process has loaded a driver already (CG747), or the library cannot be built (CG745, CG746).
    """
    if _installed:
        return _installed[0]
    if _is_loaded():
        raise ProblemsFound([DriverInUse(None)])
    installation = Installation(Driver(hardware))
    installation.connect(load_stub(build_stub()))
    _installed.append(installation)
    return installation


def _is_loaded() -> bool:
    """Whether the process has loaded a library that is called libcuda.so.1."""
    try:
        c.CDLL(LIBRARY_NAME, os.RTLD_NOLOAD)
    except OSError:
        return False
    return True
