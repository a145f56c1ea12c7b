"""Graphs in the DOT text that `cuGraphDebugDotPrint` writes.

Follows files that real drivers wrote: a cluster for each graph, child graphs beside their parents and named in the
label of their node, records where the text is verbose.
"""

from collections.abc import Iterator

from cgraph.emulator.driver.graphs import Graph, Node, child_graph
from cgraph.emulator.driver.hardware import Grid
from cgraph.emulator.driver.work import CopyWork, FillWork, KernelWork, RecordWork, WaitWork

NAMES = ("KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "EVENT_WAIT", "EVENT_RECORD")


def draw(graph: Graph, *, verbose: bool) -> str:
    """The whole text."""
    lines = ["digraph dot {"]
    waiting = [graph]
    while waiting:
        drawn = waiting.pop(0)
        lines.extend(_cluster(drawn, verbose=verbose))
        waiting.extend(child for node in drawn.nodes if (child := child_graph(node)) is not None)
    return "\n".join((*lines, "}")) + "\n"


def _cluster(graph: Graph, *, verbose: bool) -> Iterator[str]:
    ranks = _ranks(graph)
    yield f"subgraph cluster_{graph.number} {{"
    yield f'label="graph_{graph.number}" graph[style="dashed"];'
    for node in graph.nodes:
        style, shape, label = _verbose(node, ranks[node]) if verbose else _plain(node)
        yield f'"{_name(node)}"[style="{style}" shape="{shape}" label="{label}"];'
        yield ""
    for node in graph.nodes:
        for before, _ in node.dependencies:
            yield f'"{_name(before)}" -> "{_name(node)}"' + (" [headlabel=0];" if verbose else ";")
    yield "}"


def _ranks(graph: Graph) -> dict[Node, int]:
    """A reversed topological number of each node; 0 for nodes on a cycle."""
    ranks = dict.fromkeys(graph.nodes, 0)
    left = {node: len(node.dependents) for node in graph.nodes}
    ready = [node for node, count in left.items() if count == 0]
    for rank, node in enumerate(ready):
        ranks[node] = rank
        for before, _ in node.dependencies:
            left[before] -= 1
            if left[before] == 0:
                ready.append(before)
    return ranks


def _name(node: Node) -> str:
    return f"graph_{node.graph.number}_node_{node.number}"


def _plain(node: Node) -> tuple[str, str, str]:
    work, number = node.work, node.number
    if isinstance(work, KernelWork):
        return "bold", "octagon", f"{number}\n{work.function.name}\n"
    child = child_graph(node)
    if child is not None:
        return "solid", "rectangle", f"{number}\ngraph_{child.number}\n"
    if isinstance(work, CopyWork):
        return "solid", "trapezium", f"{number}\nMEMCPY\n({_kind(work)})"
    if isinstance(work, FillWork):
        return "solid", "invtrapezium", f"{number}\nMEMSET\n({work.value},{work.width * work.height})"
    return "solid", "rectangle", f"{number}\n{NAMES[work.type]}\n"


def _verbose(node: Node, rank: int) -> tuple[str, str, str]:
    work, place = node.work, f"{node.number} (topoId: {rank})"
    if isinstance(work, KernelWork):
        launch = f"\\<\\<\\<{_size(work.grid)},{_size(work.block)},{work.shared_bytes}\\>\\>\\>"
        handles = f"{{{{node handle | func handle}} | {{{_hex(node.handle)} | {_hex(work.function.handle)}}}}}"
        return "bold", "record", f"{{KERNEL\n| {{ID | {place} | {work.function.name}{launch}}}\n| {handles}\n}}"
    if isinstance(work, CopyWork):
        ends = f"{{{{srcPtr | dstPtr}} | {{{_hex(work.source.address)} | {_hex(work.destination.address)}}}}}"
        extent = f"{{Extent | {{{{Width | {work.width}}} | {{Height | {work.height}}} | {{Depth | {work.depth}}}}}}}"
        head = f"{{{{ID | node handle}} | {{{place} | {_hex(node.handle)}}}}}"
        return "solid", "record", f"{{\nMEMCPY\n| {head}\n| {{kind | {_kind(work)}}}\n| {ends}\n| {extent}\n}}"
    if isinstance(work, FillWork):
        values = (place, _hex(node.handle), _hex(work.address), work.pitch, work.value, work.element_bytes)
        cells = " | ".join(map(str, (*values, work.width, work.height)))
        names = "ID | node handle | dptr | pitch | value | elementSize | width | height"
        return "solid", "record", f"{{MEMSET\n| {{{{{names}}} | {{{cells}}}}}}}"
    child = child_graph(node)
    if child is not None:
        return "solid", "rectangle", f"{place}\ngraph_{child.number}\n"
    event = f"event: {_hex(work.event.handle)}\n" if isinstance(work, RecordWork | WaitWork) else ""
    return "solid", "rectangle", f"{place}\n{NAMES[work.type]}\nnode handle: {_hex(node.handle)}\n{event}"


def _kind(work: CopyWork) -> str:
    return f"{'D' if work.source.on_device else 'H'}to{'D' if work.destination.on_device else 'H'}"


def _size(size: Grid) -> str:
    x, y, z = size
    if z != 1:
        return f"\\{{{x},{y},{z}\\}}"
    return f"\\{{{x},{y}\\}}" if y != 1 else str(x)


def _hex(number: int) -> str:
    return f"0x{number:016X}"
