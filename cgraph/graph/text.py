"""The text form of a command graph: one line a plane, phase, node and hazard.

Receives a graph and its hazards; guarantees the same text for the same graph wherever its program lies, so that it can
be kept and compared. Wording for people who look for a mistake is left to the problems.
"""

from collections.abc import Iterator, Sequence

from cgraph.core.roles import AccessMode
from cgraph.graph.hazards import Hazard
from cgraph.graph.model import (
    Access,
    CommandGraph,
    CopyNode,
    FillNode,
    LaunchNode,
    Node,
    PlaneArgument,
)
from cgraph.graph.origins import short_place


def graph_text(graph: CommandGraph, hazards: Sequence[Hazard]) -> str:
    """The whole graph; parts of planes are half-open ranges of elements."""
    return "".join(f"{line}\n" for line in _lines(graph, hazards))


def node_text(graph: CommandGraph, node: Node) -> str:
    """What one node does, without its number, phase and origin."""
    if isinstance(node, FillNode):
        return f"fill {_access_part(graph, node.accesses[0])} with {node.value!r}"
    if isinstance(node, CopyNode):
        destination, source = node.accesses
        return f"copy {_access_part(graph, source)} to {_access_part(graph, destination)}"
    if isinstance(node, LaunchNode):
        grid, block = ("×".join(map(str, sizes)) for sizes in (node.grid, node.block))
        shared = f", shared {node.shared_bytes}" if node.shared_bytes else ""
        return f"launch {node.image.signature.name} (grid {grid}, block {block}{shared}) {_arguments(graph, node)}"
    return "join"


def part_text(graph: CommandGraph, plane: int, start: int, stop: int) -> str:
    """A part of a plane, given in bytes, as `cgQueries 0[4:8]` in elements; in bytes where it splits an element."""
    size = graph.planes[plane].element.size_bytes
    if start % size or stop % size:
        return f"{graph.planes[plane].name}[bytes {start}:{stop}]"
    return f"{graph.planes[plane].name}[{start // size}:{stop // size}]"


def hazard_text(graph: CommandGraph, hazard: Hazard) -> str:
    """The kind of a hazard and the bytes it is about."""
    return f"{hazard.kind.value} {part_text(graph, hazard.plane, hazard.start, hazard.stop)}"


def _lines(graph: CommandGraph, hazards: Sequence[Hazard]) -> Iterator[str]:
    yield f"graph {graph.entry}, half = {graph.half.value}"
    for name, value in graph.parameters:
        yield f"parameter {name} = {value!r}"
    for plane in graph.planes:
        role = plane.role.value
        if plane.gradient_of is not None:
            role += f" of {graph.planes[plane.gradient_of].name}"
        extent = ", ".join(map(str, plane.extent))
        yield f"plane {plane.index} {plane.name} : {plane.element.value} [{extent}] {role}, {plane.size_bytes} bytes"
    for phase in graph.phases:
        around = "" if phase.parent is None else f" in phase {phase.parent}"
        yield f'phase {phase.index} {phase.name} "{phase.title}"{around}'
    for node in graph.nodes:
        phase_of = "" if node.phase is None else f", phase {node.phase}"
        yield f"node {node.index} {node_text(graph, node)}{phase_of}, {short_place(node.origin.span)}"
    for hazard in hazards:
        yield f"hazard {hazard.before} -> {hazard.after} {hazard_text(graph, hazard)}"


def _arguments(graph: CommandGraph, node: LaunchNode) -> str:
    accesses = iter(node.accesses)
    texts = []
    for slot, argument in zip(node.image.signature.slots, node.arguments, strict=True):
        if isinstance(argument, PlaneArgument):
            access = next(accesses)
            value = f"{access.mode.value} {_access_part(graph, access)}"
        else:
            value = "null" if argument is None else repr(argument)
        texts.append(f"{slot.name}={value}")
    return ", ".join(texts)


def _access_part(graph: CommandGraph, access: Access) -> str:
    return part_text(graph, access.plane, access.start, access.stop)


def written_planes(graph: CommandGraph, node: Node) -> list[str]:
    """Names of the planes that a node writes, in the order of its accesses, each once."""
    written = (access.plane for access in node.accesses if access.mode is not AccessMode.READ)
    return [graph.planes[plane].name for plane in dict.fromkeys(written)]
