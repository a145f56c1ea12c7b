"""What every imported graph keeps: each part lies inside what it names, and a launch is one that a device takes.

Receives a graph whose fields have the right types; raises FieldError at the first part that breaks a rule. What the
kernels do is left to the device.
"""

from collections import Counter

from cgraph.backends.cuda.imported.model import (
    POINTER_BYTES,
    ChildGraphNode,
    CodeForm,
    CopySide,
    Edge,
    EventRecordNode,
    EventWaitNode,
    ImportedGraph,
    ImportedKernel,
    ImportedNode,
    KernelNode,
    Level,
    MemcpyNode,
    MemsetNode,
    Place,
    node_place,
)
from cgraph.backends.cuda.imported.stepping import topological_order
from cgraph.capture.codec.fields import FieldError, wrong
from cgraph.graph.rules_commands import BLOCK_LIMIT_Z, BLOCK_THREADS, GRID_LIMITS, SHARED_LIMIT_BYTES

MOST_ARGUMENT_BYTES = 32_764  # of a kernel's parameters, from compute capability 7.0 on
ELEMENT_BYTES = (1, 2, 4)
MOST_PORT, EDGE_TYPES = 255, (0, 1)


def check_rules(graph: ImportedGraph) -> None:
    """Raises FieldError where the graph breaks a rule."""
    _check_planes(graph)
    for number, kernel in enumerate(graph.kernels):
        _check_kernel(kernel, len(graph.codes), f"kernels.{number}")
    for number, code in enumerate(graph.codes):
        if not code.data or (code.form is CodeForm.PTX and b"\0" in code.data):
            raise FieldError(f"codes.{number}", "code", "no bytes, or a zero byte in PTX")
    _check_children(graph)
    for number, level in enumerate(graph.levels):
        for index, node in enumerate(level.nodes):
            _check_node(graph, node, node_place(number, index))
        _check_edges(level, f"levels.{number}.edges")


def _check_node(graph: ImportedGraph, node: ImportedNode, place: str) -> None:
    match node:
        case KernelNode():
            _check_launch(graph, node, place)
        case MemsetNode():
            _check_memset(graph, node, place)
        case MemcpyNode():
            for side in (node.target, node.source):
                _check_side(graph, node, side, place)
        case EventRecordNode() | EventWaitNode() if node.event >= graph.events:
            raise wrong(place, f"one of {graph.events} events", node.event)


def _check_planes(graph: ImportedGraph) -> None:
    count = len(graph.allocations)
    for number, plane in enumerate(graph.planes):
        place = f"planes.{number}"
        if plane.size_bytes == 0:
            raise wrong(place, "a size of at least 1 byte", plane.size_bytes)
        _check_range(graph, Place(plane.allocation, plane.offset), plane.size_bytes, place)
        if number < count and (plane.allocation, plane.size_bytes) != (number, graph.allocations[number].size_bytes):
            raise FieldError(place, f"all of allocation {number}", f"a part of allocation {plane.allocation}")
    if len(graph.planes) < count:
        raise FieldError("planes", f"at least {count}, one for each allocation", f"{len(graph.planes)}")
    names = Counter(plane.name for plane in graph.planes)
    twice = next((name for name, found in names.items() if found > 1), None)
    if twice is not None:
        raise wrong("planes", "names that differ", twice)


def _check_kernel(kernel: ImportedKernel, codes: int, place: str) -> None:
    stop = 0
    for number, parameter in enumerate(kernel.parameters):
        if parameter.offset < stop or parameter.size_bytes == 0:
            raise wrong(f"{place}.parameters.{number}", f"some bytes from {stop} on", [parameter.offset])
        stop = parameter.offset + parameter.size_bytes
    if stop > MOST_ARGUMENT_BYTES:
        raise wrong(place, f"parameters of at most {MOST_ARGUMENT_BYTES} bytes", stop)
    if not kernel.codes or len(set(kernel.codes)) < len(kernel.codes) or max(kernel.codes) >= codes:
        raise wrong(place, f"some of the {codes} codes, each once", list(kernel.codes))


def _check_children(graph: ImportedGraph) -> None:
    """Levels form a tree whose root is the first, each behind the level that has its node."""
    if not graph.levels:
        raise FieldError("levels", "at least one", "none")
    owned = [False] * len(graph.levels)
    for number, level in enumerate(graph.levels):
        for index, node in enumerate(level.nodes):
            if isinstance(node, ChildGraphNode):
                if not number < node.level < len(graph.levels) or owned[node.level]:
                    raise wrong(node_place(number, index), "a later level that no other node has", node.level)
                owned[node.level] = True
    if not all(owned[1:]):
        raise wrong("levels", "a node for each level but the first", owned.index(False, 1))


