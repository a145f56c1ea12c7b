"""Changes of an executable graph without instantiating it again, and why one cannot be made.

The driver gives back no parameters of an executable graph, so the pieces and the planes' addresses are the account of
what it holds. A change is checked in full before it is begun; if the driver refuses a node after all, the nodes changed
before it are changed back.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from attrs import frozen
from cuda.bindings import driver as cu

from cgraph.backends.commands import describe
from cgraph.backends.cuda.arena import DevicePlanes
from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.instantiated import InstantiatedGraph
from cgraph.backends.cuda.pieces import (
    MOST_ELEMENT_BYTES,
    CopyPiece,
    FillPiece,
    KernelPiece,
    Piece,
    element_bits,
    halves_of,
)
from cgraph.backends.planes import find_plane, misfits
from cgraph.backends.problems_devices import UpdateImpossible
from cgraph.backends.scalar_rules import command_reasons, find_slot
from cgraph.core.roles import Role
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import CommandGraph, FillNode, Plane
from cgraph.source import Span

ALIGNMENT_BYTES = 16  # the widest access of one thread; kernels may rely on it
CONTEXT = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT

Pieces: TypeAlias = Sequence[Sequence[tuple[Piece, Any]]]


class DeviceArray(Protocol):
    """An array in device memory, such as those of CuPy and PyTorch."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Shape, type and address, as Numba's documentation describes them."""


@frozen
class Rebind:
    """A plane gets other memory. `address` is its first byte."""

    name: str
    address: int


@frozen
class SetScalar:
    """A scalar slot of a command, or the `value` of a fill, gets another value."""

    node: int
    slot: str
    value: float


Change: TypeAlias = Rebind | SetScalar


def array_of(plane: Plane, memory: Any) -> tuple[int, object]:
    """The address of device memory, and what must be kept alive for it.

    Raises:
        ProblemsFound: CG744 for an array of another type or extent, or one that is not in device memory.
    """
    if isinstance(memory, int):
        return memory, None
    change = f"binding plane {plane.name} to other memory"
    interface = getattr(memory, "__cuda_array_interface__", None)
    if interface is None:
        reason = f"a {type(memory).__name__} is not in device memory; its values are copied with set"
        raise ProblemsFound([UpdateImpossible(plane.span, change, (reason,))])
    strides = interface.get("strides")
    reasons = list(
        misfits(
            plane,
            np.dtype(interface["typestr"]),
            tuple(interface["shape"]),
            None if strides is None else tuple(strides),
        )
    )
    if reasons:
        raise ProblemsFound([UpdateImpossible(plane.span, change, tuple(reasons))])
    return int(interface["data"][0]), memory


def find_reasons(graph: CommandGraph, planes: DevicePlanes, pieces: Pieces, change: Change) -> tuple[str, ...]:
    """Why a change is impossible, () where it is not. Raises ProblemsFound (CG702) for a plane that is not there."""
    if isinstance(change, Rebind):
        return tuple(_rebind_reasons(planes, pieces, find_plane(planes.by_name, change.name), change.address))
    if not 0 <= change.node < len(graph.nodes):
        return (f"there is no command {change.node}; the graph has {len(graph.nodes)}",)
    return tuple(_scalar_reasons(planes, pieces, change))


def change_graph(
    graph: CommandGraph, planes: DevicePlanes, instantiated: InstantiatedGraph, call: Calls, change: Change
) -> None:
    """Makes a change, whole or not at all.

    Raises:
        ProblemsFound: CG744 with the reasons, CG742 where the driver refuses all the same.
    """
    reasons = find_reasons(graph, planes, instantiated.pieces, change)
    if reasons:
        raise ProblemsFound([UpdateImpossible(*_told(graph, planes, change), reasons)])
    if isinstance(change, Rebind):
        plane = planes.by_name[change.name].index
        old = planes.addresses[plane]
        touched = [pair for pairs in instantiated.pieces for pair in pairs if _touches(pair[0], plane)]
        planes.addresses[plane] = change.address
        try:
            _update(touched, call, instantiated.executable)
        except ProblemsFound:
            planes.addresses[plane] = old
            _update_quietly(touched, call, instantiated.executable)
            raise
        return
    _set_scalar(planes, instantiated, call, change)


def follow(graph: CommandGraph, planes: DevicePlanes, instantiated: InstantiatedGraph, call: Calls) -> None:
    """Binds planes again whose arrays were moved by their owners, before a run.

    Raises:
        ProblemsFound: CG744 where an array does not fit any more, or nothing is left at an address; CG742.
    """
    for index, kept in planes.kept.items():
        plane = graph.planes[index]
        address = planes.addresses[index] if kept is None else array_of(plane, kept)[0]
        change = Rebind(plane.name, address)
        if address != planes.addresses[index]:
            change_graph(graph, planes, instantiated, call, change)
        elif plane.size_bytes and cu.cuMemGetAddressRange(address)[0] != cu.CUresult.CUDA_SUCCESS:
            raise ProblemsFound([UpdateImpossible(*_told(graph, planes, change), (_nothing_at(address),))])


