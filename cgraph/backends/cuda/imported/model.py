"""A graph that was read from a live CUDA graph, in memory.

Addresses are gone: whatever pointed into memory is an allocation and an offset, and every node, kernel and child graph
is an index. Guarantees nothing by itself: `reading` makes such values from a live graph, the codec of bundles from a
file, and both hold them against `rules`. Running one is left to `executable`. Needs no CUDA package.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.core.notebooks import ShownInNotebooks

Size3: TypeAlias = tuple[int, int, int]

POINTER_BYTES = 8


class MemoryKind(Enum):
    """Where an allocation lies: on the device, on the host, or wherever it is used (managed memory)."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class CodeForm(Enum):
    """What code is: PTX text, machine code for one architecture, or a file with several of both."""

    PTX = "ptx"
    CUBIN = "cubin"
    FATBIN = "fatbin"


@frozen
class Allocation:
    """Memory that the graph touches, as it was allocated; of pageable host memory the bytes that copies touch."""

    size_bytes: int
    memory: MemoryKind


@frozen
class ImportedPlane:
    """A named part of an allocation: `size_bytes` bytes from `offset` on."""

    name: str
    allocation: int
    offset: int
    size_bytes: int


@frozen
class Place:
    """A byte of an allocation."""

    allocation: int
    offset: int


@frozen
class ParameterPlace:
    """Where a parameter lies in a kernel's argument buffer, in bytes."""

    offset: int
    size_bytes: int


@frozen(eq=False)
class ImportedCode:
    """Code as the driver loads it. `architecture` is what it was made for, e.g. `sm_90`; "" for a fat binary."""

    form: CodeForm
    architecture: str
    data: bytes = field(repr=False)


@frozen
class ImportedKernel:
    """A kernel.

    Args:
        name: as its code has it, mangled for C++.
        parameters: in their order.
        codes: indices of the codes that have it, in the order in which they are tried.
        attributes: names and values of the function attributes that the program could have set.
    """

    name: str
    parameters: tuple[ParameterPlace, ...]
    codes: tuple[int, ...]
    attributes: tuple[tuple[str, int], ...]

    @property
    def buffer_bytes(self) -> int:
        """Size of the buffer that holds all arguments."""
        return max((place.offset + place.size_bytes for place in self.parameters), default=0)


@frozen
class Relocation:
    """Eight bytes at `position` of an argument buffer that are the address of a place."""

    position: int
    place: Place


@frozen
class KernelNode:
    """A launch.

    Args:
        kernel: its index.
        arguments: the argument buffer; zero where a relocation stands.
        relocations: by position.
        attributes: names and bytes of the node's launch attributes.
    """

    kernel: int
    grid: Size3
    block: Size3
    shared_bytes: int
    arguments: bytes = field(repr=False)
    relocations: tuple[Relocation, ...]
    attributes: tuple[tuple[str, bytes], ...] = ()


@frozen
class MemsetNode:
    """`height` rows of `width` elements, `pitch_bytes` apart, are set to `value`, which has `element_bytes` bytes."""

    target: Place
    pitch_bytes: int
    value: int
    element_bytes: int
    width: int
    height: int


@frozen
class CopySide:
    """One end of a copy: its first byte, bytes from row to row, and rows from slice to slice."""

    place: Place
    pitch_bytes: int
    slice_rows: int


@frozen
class MemcpyNode:
    """A copy of `depth` slices of `height` rows of `width_bytes` bytes."""

    target: CopySide
    source: CopySide
    width_bytes: int
    height: int
    depth: int


@frozen
class EmptyNode:
    """A place where edges meet."""


@frozen
class ChildGraphNode:
    """A whole graph: the index of its level."""

    level: int


@frozen
class EventRecordNode:
    """Records an event, given by its number."""

    event: int


@frozen
class EventWaitNode:
    """Waits for an event, given by its number."""

    event: int


ImportedNode: TypeAlias = (
    KernelNode | MemsetNode | MemcpyNode | EmptyNode | ChildGraphNode | EventRecordNode | EventWaitNode
)


@frozen
class Edge:
    """`after` waits for `before`, both indices in their level; the rest is CUgraphEdgeData."""

    before: int
    after: int
    from_port: int = 0
    to_port: int = 0
    type: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it is an ordinary dependency."""
        return (self.from_port, self.to_port, self.type) == (0, 0, 0)


@frozen
class Level:
    """The nodes of the graph or of a child graph, in the driver's order, and its edges in the driver's order."""

    nodes: tuple[ImportedNode, ...] = field(repr=False)
    edges: tuple[Edge, ...] = field(repr=False)


@frozen(eq=False)
class ImportedRecording:
    """What a run gave, to compare a replay with.

    Args:
        device: that it ran on, e.g. `emulated`.
        outputs: contents of allocations after the run, by index; empty where it did not end.
        node_digests: for each node of the graph itself the SHA-256 of all allocations that it was given addresses of,
            right after it ran alone; 32 zeros for one that did not end.
    """

    device: str
    outputs: Mapping[int, NDArray[np.uint8]] = field(repr=False)
    node_digests: tuple[bytes, ...] = field(repr=False)


@frozen(eq=False)
class ImportedGraph(ShownInNotebooks):
    """A graph that others made.

    Args:
        capability: compute capability of the device that it was read on.
        allocations: all memory that it touches.
        planes: one for each allocation, in their order, then the parts that have names of their own.
        codes, kernels: of its launches.
        levels: the graph first; a child graph's level stands behind the level that has its node.
        events: how many events its nodes name.
        data: contents of allocations before a run, by index; those not in it begin as zeros.
        remarks: what a reader should know, such as numbers that look like addresses and are none of a live allocation.
        recording: of a run that began with `data`, where one was made.
    """

    capability: tuple[int, int]
    allocations: tuple[Allocation, ...] = field(repr=False)
    planes: tuple[ImportedPlane, ...] = field(repr=False)
    codes: tuple[ImportedCode, ...]
    kernels: tuple[ImportedKernel, ...]
    levels: tuple[Level, ...]
    events: int
    data: Mapping[int, NDArray[np.uint8]] = field(factory=dict, repr=False)
    remarks: tuple[str, ...] = ()
    recording: ImportedRecording | None = None

    def describe(self, level: int, index: int) -> str:
        """A node in a few words, e.g. `node 3 (kernel addOne)`."""
        return describe_node(self.levels[level].nodes[index], level, index, self.kernels)


WORDS: Mapping[type[Any], str] = {
    MemsetNode: "memset",
    MemcpyNode: "memcpy",
    EmptyNode: "empty",
    ChildGraphNode: "child graph",
    EventRecordNode: "event record",
    EventWaitNode: "event wait",
}


def describe_node(node: ImportedNode, level: int, index: int, kernels: tuple[ImportedKernel, ...]) -> str:
    """As `ImportedGraph.describe`."""
    word = f"kernel {kernels[node.kernel].name}" if isinstance(node, KernelNode) else WORDS[type(node)]
    return f"{node_place(level, index)} ({word})"


def node_place(level: int, index: int) -> str:
    """Where a node stands, e.g. `node 3` or `node 3 of child graph 1`."""
    return f"node {index} of child graph {level}" if level else f"node {index}"
