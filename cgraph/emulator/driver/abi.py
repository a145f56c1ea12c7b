"""How C's arguments become Python's: one small description for each parameter of an entry point.

An entry point is a Python function that takes the driver and the values of its input parameters, and returns the values
of its output parameters: nothing, one, or a tuple. Reading and writing memory through pointers is done here, so that
a null pointer is an error code in every entry point.
"""

import ctypes as c
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from attrs import define, field, frozen

from cgraph.emulator.driver.results import DriverError, Result


class Direction(Enum):
    """What a parameter is for."""

    VALUE = "value"
    OUT = "out"  # where a result goes; null is an error
    MAYBE_OUT = "maybe out"  # where a result goes, if anybody wants it
    STRUCTURE = "structure"  # the address of a structure, which is read or written in place
    TEXT = "text"  # the address of a text that ends with a zero byte


@frozen
class Parameter:
    """A parameter of an entry point; `type` is its C type, or the one that the pointer points to."""

    direction: Direction
    type: Any

    @property
    def passed(self) -> Any:
        """The C type in which it is passed. A pointer is passed as a number, so that null is 0."""
        return self.type if self.direction is Direction.VALUE else c.c_uint64


INT = Parameter(Direction.VALUE, c.c_int)
UINT = Parameter(Direction.VALUE, c.c_uint)
SHORT = Parameter(Direction.VALUE, c.c_ushort)
BYTE = Parameter(Direction.VALUE, c.c_ubyte)
SIZE = Parameter(Direction.VALUE, c.c_size_t)
LONG = Parameter(Direction.VALUE, c.c_uint64)
HANDLE = Parameter(Direction.VALUE, c.c_uint64)
ADDRESS = Parameter(Direction.VALUE, c.c_uint64)
TEXT = Parameter(Direction.TEXT, c.c_char)


def out(kind: Any) -> Parameter:
    """A result behind a pointer that must not be null."""
    return Parameter(Direction.OUT, kind)


def maybe_out(kind: Any) -> Parameter:
    """A result behind a pointer that may be null."""
    return Parameter(Direction.MAYBE_OUT, kind)


def structure(kind: type[c.Structure]) -> Parameter:
    """A structure behind a pointer that must not be null."""
    return Parameter(Direction.STRUCTURE, kind)


OUT_HANDLE = out(c.c_uint64)
OUT_INT = out(c.c_int)
OUT_UINT = out(c.c_uint)
OUT_SIZE = out(c.c_size_t)
OUT_LONG = out(c.c_uint64)


class Needs(Enum):
    """What must be in order before an entry point answers."""

    NOTHING = "nothing"
    DRIVER = "an initialized driver"
    CONTEXT = "a current context in which no kernel has failed"


Function: TypeAlias = Callable[..., Any]
Kept = TypeVar("Kept", bound=Function)


@frozen(eq=False)
class Entry:
    """An entry point: the name and the version that cuda.h's callers ask for, and what answers."""

    name: str
    version: int
    parameters: tuple[Parameter, ...]
    needs: Needs
    function: Function

    @property
    def prototype(self) -> Any:
        """The type of a C function with these parameters."""
        return c.CFUNCTYPE(c.c_int, *(parameter.passed for parameter in self.parameters))

    def call(self, driver: Any, passed: Sequence[int]) -> None:
        """Reads the arguments, calls the function and writes its results.

        Raises:
            DriverError: a pointer is null, or whatever the function finds.
        """
        values: list[Any] = [driver]
        outs: list[tuple[Any, int]] = []
        for parameter, value in zip(self.parameters, passed, strict=True):
            match parameter.direction:
                case Direction.VALUE:
                    values.append(value)
                    continue
                case Direction.MAYBE_OUT if value == 0:
                    outs.append((parameter.type, 0))
                    continue
            if value == 0:
                raise DriverError(Result.INVALID_VALUE, "a pointer is null")
            if parameter.direction is Direction.STRUCTURE:
                values.append(parameter.type.from_address(value))
            elif parameter.direction is Direction.TEXT:
                values.append(c.string_at(value).decode("utf-8", "replace"))
            else:
                outs.append((parameter.type, value))
        returned = self.function(*values)
        results = returned if isinstance(returned, tuple) else (returned,) if outs else ()
        for (kind, address), result in zip(outs, results, strict=True):
            if address:
                kind.from_address(address).value = result


@define(eq=False)
class Table:
    """The entry points of one module."""

    _entries: list[Entry] = field(factory=list)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def entry(
        self, name: str, version: int, *parameters: Parameter, needs: Needs = Needs.CONTEXT
    ) -> Callable[[Kept], Kept]:
        """Registers the decorated function. `version` is the one in which the prototype came up, e.g. 3020."""

        def register(function: Kept) -> Kept:
            self._entries.append(Entry(name, version, parameters, needs, function))
            return function

        return register


def read_handles(address: int, count: int) -> tuple[int, ...]:
    """An array of handles in the caller's memory.

    Raises:
        DriverError: the array is null but not empty.
    """
    if count == 0:
        return ()
    if address == 0:
        raise DriverError(Result.INVALID_VALUE, "an array is null")
    return tuple((c.c_uint64 * count).from_address(address))


def write_handles(address: int, size_address: int, handles: Sequence[int]) -> None:
    """Answers a query for a list, as `cuGraphGetNodes` describes it.

    Args:
        address: of an array of as many handles as the size says, or 0 to ask for the size alone.
        size_address: of the size; becomes the number of handles.
        handles: all of them; those that don't fit are left out, and places without one become 0.

    Raises:
        DriverError: the size's address is null.
    """
    if size_address == 0:
        raise DriverError(Result.INVALID_VALUE, "the size is null")
    size = c.c_size_t.from_address(size_address)
    if address == 0:
        size.value = len(handles)
        return
    room = size.value
    (c.c_uint64 * room).from_address(address)[:] = [*handles[:room], *([0] * (room - len(handles)))]
    size.value = min(room, len(handles))
