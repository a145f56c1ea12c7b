"""Kernel nodes of a live graph: which kernel, its parameters, and the values that the node holds.

Receives nodes; guarantees an argument buffer in which every byte is a parameter's or 0, whether the program gave its
arguments one by one or packed. The driver gives them back in the way in which they were set last.

Source: cuda.h on cuGraphKernelNodeGetParams and CU_LAUNCH_PARAM_BUFFER_POINTER.
"""

import ctypes as c
from typing import Any

from attrs import define, field, frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.attributes import read_function_attributes, read_node_attributes
from cgraph.backends.cuda.imported.model import POINTER_BYTES, ParameterPlace, Size3
from cgraph.backends.cuda.imported.parameters import read_parameters

END, BUFFER_POINTER, BUFFER_SIZE = 0, 1, 2  # CU_LAUNCH_PARAM_…


@frozen(eq=False)
class FunctionFacts:
    """What the driver says about a kernel. `module` is the handle of the module that it was loaded with."""

    name: str
    parameters: tuple[ParameterPlace, ...]
    module: int
    attributes: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        sizes = ", ".join(str(place.size_bytes) for place in self.parameters)
        return f"{self.name}, parameters of {sizes} bytes" if sizes else f"{self.name}, without parameters"


@frozen(eq=False)
class RawKernel:
    """A kernel node with addresses still in its argument buffer."""

    function: FunctionFacts
    grid: Size3
    block: Size3
    shared_bytes: int
    arguments: bytes = field(repr=False)
    attributes: tuple[tuple[str, bytes], ...]

    def word(self, position: int) -> int:
        """The 8 bytes at a position of the buffer."""
        return int.from_bytes(self.arguments[position : position + POINTER_BYTES], "little")


@define(eq=False)
class KernelReader:
    """Reads kernel nodes; asks about each kernel once."""

    call: Calls
    functions: dict[int, FunctionFacts] = field(factory=dict)

    def read(self, node: Any) -> RawKernel | str:
        """A kernel node, or why it can't be imported. Raises ProblemsFound (CG742)."""
        params = self.call(cu.cuGraphKernelNodeGetParams, node)
        attributes = read_node_attributes(node)
        if isinstance(attributes, str):
            return attributes
        function = self._function(params)
        arguments = _arguments(params, function.parameters)
        if arguments is None:
            return "the driver gives no values of its arguments"
        grid = (params.gridDimX, params.gridDimY, params.gridDimZ)
        block = (params.blockDimX, params.blockDimY, params.blockDimZ)
        return RawKernel(function, grid, block, params.sharedMemBytes, arguments, attributes)

    def _function(self, params: Any) -> FunctionFacts:
        function = params.func
        if not int(function):
            function = self._of_library(params)
        if int(function) not in self.functions:
            self.functions[int(function)] = FunctionFacts(
                self.call(cu.cuFuncGetName, function).decode(),
                read_parameters(self.call, function),
                _module(function),
                read_function_attributes(self.call, function),
            )
        return self.functions[int(function)]

    def _of_library(self, params: Any) -> Any:
        """The function that a library's kernel is in the node's context."""
        if not int(params.ctx):
            return self.call(cu.cuKernelGetFunction, params.kern)
        self.call(cu.cuCtxPushCurrent, params.ctx)
        try:
            return self.call(cu.cuKernelGetFunction, params.kern)
        finally:
            cu.cuCtxPopCurrent()


def _module(function: Any) -> int:
    """The handle of the module; of a kernel that has none to tell, the kernel's own, which no other kernel shares."""
    result, module = cu.cuFuncGetModule(function)
    return int(module) if result == cu.CUresult.CUDA_SUCCESS else int(function)


def _arguments(params: Any, places: tuple[ParameterPlace, ...]) -> bytes | None:
    """The argument buffer; None where the node has no values for its parameters."""
    if not places:
        return b""
    buffer = bytearray(max(place.offset + place.size_bytes for place in places))
    if params.kernelParams:
        addresses = (c.c_uint64 * len(places)).from_address(params.kernelParams)
        for place, address in zip(places, addresses, strict=True):
            buffer[place.offset : place.offset + place.size_bytes] = c.string_at(address, place.size_bytes)
        return bytes(buffer)
    packed = _packed(params.extra) if params.extra else b""
    if len(packed) < len(buffer):
        return None
    for place in places:
        part = slice(place.offset, place.offset + place.size_bytes)
        buffer[part] = packed[part]
    return bytes(buffer)


def _packed(extra: int) -> bytes:
    """The buffer that an array of words and values names."""
    words: dict[int, int] = {}
    address = extra
    while (word := c.c_uint64.from_address(address).value) in (BUFFER_POINTER, BUFFER_SIZE):
        words[word] = c.c_uint64.from_address(address + POINTER_BYTES).value
        address += 2 * POINTER_BYTES
    if not words.get(BUFFER_POINTER) or not words.get(BUFFER_SIZE):
        return b""
    return c.string_at(words[BUFFER_POINTER], c.c_size_t.from_address(words[BUFFER_SIZE]).value)
