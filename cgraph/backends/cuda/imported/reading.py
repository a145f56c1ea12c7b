"""Reads a live CUDA graph into an `ImportedGraph`.

Receives a handle and the code of its kernels; guarantees that nothing of the graph changes, that no address stays in
what it gives, and that whatever can't be kept is a problem, all of them in one report. The memory must be allocated and
a context of its device current; without one, the first device's primary context is used.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import index
from typing import Any

from attrs import frozen
from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.context import MAJOR, MINOR, open_context
from cgraph.backends.cuda.imported.matching import KernelTable, match_code
from cgraph.backends.cuda.imported.model import (
    POINTER_BYTES,
    ChildGraphNode,
    CopySide,
    ImportedGraph,
    ImportedNode,
    KernelNode,
    Level,
    MemcpyNode,
    MemsetNode,
    Relocation,
    node_place,
)
from cgraph.backends.cuda.imported.naming import Names, name_planes
from cgraph.backends.cuda.imported.problems_imported import NoLiveGraph
from cgraph.backends.cuda.imported.reading_code import read_code
from cgraph.backends.cuda.imported.reading_kernels import RawKernel
from cgraph.backends.cuda.imported.reading_levels import (
    GraphWalk,
    RawChild,
    RawMemcpy,
    RawMemset,
    RawNode,
    RawSide,
)
from cgraph.backends.cuda.imported.reading_memory import MemoryReader, MemoryTable, table_of
from cgraph.backends.cuda.imported.resolving import Pointers, Resolver
from cgraph.diagnostics import ProblemsFound

# They are numbers as well, but not of a graph.
OTHER_HANDLES = (cu.CUgraphExec, cu.CUgraphNode, cu.CUstream)


def read_graph(
    handle: Any,
    *,
    code: Iterable[Any] = (),
    names: Names | None = None,
    pointers: Pointers | None = None,
    with_data: bool = False,
) -> ImportedGraph:
    """As `cgraph.capture.from_cuda_graph`, which documents it."""
    graph = _graph_of(handle)
    call = Calls()
    with _some_context(call) as capability:
        walk = GraphWalk(call)
        walk.walk(graph)
        given, problems = read_code(call, code)
        device = int(call(cu.cuCtxGetDevice))
        resolver = Resolver(MemoryReader(call), device, pointers or {})
        for number, level in enumerate(walk.levels):
            for index, node in enumerate(level.nodes):
                resolver.use(node, node_place(number, index))
        resolver.check_declarations(facts.name for facts in walk.kernels.functions.values())
        kernels, code_problems = match_code(tuple(walk.kernels.functions.values()), given)
        table = table_of(resolver.memory)
        planes, name_problems = name_planes(table, names or {})
        found = [*walk.problems, *resolver.problems, *problems, *code_problems, *name_problems]
        if found:
            raise ProblemsFound(found)
        builder = _Builder(table, kernels, resolver.positions)
        levels = tuple(Level(tuple(builder.node(node) for node in level.nodes), level.edges) for level in walk.levels)
        return ImportedGraph(
            capability,
            table.allocations,
            planes,
            kernels.codes,
            kernels.kernels,
            levels,
            len(walk.events),
            table.contents(call, device=with_data),
            tuple(resolver.remarks),
        )


@frozen(eq=False)
class _Builder:
    """Turns nodes with addresses into nodes with places. `positions` has those of addresses in argument buffers."""

    table: MemoryTable
    kernels: KernelTable
    positions: Mapping[RawKernel, tuple[int, ...]]

    def node(self, raw: RawNode | None) -> ImportedNode:
        match raw:
            case RawKernel():
                return self._kernel(raw)
            case RawMemset():
                place = self.table.place(raw.address)
                pitch = raw.pitch_bytes if raw.height > 1 else 0
                value = raw.value & ((1 << 8 * raw.element_bytes) - 1)
                return MemsetNode(place, pitch, value, raw.element_bytes, raw.width, raw.height)
            case RawMemcpy():
                sides = (self._side(raw.target, raw), self._side(raw.source, raw))
                return MemcpyNode(*sides, raw.width_bytes, raw.height, raw.depth)
            case RawChild():
                return ChildGraphNode(raw.level)
            case None:
                raise TypeError("a node that can't be imported was reported before")
        return raw

    def _kernel(self, raw: RawKernel) -> KernelNode:
        arguments = bytearray(raw.arguments)
        relocations = []
        for position in self.positions[raw]:
            relocations.append(Relocation(position, self.table.place(raw.word(position))))
            arguments[position : position + POINTER_BYTES] = bytes(POINTER_BYTES)
        return KernelNode(
            self.kernels.numbers[raw.function],
            raw.grid,
            raw.block,
            raw.shared_bytes,
            bytes(arguments),
            tuple(relocations),
            raw.attributes,
        )

    def _side(self, side: RawSide, raw: RawMemcpy) -> CopySide:
        """Pitches and rows of a slice only where they count."""
        pitch = side.pitch_bytes if raw.height > 1 or raw.depth > 1 else 0
        return CopySide(self.table.place(side.address), pitch, side.slice_rows if raw.depth > 1 else 0)


@contextmanager
def _some_context(call: Calls) -> Iterator[tuple[int, int]]:
    """The current context, or else the first device's; gives the compute capability of its device."""
    context = open_context(0, call) if _nothing_current() else None
    try:
        if context is not None:
            call(cu.cuCtxPushCurrent, context.context)
        device = call(cu.cuCtxGetDevice)
        yield call(cu.cuDeviceGetAttribute, MAJOR, device), call(cu.cuDeviceGetAttribute, MINOR, device)
    finally:
        if context is not None:
            cu.cuCtxPopCurrent()
            context.close()


def _nothing_current() -> bool:
    result, context = cu.cuCtxGetCurrent()
    return bool(result != cu.CUresult.CUDA_SUCCESS or not int(context))


def _graph_of(given: Any) -> Any:
    """The CUgraph that a caller means. Raises ProblemsFound (CG850)."""
    found = given
    for name in ("graph_definition", "raw_cuda_graph", "handle"):
        if not isinstance(found, int | cu.CUgraph) and hasattr(found, name):
            found = getattr(found, name)
            try:
                found = found() if callable(found) else found
            except RuntimeError as error:
                raise ProblemsFound([NoLiveGraph(None, f"`{given!r}`", str(error))]) from error
    if not isinstance(found, (cu.CUgraph, *OTHER_HANDLES)):
        try:
            found = cu.CUgraph(index(found))
        except TypeError:
            raise ProblemsFound([NoLiveGraph(None, f"`{given!r}`")]) from None
    if isinstance(found, OTHER_HANDLES) or not int(found):
        raise ProblemsFound([NoLiveGraph(None, f"`{given!r}`")])
    return found