def _check_launch(graph: ImportedGraph, node: KernelNode, place: str) -> None:
    if node.kernel >= len(graph.kernels):
        raise wrong(place, f"one of {len(graph.kernels)} kernels", node.kernel)
    kernel = graph.kernels[node.kernel]
    if any(size > limit for size, limit in zip(node.grid, GRID_LIMITS, strict=True)):
        raise wrong(place, f"a grid of at most {GRID_LIMITS}", str(node.grid))
    x, y, z = node.block
    if x * y * z > BLOCK_THREADS or z > BLOCK_LIMIT_Z:
        raise wrong(place, f"a block of at most {BLOCK_THREADS} threads, {BLOCK_LIMIT_Z} in z", str(node.block))
    if node.shared_bytes > SHARED_LIMIT_BYTES:
        raise wrong(place, f"at most {SHARED_LIMIT_BYTES} bytes of shared memory", node.shared_bytes)
    if len(node.arguments) != kernel.buffer_bytes:
        raise wrong(place, f"arguments of {kernel.buffer_bytes} bytes", len(node.arguments))
    stop = 0
    for relocation in node.relocations:
        if relocation.position < stop or relocation.position + POINTER_BYTES > len(node.arguments):
            raise wrong(place, "addresses at ascending positions inside the arguments", relocation.position)
        stop = relocation.position + POINTER_BYTES
        if any(node.arguments[relocation.position : stop]):
            raise FieldError(place, "zeros where an address is put in", f"others at {relocation.position}")
        _check_range(graph, relocation.place, 1, place)


def _check_memset(graph: ImportedGraph, node: MemsetNode, place: str) -> None:
    if node.element_bytes not in ELEMENT_BYTES or node.value >= 1 << 8 * node.element_bytes:
        raise wrong(place, "an element of 1, 2 or 4 bytes and a value that fits", node.value)
    _check_positive(place, node.width, node.height)
    row_bytes = node.width * node.element_bytes
    if node.height > 1 and (node.pitch_bytes < row_bytes or node.pitch_bytes % node.element_bytes):
        raise wrong(place, f"a pitch of at least {row_bytes} bytes", node.pitch_bytes)
    if node.target.offset % node.element_bytes:
        raise wrong(place, f"an offset that {node.element_bytes} divides", node.target.offset)
    _check_range(graph, node.target, (node.height - 1) * node.pitch_bytes + row_bytes, place)


def _check_side(graph: ImportedGraph, node: MemcpyNode, side: CopySide, place: str) -> None:
    _check_positive(place, node.width_bytes, node.height, node.depth)
    if (node.height > 1 or node.depth > 1) and side.pitch_bytes < node.width_bytes:
        raise wrong(place, f"a pitch of at least {node.width_bytes} bytes", side.pitch_bytes)
    if node.depth > 1 and side.slice_rows < node.height:
        raise wrong(place, f"slices of at least {node.height} rows", side.slice_rows)
    slices = (node.depth - 1) * side.slice_rows * side.pitch_bytes
    _check_range(graph, side.place, slices + (node.height - 1) * side.pitch_bytes + node.width_bytes, place)


def _check_positive(place: str, *sizes: int) -> None:
    if 0 in sizes:
        raise FieldError(place, "sizes of at least 1", "0")


def _check_range(graph: ImportedGraph, start: Place, size_bytes: int, place: str) -> None:
    if start.allocation >= len(graph.allocations):
        raise wrong(place, f"one of {len(graph.allocations)} allocations", start.allocation)
    room = graph.allocations[start.allocation].size_bytes
    if start.offset + size_bytes > room:
        found = f"bytes {start.offset} to {start.offset + size_bytes}"
        raise FieldError(place, f"bytes inside allocation {start.allocation}, which has {room}", found)


def _check_edges(level: Level, place: str) -> None:
    count = len(level.nodes)
    for number, edge in enumerate(level.edges):
        _check_edge(edge, count, f"{place}.{number}")
    if len({(edge.before, edge.after) for edge in level.edges}) < len(level.edges):
        raise FieldError(place, "each edge once", "one twice")
    # A node on a cycle, or behind one, has no place in any order.
    if len(topological_order(level)) < count:
        raise FieldError(place, "no cycle", "one")


def _check_edge(edge: Edge, nodes: int, place: str) -> None:
    if max(edge.before, edge.after) >= nodes or edge.before == edge.after:
        raise wrong(place, f"two of {nodes} nodes", [edge.before, edge.after])
    if max(edge.from_port, edge.to_port) > MOST_PORT or edge.type not in EDGE_TYPES:
        raise wrong(place, f"ports of at most {MOST_PORT} and the type 0 or 1", edge.type)
