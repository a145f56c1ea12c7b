"""Nodes, edges, kernels and origins of a view out of the commands of a dump and their places."""

from collections import defaultdict
from collections.abc import Sequence

import attrs
from attrs import define, field

from cgraph.source import Span
from cgraph.view.dumps.allocations import Memory, Touched
from cgraph.view.dumps.commands import Command
from cgraph.view.dumps.expansion import Expansion
from cgraph.view.dumps.limits import MOST_FACTS
from cgraph.view.dumps.model import DotGraph
from cgraph.view.dumps.symbols import kernel_of
from cgraph.view.dumps.texts import shortened
from cgraph.view.model import ViewEdge, ViewKernel, ViewNode, ViewOrigin

MOST_NAMES = 16 * 1024 * 1024
"""Characters of readable names in all: a short symbol may stand for a long name."""
_PORTS = ("headlabel", "taillabel")


@define
class Kernels:
    """Kernels by their symbols, each once, and short names for the nodes that run them."""

    found: list[ViewKernel] = field(factory=list)
    labels: list[str] = field(factory=list)
    numbers: dict[str, int] = field(factory=dict)
    characters: int = 0

    def number(self, symbol: str) -> int:
        """The index of a kernel, which is made where its symbol comes first."""
        known = self.numbers.get(symbol)
        if known is not None:
            return known
        is_over = self.characters > MOST_NAMES
        kernel, label = (ViewKernel(symbol, symbol), symbol) if is_over else kernel_of(symbol)
        self.characters += len(kernel.name) + len(kernel.doc or "")
        self.numbers[symbol] = len(self.found)
        self.found.append(kernel)
        self.labels.append(shortened(label))
        return self.numbers[symbol]


def nodes_of(
    graph: DotGraph,
    commands: Sequence[Command],
    made: Expansion,
    memory: Memory,
    kernels: Kernels,
    *,
    with_origins: bool,
) -> tuple[ViewNode, ...]:
    """One node for each place of a command; kernels are added to the given ones."""
    once: dict[int, ViewNode] = {}
    ports = _ports(graph)
    nodes = []
    for number, placed in enumerate(made.placed):
        if placed.node not in once:
            origin = placed.node if with_origins else None
            once[placed.node] = _node(commands[placed.node], kernels, ports[placed.node], origin)
        touched = memory.touched.get(number, Touched())
        node = once[placed.node]
        nodes.append(
            attrs.evolve(
                node,
                phase=placed.phase,
                body=placed.body,
                arguments=tuple(touched.arguments),
                accesses=tuple(touched.accesses),
                flags=(*node.flags, *placed.flags, *touched.flags),
            )
        )
    return tuple(nodes)


def _node(command: Command, kernels: Kernels, ports: Sequence[tuple[str, str]], origin: int | None) -> ViewNode:
    launch, transfer = command.launch, command.transfer
    kernel = None if launch is None or not launch.symbol else kernels.number(launch.symbol)
    moved = None if transfer is None else transfer.moved_bytes
    runs = (("runs", ", ".join(name for _, name in command.graphs)),) if command.graphs else ()
    return ViewNode(
        kind=command.kind,
        label=command.label if kernel is None else kernels.labels[kernel],
        kernel=kernel,
        grid=None if launch is None else launch.grid,
        block=None if launch is None else launch.block,
        shared_bytes=None if launch is None else launch.shared_bytes,
        read_bytes=moved if command.kind == "memcpy" else None,
        written_bytes=moved,
        origin=origin,
        details=(*runs, *command.details, *ports),
        flags=command.flags,
    )


def edges_of(made: Expansion) -> tuple[ViewEdge, ...]:
    """The dependencies, as the dump gives them."""
    return tuple(ViewEdge(before, after, "given") for before, after, _ in made.links)


def origins_of(graph: DotGraph) -> tuple[ViewOrigin, ...]:
    """Where each node of the text stands in it."""
    origins = []
    for node in graph.nodes:
        start = node.place
        stop = Span(start.source, start.stop, start.stop)
        origins.append(ViewOrigin(None, 0, start.line, start.column, stop.line, stop.column, "in the dump"))
    return tuple(origins)


def _ports(graph: DotGraph) -> defaultdict[int, list[tuple[str, str]]]:
    """Marks at the ends of dependencies that are not the usual 0: what of a kernel another one waits for."""
    found: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for edge in graph.edges:
        marks = [edge.attributes[key] for key in _PORTS if edge.attributes.get(key, "0").strip() not in ("0", "")]
        if marks and len(found[edge.after]) < MOST_FACTS:
            name = graph.nodes[edge.before].name
            found[edge.after].append(("port", f"{shortened(' and '.join(marks))} of {shortened(name)}"))
    return found
