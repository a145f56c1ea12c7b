"""The objects behind handles: contexts, modules, functions, streams and events.

A handle is a number that no address of the host equals. It is never given out twice, so a handle of something that was
destroyed is an error and never something else.
"""

from itertools import count
from typing import Any, TypeVar

from attrs import define, field

from cgraph.emulator.driver.hardware import Kernel
from cgraph.emulator.driver.results import DriverError, Result

FIRST_HANDLE = 0x0C6A_0000_0000_0010  # not canonical on x86-64 and above every user address of 64-bit Arm
HANDLE_STEP = 0x10

DYNAMIC_SHARED_DEFAULT_BYTES = 48 * 1024  # more needs cuFuncSetAttribute

Kind = TypeVar("Kind")


@define(eq=False)
class Handles:
    """Objects by handle."""

    _objects: dict[int, Any] = field(factory=dict)
    _next: "count[int]" = field(factory=lambda: count(FIRST_HANDLE, HANDLE_STEP))

    def add(self, thing: Any) -> int:
        """Gives an object a handle and keeps it; the object's `handle` becomes it."""
        handle = next(self._next)
        thing.handle = handle
        self._objects[handle] = thing
        return handle

    def get(self, kind: type[Kind], handle: int, missing: Result = Result.INVALID_HANDLE) -> Kind:
        """The object of a kind behind a handle. Raises DriverError with `missing` where there is none."""
        found = self._objects.get(handle)
        if not isinstance(found, kind):
            raise DriverError(missing, f"{handle:#x} is no {kind.__name__}")
        return found

    def all(self, kind: type[Kind]) -> list[Kind]:
        """All objects of a kind, as they were made."""
        return [thing for thing in self._objects.values() if isinstance(thing, kind)]

    def remove(self, thing: Any) -> None:
        """Forgets an object, once or again."""
        self._objects.pop(thing.handle, None)


@define(eq=False)
class Stream:
    """A stream. Work is done when it is enqueued, so a stream only knows whether it captures.

    Args:
        flags: of `cuStreamCreate`. priority: of `cuStreamCreateWithPriority`.
        capture: the capture that it takes part in, a `Capture`.
        tips: the nodes of the capture that its next work will wait for.
    """

    context: "Context"
    flags: int = 0
    priority: int = 0
    capture: Any = None
    tips: tuple[Any, ...] = ()
    handle: int = 0


@define(eq=False)
class Context:
    """A context.

    Args:
        flags: as it was created with.
        fault: what a failed kernel left behind; every later call in the context gives it.
        stream: the default stream.
        memory: size in bytes of each allocation made in it, by address.
        owned: handles of modules, streams and events that end with it.
    """

    flags: int = 0
    fault: Result | None = None
    memory: dict[int, int] = field(factory=dict)
    owned: list[Any] = field(factory=list)
    limits: dict[int, int] = field(factory=dict)
    stream: Stream = field(init=False)
    handle: int = 0

    def __attrs_post_init__(self) -> None:
        self.stream = Stream(self)


@define(eq=False)
class Function:
    """A kernel in a context.

    Args:
        dynamic_shared_limit: what `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` allows a launch.
        attributes: others that were set.
    """

    name: str
    kernel: Kernel
    module: "Module"
    dynamic_shared_limit: int = DYNAMIC_SHARED_DEFAULT_BYTES
    attributes: dict[int, int] = field(factory=dict)
    name_text: Any = None
    handle: int = 0

    @property
    def parameter_bytes(self) -> int:
        """Size of the buffer that holds all arguments."""
        return max((parameter.offset + parameter.size_bytes for parameter in self.kernel.parameters), default=0)


@define(eq=False)
class Module:
    """Kernels that were loaded together; `context` is None for a library, which belongs to all contexts."""

    context: Context | None
    functions: dict[str, Function] = field(factory=dict)
    handle: int = 0


@define(eq=False)
class Library(Module):
    """A module that was loaded with `cuLibraryLoadData`; its functions are what `CUkernel` stands for."""


@define(eq=False)
class Event:
    """An event.

    Args:
        flags: of `cuEventCreate`; 2 means that it takes no time.
        recorded_ms: when it was recorded last, None before.
        capture: the capture in which it was recorded last, and the nodes that a wait for it waits for.
    """

    context: Context
    flags: int
    recorded_ms: float | None = None
    capture: Any = None
    tips: tuple[Any, ...] = ()
    handle: int = 0
