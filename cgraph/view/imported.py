"""The view of a graph that others made and that was imported.

Receives an imported graph, which was checked. Addresses in arguments are known, not what kernels touch behind them,
so accesses stand only at copies and memsets, and the edges are those that were given.
"""

from collections.abc import Iterator

from cgraph.backends.cuda.imported.model import (
    POINTER_BYTES,
    WORDS,
    ChildGraphNode,
    CopySide,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ImportedGraph,
    ImportedKernel,
    ImportedNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    ParameterPlace,
    Place,
)
from cgraph.backends.cuda.imported.stepping import topological_order
from cgraph.view.model import (
    Mode,
    NodeKind,
    View,
    ViewAccess,
    ViewArgument,
    ViewEdge,
    ViewKernel,
    ViewNode,
    ViewNote,
    ViewPhase,
    ViewPlane,
    ViewSlot,
)

_KINDS: dict[type[ImportedNode], NodeKind] = {
    KernelNode: "launch",
    MemsetNode: "memset",
    MemcpyNode: "memcpy",
    EmptyNode: "empty",
    ChildGraphNode: "child",
    EventRecordNode: "event_record",
    EventWaitNode: "event_wait",
}


def view_of_imported(graph: ImportedGraph, title: str) -> View:
    """An imported graph as a view, with a heading. Child graphs are boxes; the memory is one plane an allocation."""
    starts = [0]
    for level in graph.levels:
        starts.append(starts[-1] + len(level.nodes))
    homes = _homes(graph)
    nodes = [_node(graph, number, node) for number, level in enumerate(graph.levels) for node in level.nodes]
    edges = [
        ViewEdge(starts[number] + edge.before, starts[number] + edge.after, "given")
        for number, level in enumerate(graph.levels)
        for edge in level.edges
    ]
    return View(
        title=title,
        kind="bundle",
        tool="imported CUDA graph",
        phases=tuple(
            ViewPhase(f"child graph {number}", f"child graph {number}", _outer(homes, number), "child")
            for number in range(1, len(graph.levels))
        ),
        kernels=tuple(map(_kernel, graph.kernels)),
        planes=tuple(
            ViewPlane(plane.name, plane.name, None, None, "memory", allocation.size_bytes)
            for plane, allocation in zip(graph.planes, graph.allocations, strict=False)
        ),
        nodes=tuple(nodes),
        edges=tuple(edges),
        sequence=tuple(_sequence(graph, starts)),
        notes=tuple(ViewNote("note", remark) for remark in graph.remarks),
    )


def _homes(graph: ImportedGraph) -> list[int]:
    """For each level the level whose node runs it; 0 for the graph itself."""
    homes = [0] * len(graph.levels)
    for number, level in enumerate(graph.levels):
        for node in level.nodes:
            if isinstance(node, ChildGraphNode):
                homes[node.level] = number
    return homes


def _outer(homes: list[int], level: int) -> int | None:
    """The box around a child graph's; the box of level n has index n - 1."""
    return None if homes[level] == 0 else homes[level] - 1


def _sequence(graph: ImportedGraph, starts: list[int]) -> Iterator[int]:
    """A legal order: each child graph's nodes behind the node that runs it."""
    pending = [iter(topological_order(graph.levels[0]))] if graph.levels else []
    numbers = [0]
    while pending:
        place = next(pending[-1], None)
        if place is None:
            pending.pop()
            numbers.pop()
            continue
        level = numbers[-1]
        yield starts[level] + place
        node = graph.levels[level].nodes[place]
        if isinstance(node, ChildGraphNode):
            pending.append(iter(topological_order(graph.levels[node.level])))
            numbers.append(node.level)


def _node(graph: ImportedGraph, level: int, node: ImportedNode) -> ViewNode:
    kind = _KINDS[type(node)]
    phase = level - 1 if level else None
    match node:
        case KernelNode():
            return ViewNode(
                kind,
                graph.kernels[node.kernel].name,
                phase,
                node.kernel,
                node.grid,
                node.block,
                node.shared_bytes,
                tuple(_arguments(graph.kernels[node.kernel], node)),
                details=tuple((name, value.hex()) for name, value in node.attributes),
            )
        case MemsetNode():
            row_bytes = node.width * node.element_bytes
            stop = node.pitch_bytes * (node.height - 1) + row_bytes
            written = ViewAccess(node.target.allocation, node.target.offset, node.target.offset + stop, "write")
            details = (("value", hex(node.value)), ("elements", f"{node.height} rows of {node.width}"))
            return ViewNode(
                kind, "memset", phase, accesses=(written,), written_bytes=row_bytes * node.height, details=details
            )
        case MemcpyNode():
            moved = node.width_bytes * node.height * node.depth
            extent = (("bytes", f"{node.depth} × {node.height} × {node.width_bytes}"),)
            accesses = tuple(_sides(node))
            return ViewNode(
                kind, "memcpy", phase, accesses=accesses, read_bytes=moved, written_bytes=moved, details=extent
            )
        case ChildGraphNode():
            return ViewNode(kind, f"child graph {node.level}", phase, body=(node.level - 1,))
        case EventRecordNode() | EventWaitNode():
            return ViewNode(kind, f"{WORDS[type(node)]} {node.event}", phase)
        case EmptyNode():
            return ViewNode(kind, "empty", phase)


def _sides(node: MemcpyNode) -> Iterator[ViewAccess]:
    """The bytes from the first to the last that each side of a copy touches."""
    sides: tuple[tuple[CopySide, Mode], ...] = ((node.target, "write"), (node.source, "read"))
    for side, mode in sides:
        rows = side.slice_rows * (node.depth - 1) + node.height - 1
        stop = side.place.offset + side.pitch_bytes * rows + node.width_bytes
        yield ViewAccess(side.place.allocation, side.place.offset, stop, mode)


def _kernel(kernel: ImportedKernel) -> ViewKernel:
    slots = tuple(ViewSlot(_slot_name(number), "bytes") for number in range(len(kernel.parameters)))
    return ViewKernel(kernel.name, kernel.name, slots=slots)


def _arguments(kernel: ImportedKernel, node: KernelNode) -> Iterator[ViewArgument]:
    """Each parameter: a place in memory, or its bytes; a structure with addresses in it shows both."""
    relocated = {relocation.position: relocation.place for relocation in node.relocations}
    for number, parameter in enumerate(kernel.parameters):
        name = _slot_name(number)
        inside = [position for position in relocated if _holds(parameter, position)]
        if inside == [parameter.offset] and parameter.size_bytes == POINTER_BYTES:
            yield _pointer(name, relocated[parameter.offset])
            continue
        content = node.arguments[parameter.offset : parameter.offset + parameter.size_bytes]
        yield ViewArgument(name, value=_value(content))
        for position in inside:
            yield _pointer(f"{name} + {position - parameter.offset}", relocated[position])


def _holds(parameter: ParameterPlace, position: int) -> bool:
    return parameter.offset <= position < parameter.offset + parameter.size_bytes


def _pointer(name: str, place: Place) -> ViewArgument:
    return ViewArgument(name, place.allocation, place.offset)


def _value(content: bytes) -> str:
    """Bytes as a number where they may be one, beside them as they lie in memory."""
    shown = "0x" + content.hex()
    return f"{int.from_bytes(content, 'little', signed=True)} ({shown})" if len(content) in (1, 2, 4, 8) else shown


def _slot_name(number: int) -> str:
    return f"parameter {number}"
