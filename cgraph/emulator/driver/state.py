"""The emulated driver's state: what is initialized, which context is current, what is behind a handle, what failed.

Guarantees that a call sees a consistent state, whatever threads there are: callbacks hold the lock.
"""

import ctypes
from collections import Counter
from threading import RLock, local
from typing import Any

from attrs import define, field

from cgraph.emulator.driver.abi import Needs
from cgraph.emulator.driver.hardware import Hardware, KernelFault
from cgraph.emulator.driver.objects import Context, Handles, Stream
from cgraph.emulator.driver.ordering import Ordering
from cgraph.emulator.driver.results import DriverError, Result

DRIVER_VERSION = 13000
LEGACY_STREAM, PER_THREAD_STREAM = 1, 2  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD; 0 is the legacy one, too


@define(eq=False)
class Driver:
    """The emulated driver.

    Args:
        hardware: the device below it. There is one, number 0.
        ordering: in which order a graph's ready nodes run.
        calls: how often each entry point was called.
        faults: what kernels did wrong, in words.
        culprits: handles of graph nodes whose kernels had problems, and how many.
        failures: tracebacks of errors in the emulator itself.
    """

    hardware: Hardware
    ordering: Ordering = field(factory=Ordering)
    calls: Counter[str] = field(factory=Counter)
    faults: list[str] = field(factory=list)
    culprits: list[tuple[int, int]] = field(factory=list)
    failures: list[str] = field(factory=list)
    lock: RLock = field(factory=RLock)
    handles: Handles = field(factory=Handles)
    initialized: bool = False
    primary: Context | None = None
    primary_retained: int = 0
    primary_flags: int = 0
    captures: list[Any] = field(factory=list)
    allocated_bytes: int = 0
    host_memory: dict[int, ctypes.Array[ctypes.c_char]] = field(factory=dict)
    texts: dict[bytes, ctypes.Array[ctypes.c_char]] = field(factory=dict)
    _threads: local = field(factory=local)

    def require(self, needs: Needs) -> None:
        """Raises DriverError where something is not in order."""
        if needs is not Needs.NOTHING and not self.initialized:
            raise DriverError(Result.NOT_INITIALIZED)
        if needs is Needs.CONTEXT:
            self.current()

    @property
    def stack(self) -> list[Context]:
        """The calling thread's contexts; the last one is current."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = []
        stack: list[Context] = self._threads.stack
        return stack

    @property
    def thread_mode(self) -> int:
        """The calling thread's capture mode, which `cuThreadExchangeStreamCaptureMode` sets; 0 is the global one."""
        mode: int = getattr(self._threads, "mode", 0)
        return mode

    @thread_mode.setter
    def thread_mode(self, mode: int) -> None:
        self._threads.mode = mode

    def current(self) -> Context:
        """The current context, in which no kernel has failed. Raises DriverError."""
        stack = self.stack
        if not stack:
            raise DriverError(Result.INVALID_CONTEXT, "no context is current")
        context = stack[-1]
        if context.handle == 0:
            raise DriverError(Result.CONTEXT_IS_DESTROYED)
        if context.fault is not None:
            raise DriverError(context.fault, "a kernel failed earlier")
        return context

    @property
    def contexts(self) -> list[Context]:
        """All contexts that exist."""
        return self.handles.all(Context)

    def context(self, handle: int) -> Context:
        """The context behind a handle. Raises DriverError."""
        return self.handles.get(Context, handle, Result.INVALID_CONTEXT)

    def stream(self, handle: int) -> Stream:
        """The stream behind a handle; the current context's default stream for the three special ones."""
        if handle in (0, LEGACY_STREAM, PER_THREAD_STREAM):
            return self.current().stream
        stream = self.handles.get(Stream, handle)
        if stream.context.fault is not None:
            raise DriverError(stream.context.fault, "a kernel failed earlier")
        return stream

    def fail(self, context: Context, fault: KernelFault) -> None:
        """Remembers that a kernel failed. As on a device, later calls say so, not the launch."""
        context.fault = fault.result
        self.faults.append(fault.text)

    def destroy_context(self, context: Context) -> None:
        """Ends a context and all that belongs to it."""
        for address, size_bytes in context.memory.items():
            self.hardware.memory.free(address)
            self.allocated_bytes -= size_bytes
        context.memory.clear()
        self.captures = [capture for capture in self.captures if capture.origin.context is not context]
        for thing in context.owned:
            self.handles.remove(thing)
        context.owned.clear()
        self.handles.remove(context)
        context.handle = 0

    def text(self, text: str) -> int:
        """The address of a text that stays where it is."""
        data = text.encode()
        if data not in self.texts:
            self.texts[data] = ctypes.create_string_buffer(data)
        return ctypes.addressof(self.texts[data])
