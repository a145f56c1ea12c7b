"""Commands as the driver takes them. Most are one piece each; a fill with f64 may need two.

A piece knows how to become a node of a graph, how to change that node in the executable graph, and how to run alone on
a stream. Its addresses come from `DevicePlanes`, so that a piece whose planes were bound to other memory needs only to
be told to update itself.

Fills are memset nodes whose elements are as wide as the plane's: 2 bytes for f16 and bf16, 4 for f32 and i32. The
driver sets at most 4 bytes at once. An f64 whose two halves are equal (0.0 is one) is set as twice as many 4-byte
elements; any other as two pieces of one column each, the low halves and the high halves, 8 bytes from row to row.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from attrs import define, field
from cuda.bindings import driver as cu

from cgraph.backends.cuda.arena import DevicePlanes
from cgraph.backends.cuda.arguments import pack
from cgraph.backends.cuda.calls import Calls
from cgraph.backends.dtypes import DTYPES
from cgraph.graph.model import Access, Argument, CopyNode, FillNode, JoinNode, LaunchNode, Node

DEVICE_MEMORY = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
MOST_ELEMENT_BYTES = 4


class Piece(Protocol):
    """A node of the driver's graph."""

    @property
    def node(self) -> Node:
        """The command that it belongs to."""

    def add(self, call: Calls, graph: Any, before: list[Any]) -> Any:
        """Adds it to a graph behind other nodes; gives the driver's node."""

    def update(self, call: Calls, executable: Any, handle: Any) -> None:
        """Changes its node in an executable graph to what it is now."""

    def enqueue(self, call: Calls, stream: Any) -> None:
        """Runs it alone."""


@define(eq=False)
class KernelPiece:
    """A launch.

    Args:
        arguments: in slot order; scalars may be changed.
    """

    node: LaunchNode
    function: Any
    planes: DevicePlanes = field(repr=False)
    context: Any = field(repr=False)
    arguments: list[Argument]

    def add(self, call: Calls, graph: Any, before: list[Any]) -> Any:
        """A kernel node."""
        packed = self._packed()
        return call(cu.cuGraphAddKernelNode, graph, before, len(before), self._params(packed.address), node=self.node)

    def update(self, call: Calls, executable: Any, handle: Any) -> None:
        """With the addresses and scalars of now."""
        packed = self._packed()
        params = self._params(packed.address)
        call(cu.cuGraphExecKernelNodeSetParams, executable, handle, params, node=self.node)

    def enqueue(self, call: Calls, stream: Any) -> None:
        """A launch on a stream."""
        node, packed = self.node, self._packed()
        call(
            cu.cuLaunchKernel,
            self.function,
            *node.grid,
            *node.block,
            node.shared_bytes,
            stream,
            packed.address,
            0,
            node=node,
        )

    def _packed(self) -> Any:
        return pack(self.node.image.signature.slots, self.arguments, self.planes.addresses)

    def _params(self, arguments: int) -> Any:
        params = cu.CUDA_KERNEL_NODE_PARAMS()
        params.func = self.function
        params.gridDimX, params.gridDimY, params.gridDimZ = self.node.grid
        params.blockDimX, params.blockDimY, params.blockDimZ = self.node.block
        params.sharedMemBytes = self.node.shared_bytes
        params.kernelParams = arguments
        params.ctx = self.context
        return params


@define(eq=False)
class CopyPiece:
    """A copy between two parts of planes."""

    node: CopyNode
    planes: DevicePlanes = field(repr=False)
    context: Any = field(repr=False)

    def add(self, call: Calls, graph: Any, before: list[Any]) -> Any:
        """A memcpy node."""
        params = self._params()
        return call(cu.cuGraphAddMemcpyNode, graph, before, len(before), params, self.context, node=self.node)

    def update(self, call: Calls, executable: Any, handle: Any) -> None:
        """With the addresses of now."""
        params = self._params()
        call(cu.cuGraphExecMemcpyNodeSetParams, executable, handle, params, self.context, node=self.node)

    def enqueue(self, call: Calls, stream: Any) -> None:
        """A copy on a stream."""
        to, source, size_bytes = self._range()
        call(cu.cuMemcpyDtoDAsync, to, source, size_bytes, stream, node=self.node)

    def _range(self) -> tuple[int, int, int]:
        to, source = self.node.accesses
        addresses = self.planes.addresses
        return addresses[to.plane] + to.start, addresses[source.plane] + source.start, to.stop - to.start

    def _params(self) -> Any:
        to, source, size_bytes = self._range()
        params = cu.CUDA_MEMCPY3D()
        params.dstMemoryType = params.srcMemoryType = DEVICE_MEMORY
        params.dstDevice, params.srcDevice = to, source
        params.WidthInBytes, params.Height, params.Depth = size_bytes, 1, 1
        return params


