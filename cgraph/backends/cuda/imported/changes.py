"""Changes of an imported graph between runs: other memory for a plane, other values for an argument.

Receives a change; guarantees reasons why it is impossible, or the graph with it made. Parameters have no names, so a
slot is `parameter 2` of a kernel, counted from 0, or the `value` of a memset. A value is bytes of the parameter's size,
a NumPy scalar of that size, an int (two's complement) or a float (f16, f32 or f64 by the size).
"""

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from attrs import evolve

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.memory import ImportedMemory
from cgraph.backends.cuda.imported.model import (
    ImportedGraph,
    ImportedNode,
    ImportedPlane,
    KernelNode,
    MemoryKind,
    MemsetNode,
    ParameterPlace,
)
from cgraph.backends.cuda.imported.reading_memory import MemoryReader
from cgraph.backends.cuda.update import ALIGNMENT_BYTES
from cgraph.backends.problems_devices import UpdateImpossible
from cgraph.diagnostics import ProblemsFound

_SLOT = re.compile(r"parameter (\d{1,4})")
_FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}
VALUE = "value"


def with_scalar(graph: ImportedGraph, level: int, index: int, slot: str, value: Any) -> ImportedGraph:
    """The graph with another value in one node. Raises ProblemsFound (CG744)."""
    change = f"setting {slot} of node {index}"
    if not 0 <= level < len(graph.levels) or not 0 <= index < len(graph.levels[level].nodes):
        raise ProblemsFound([UpdateImpossible(None, change, ("the graph has no such node",))])
    node = graph.levels[level].nodes[index]
    change = f"setting {slot} of {graph.describe(level, index)}"
    try:
        changed = _changed(graph, node, slot, value)
    except ValueError as error:
        raise ProblemsFound([UpdateImpossible(None, change, (str(error),))]) from error
    nodes = (*graph.levels[level].nodes[:index], changed, *graph.levels[level].nodes[index + 1 :])
    levels = (*graph.levels[:level], evolve(graph.levels[level], nodes=nodes), *graph.levels[level + 1 :])
    return evolve(graph, levels=levels)


def bound_address(call: Calls, graph: ImportedGraph, memory: ImportedMemory, plane: ImportedPlane, given: Any) -> int:
    """The address of other memory for a plane. Raises ProblemsFound (CG744 with all reasons)."""
    reasons = []
    allocation = graph.allocations[plane.allocation]
    if plane.size_bytes != allocation.size_bytes:
        reasons.append(f"it is a part of an allocation of {allocation.size_bytes} bytes; only all of it can move")
    if allocation.memory is MemoryKind.HOST:
        reasons.append("it is memory of the host, whose contents are set with set")
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is None and not isinstance(given, int):
        reasons.append(f"a {type(given).__name__} is not in device memory; its values are copied with set")
    elif interface is not None and interface.get("strides") is not None:
        reasons.append("only arrays without strides can be bound")
    elif interface is not None and _array_bytes(interface) < plane.size_bytes:
        reasons.append(f"the array has {_array_bytes(interface)} bytes, and the plane has {plane.size_bytes}")
    address = 0
    if not reasons:
        address = int(given if interface is None else interface["data"][0])
        reasons.extend(_address_reasons(call, graph, memory, plane, address))
    if reasons:
        change = f"binding plane {plane.name} to other memory"
        raise ProblemsFound([UpdateImpossible(None, change, tuple(reasons))])
    return address


def _array_bytes(interface: Mapping[str, Any]) -> int:
    return int(prod(interface["shape"]) * np.dtype(interface["typestr"]).itemsize)


def _address_reasons(
    call: Calls, graph: ImportedGraph, memory: ImportedMemory, plane: ImportedPlane, address: int
) -> Iterator[str]:
    if address % ALIGNMENT_BYTES:
        yield f"{address:#x} is no multiple of {ALIGNMENT_BYTES}"
    block = MemoryReader(call).find(address)
    if block is None or block.memory is MemoryKind.HOST:
        yield f"there is no device memory at {address:#x}"
    elif block.stop - address < plane.size_bytes:
        yield f"there are {block.stop - address} bytes from {address:#x} on, and the plane has {plane.size_bytes}"
    for number, (start, other) in enumerate(zip(memory.addresses, graph.allocations, strict=True)):
        apart = address + plane.size_bytes <= start or start + other.size_bytes <= address
        if number != plane.allocation and not apart:
            yield f"it would overlap {graph.planes[number].name}, and nothing orders the nodes that use both"


def _changed(graph: ImportedGraph, node: ImportedNode, slot: str, value: Any) -> ImportedNode:
    """Raises ValueError."""
    if isinstance(node, MemsetNode):
        if slot != VALUE:
            raise ValueError(f"a memset has a {VALUE} and no {slot}")
        return evolve(node, value=int.from_bytes(_bytes(value, node.element_bytes), "little"))
    if not isinstance(node, KernelNode):
        raise ValueError("it has no scalars")  # noqa: TRY004  (a reason for the user, not an error of type)
    places = graph.kernels[node.kernel].parameters
    found = _SLOT.fullmatch(slot)
    if found is None or int(found[1]) >= len(places):
        raise ValueError(f"the kernel has {len(places)} parameter(s), `parameter 0` the first")
    place = places[int(found[1])]
    if any(_inside(relocation.position, place) for relocation in node.relocations):
        raise ValueError("it is an address; planes get other memory with rebind")
    arguments = bytearray(node.arguments)
    arguments[place.offset : place.offset + place.size_bytes] = _bytes(value, place.size_bytes)
    return evolve(node, arguments=bytes(arguments))


def _inside(position: int, place: ParameterPlace) -> bool:
    return place.offset <= position < place.offset + place.size_bytes


def _bytes(value: Any, size_bytes: int) -> bytes:
    """A value in so many bytes. Raises ValueError."""
    if isinstance(value, np.generic):
        value = bytes(value.tobytes())
    if isinstance(value, bytes | bytearray):
        if len(value) != size_bytes:
            raise ValueError(f"it has {size_bytes} byte(s), the value {len(value)}")
        return bytes(value)
    if isinstance(value, float):
        if size_bytes not in _FLOATS:
            raise ValueError(f"no float has {size_bytes} byte(s)")
        return np.array(value, _FLOATS[size_bytes]).tobytes()
    if isinstance(value, int):
        if not -(1 << 8 * size_bytes - 1) <= value < 1 << 8 * size_bytes:
            raise ValueError(f"{value} does not fit into {size_bytes} byte(s)")
        return (value % (1 << 8 * size_bytes)).to_bytes(size_bytes, "little")
    raise ValueError(f"a {type(value).__name__} is neither bytes nor a number")