def _nothing_at(address: int) -> str:
    return f"there is no device memory at {address:#x}"


def _told(graph: CommandGraph, planes: DevicePlanes, change: Change) -> tuple[Span | None, str]:
    if isinstance(change, Rebind):
        return planes.by_name[change.name].span, f"binding plane {change.name} to other memory"
    if not 0 <= change.node < len(graph.nodes):
        return None, f"setting {change.slot} of command {change.node}"
    node = graph.nodes[change.node]
    return node.origin.span, f"setting {change.slot} of {describe(node)}, to {change.value}"


def _set_scalar(planes: DevicePlanes, instantiated: InstantiatedGraph, call: Calls, change: SetScalar) -> None:
    pairs = instantiated.pieces[change.node]
    before = [_value(piece) for piece, _ in pairs]
    for number, (piece, _) in enumerate(pairs):
        if isinstance(piece, KernelPiece):
            slot = find_slot(piece.node, change.slot)
            if slot is not None:
                piece.arguments[slot.number] = change.value
        elif isinstance(piece, FillPiece):
            piece.value = _part_values(planes, piece.node, change.value)[number if len(pairs) > 1 else 0]
    try:
        _update(pairs, call, instantiated.executable)
    except ProblemsFound:
        for (piece, _), value in zip(pairs, before, strict=True):
            if isinstance(piece, KernelPiece):
                piece.arguments[:] = value
            elif isinstance(piece, FillPiece):
                piece.value = value
        _update_quietly(pairs, call, instantiated.executable)
        raise


def _value(piece: Piece) -> Any:
    """What `_set_scalar` changes in a piece."""
    if isinstance(piece, KernelPiece):
        return list(piece.arguments)
    return piece.value if isinstance(piece, FillPiece) else None


def _update(pairs: Sequence[tuple[Piece, Any]], call: Calls, executable: Any) -> None:
    for piece, handle in pairs:
        piece.update(call, executable, handle)


def _update_quietly(pairs: Sequence[tuple[Piece, Any]], call: Calls, executable: Any) -> None:
    """Changes nodes back; the first refusal is what is reported."""
    for pair in pairs:
        try:
            _update((pair,), call, executable)
        except ProblemsFound:
            continue


def _touches(piece: Piece, plane: int) -> bool:
    return any(access.plane == plane for access in piece.node.accesses)


def _rebind_reasons(planes: DevicePlanes, pieces: Pieces, plane: Plane, address: int) -> Iterator[str]:
    if plane.role is Role.SCRATCH:
        yield "it is a scratch plane: its place was planned, and other planes share its bytes"
    if address % ALIGNMENT_BYTES:
        yield f"{address:#x} is no multiple of {ALIGNMENT_BYTES}"
    result, start, size_bytes = cu.cuMemGetAddressRange(address)
    if result != cu.CUresult.CUDA_SUCCESS:
        yield _nothing_at(address)
        return
    room = int(start) + size_bytes - address
    if room < plane.size_bytes:
        yield f"there are {room} bytes from {address:#x} on, and the plane has {plane.size_bytes}"
    for other in planes.overlapping(plane, address):
        yield f"it would overlap {other}, and nothing orders the commands that use both"
    if not _same_context(planes.addresses[plane.index], address):
        for pairs in pieces:
            for piece, _ in pairs:
                if isinstance(piece, FillPiece | CopyPiece) and _touches(piece, plane.index):
                    yield f"{describe(piece.node)} keeps to memory of the context that it was made with"


def _same_context(one: int, other: int) -> bool:
    answers = [cu.cuPointerGetAttribute(CONTEXT, address) for address in (one, other)]
    if any(answer[0] != cu.CUresult.CUDA_SUCCESS for answer in answers):
        return False
    return int(answers[0][1]) == int(answers[1][1])


def _scalar_reasons(planes: DevicePlanes, pieces: Pieces, change: SetScalar) -> Iterator[str]:
    piece = pieces[change.node][0][0]
    node = piece.node
    arguments = list(piece.arguments) if isinstance(piece, KernelPiece) else []
    reasons = tuple(command_reasons(node, arguments, change.slot, change.value))
    yield from reasons
    if not reasons and isinstance(node, FillNode) and isinstance(piece, FillPiece):
        values = _part_values(planes, node, change.value)
        if _is_too_fine(pieces[change.node], values):
            yield "the two halves of this f64 differ; the fill was made for values whose halves are equal"


def _is_too_fine(pairs: Sequence[tuple[Piece, Any]], values: tuple[int, ...]) -> bool:
    """Whether one piece would have to set two values."""
    return len(pairs) < len(set(values))


def _part_values(planes: DevicePlanes, node: FillNode, value: float) -> tuple[int, ...]:
    """The bits that each piece of a fill sets: for an f64 the low half and the high one."""
    bits, size_bytes = element_bits(planes, node, value)
    return (bits,) if size_bytes <= MOST_ELEMENT_BYTES else halves_of(bits)