@define(eq=False)
class FillPiece:
    """A fill, or the part of one that a memset can do.

    Args:
        value: the element, as a number of its bits; may be changed.
        part: the bytes that it sets, but where `stride_bytes` is not 0: then one element every so many bytes.
        element_bytes: 1, 2 or 4.
    """

    node: FillNode
    planes: DevicePlanes = field(repr=False)
    context: Any = field(repr=False)
    value: int
    part: Access
    element_bytes: int
    stride_bytes: int = 0

    def add(self, call: Calls, graph: Any, before: list[Any]) -> Any:
        """A memset node."""
        params = self._params()
        return call(cu.cuGraphAddMemsetNode, graph, before, len(before), params, self.context, node=self.node)

    def update(self, call: Calls, executable: Any, handle: Any) -> None:
        """With the address and the value of now."""
        params = self._params()
        call(cu.cuGraphExecMemsetNodeSetParams, executable, handle, params, self.context, node=self.node)

    def enqueue(self, call: Calls, stream: Any) -> None:
        """A fill on a stream."""
        address, width, height = self._range()
        if height > 1:
            rows = (address, self.stride_bytes, self.value, width, height, stream)
            call(cu.cuMemsetD2D32Async, *rows, node=self.node)
            return
        fill = {2: cu.cuMemsetD16Async, 4: cu.cuMemsetD32Async}[self.element_bytes]
        call(fill, address, self.value, width, stream, node=self.node)

    def _range(self) -> tuple[int, int, int]:
        """Address, elements of a row, rows."""
        address = self.planes.addresses[self.part.plane] + self.part.start
        size_bytes = self.part.stop - self.part.start
        if self.stride_bytes:
            return address, 1, -(-size_bytes // self.stride_bytes)
        return address, size_bytes // self.element_bytes, 1

    def _params(self) -> Any:
        address, width, height = self._range()
        params = cu.CUDA_MEMSET_NODE_PARAMS()
        params.dst, params.value, params.elementSize = address, self.value, self.element_bytes
        params.pitch, params.width, params.height = self.stride_bytes, width, height
        return params


@define(eq=False)
class EmptyPiece:
    """A place where edges meet."""

    node: Node

    def add(self, call: Calls, graph: Any, before: list[Any]) -> Any:
        """An empty node."""
        return call(cu.cuGraphAddEmptyNode, graph, before, len(before), node=self.node)

    def update(self, _call: Calls, _executable: Any, _handle: Any) -> None:
        """Nothing in it changes."""

    def enqueue(self, _call: Calls, _stream: Any) -> None:
        """There is nothing to run."""


def pieces_of(node: Node, planes: DevicePlanes, function: Any, context: Any) -> Iterator[Piece]:
    """The pieces of a command, in the order in which they must follow each other. Nothing to do is an empty piece."""
    match node:
        case LaunchNode():
            yield KernelPiece(node, function, planes, context, list(node.arguments))
        case FillNode(accesses=(target,)) if target.stop > target.start:
            yield from _fill_pieces(node, target, planes, context)
        case CopyNode(accesses=(target, _)) if target.stop > target.start:
            yield CopyPiece(node, planes, context)
        case FillNode() | CopyNode() | JoinNode():
            yield EmptyPiece(node)


def element_bits(planes: DevicePlanes, node: FillNode, value: float) -> tuple[int, int]:
    """The bits of a value in the element type of the plane that a command fills, and their number in bytes."""
    element = np.empty(1, DTYPES[planes.planes[node.accesses[0].plane].element])
    with np.errstate(over="ignore"):
        element.fill(value)
    return int.from_bytes(element.tobytes(), "little"), element.itemsize


def halves_of(bits: int) -> tuple[int, int]:
    """The low and the high 4 bytes of 8."""
    return bits & 0xFFFF_FFFF, bits >> 32


def _fill_pieces(node: FillNode, target: Access, planes: DevicePlanes, context: Any) -> Iterator[FillPiece]:
    bits, size_bytes = element_bits(planes, node, node.value)
    if size_bytes <= MOST_ELEMENT_BYTES:
        yield FillPiece(node, planes, context, bits, target, size_bytes)
        return
    low, high = halves_of(bits)
    if low == high:
        yield FillPiece(node, planes, context, low, target, MOST_ELEMENT_BYTES)
        return
    yield FillPiece(node, planes, context, low, target, MOST_ELEMENT_BYTES, size_bytes)
    upper = Access(target.plane, target.start + MOST_ELEMENT_BYTES, target.stop, target.mode)
    yield FillPiece(node, planes, context, high, upper, MOST_ELEMENT_BYTES, size_bytes)
