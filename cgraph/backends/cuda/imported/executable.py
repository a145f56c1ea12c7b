"""An imported graph on a GPU, real or emulated.

Receives what `prepare_imported` made; offers planes of bytes by name, runs, and changes between runs. It owns the
context's stream, memory, modules, events and graphs, and frees them in `close`: the graph first, because its nodes name
the others. A run is one launch, or one for each node where somebody wants to look in between. A change builds the graph
anew and updates the executable one with it; where the driver does not take that, as for copies of more than one
dimension, it instantiates anew.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any
from weakref import finalize

import numpy as np
from attrs import define, field
from cuda.bindings import driver as cu
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.cuda.context import DeviceContext
from cgraph.backends.cuda.imported.building import BuiltGraph, Parts, build
from cgraph.backends.cuda.imported.changes import bound_address, with_scalar
from cgraph.backends.cuda.imported.loading import ImportedModules
from cgraph.backends.cuda.imported.memory import ImportedMemory
from cgraph.backends.cuda.imported.model import ImportedGraph, ImportedPlane, Place
from cgraph.backends.cuda.imported.problems_imported import ImportedNodeAtFault
from cgraph.backends.cuda.imported.stepping import alone, topological_order
from cgraph.backends.cuda.watching import Watch
from cgraph.backends.problems import PlaneMismatch, UnknownPlane
from cgraph.backends.protocol import OnNode
from cgraph.backends.recording_hook import current_imported_watcher
from cgraph.core.closing import ClosedByWith
from cgraph.diagnostics import ProblemsFound


@define(eq=False)
class Owned:
    """What an executable owns; `executable` and `built` are replaced by changes."""

    device: DeviceContext
    memory: ImportedMemory
    modules: ImportedModules
    events: list[Any]
    built: BuiltGraph | None = None
    executable: Any = None

    def parts(self) -> Parts:
        """What nodes are made of, as it is now."""
        return Parts(self.memory, self.modules.functions, self.events, self.device.context)

    def replace(self, built: BuiltGraph) -> None:
        """Takes another graph. Raises ProblemsFound (CG742); then it is what it was."""
        call = self.device.call
        if self.executable is not None and cu.cuGraphExecUpdate(self.executable, built.graph)[0] == _SUCCESS:
            executable = self.executable
        else:
            executable = call(cu.cuGraphInstantiate, built.graph, 0)
            if self.executable is not None:
                cu.cuGraphExecDestroy(self.executable)
        if self.built is not None:
            cu.cuGraphDestroy(self.built.graph)
        self.built, self.executable = built, executable

    def close(self) -> None:
        """Frees everything in the order in which the parts need each other, once or again."""
        if self.device.closed:
            return
        cu.cuCtxPushCurrent(self.device.context)
        cu.cuStreamSynchronize(self.device.stream)
        if self.executable is not None:
            cu.cuGraphExecDestroy(self.executable)
        if self.built is not None:
            cu.cuGraphDestroy(self.built.graph)
        for event in self.events:
            cu.cuEventDestroy(event)
        self.modules.close()
        self.memory.close()
        cu.cuCtxPopCurrent()
        self.device.close()


_SUCCESS = cu.CUresult.CUDA_SUCCESS


@define(eq=False)
class ImportedExecutable(ClosedByWith):
    """An imported graph, ready to run; a context manager.

    All methods wait until their work is done. After `close` none may be called but `close`. `graph` is what runs now,
    with the values that were set.
    """

    graph: ImportedGraph = field(repr=False)
    owned: Owned = field(repr=False)
    watch: Watch = field(repr=False)
    device_name: str
    _planes: dict[str, ImportedPlane] = field(init=False, repr=False)
    _finalizer: "finalize[..., ImportedExecutable]" = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._planes = {plane.name: plane for plane in self.graph.planes}
        self._finalizer = finalize(self, self.owned.close)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies the bytes of an array into a plane.

        Args:
            name: the plane's.
            array: of any type and extent, with as many bytes as the plane.

        Raises:
            ProblemsFound: CG702 for an unknown name, CG703 for another number of bytes.
        """
        plane = self._plane(name)
        values = np.ascontiguousarray(array)
        if values.nbytes != plane.size_bytes:
            raise ProblemsFound([PlaneMismatch(None, name, f"{plane.size_bytes} bytes", f"{values.nbytes}")])
        with self.owned.device.current():
            self.owned.memory.write(Place(plane.allocation, plane.offset), values.reshape(-1).view(np.uint8))

    def get(self, name: str) -> NDArray[np.uint8]:
        """A copy of a plane's bytes; `.view` gives them a type. Raises ProblemsFound (CG702)."""
        plane = self._plane(name)
        with self.owned.device.current():
            return self.owned.memory.read(Place(plane.allocation, plane.offset), plane.size_bytes)

    def run(self, on_node: OnNode | None = None) -> None:
        """Launches the graph and waits for it; node by node with `on_node`, or while runs are recorded.

        Args:
            on_node: as of `run_each`.

        Raises:
            ProblemsFound: CG742 where a kernel failed; on an emulated device also whatever it found, and the nodes that
                it is about (CG860).
        """
        watcher = current_imported_watcher()
        if watcher is not None:
            watcher(self, on_node)
        elif on_node is not None:
            self.run_each(on_node)
        else:
            nodes = () if self.owned.built is None else self.owned.built.nodes
            with self.owned.device.current():
                self._launch(self.owned.executable, nodes, range(len(nodes)))

    def run_each(self, on_node: OnNode) -> None:
        """Runs every node of the graph once, each as a graph of its own, in an order that the edges allow.

        Args:
            on_node: called when a node has ended, before the next begins, with its index and its elapsed time in
                milliseconds. A child graph is one node.

        Raises:
            ProblemsFound: as `run`, and CG859 where the driver refuses a node by itself.
        """
        device = self.owned.device
        for index in topological_order(self.graph.levels[0]):
            with device.current():
                built = build(alone(self.graph, index), self.owned.parts(), device.call)
                try:
                    executable = device.call(cu.cuGraphInstantiate, built.graph, 0)
                    try:
                        start = perf_counter()
                        self._launch(executable, built.nodes, (index,))
                        elapsed_ms = 1e3 * (perf_counter() - start)
                    finally:
                        cu.cuGraphExecDestroy(executable)
                finally:
                    cu.cuGraphDestroy(built.graph)
            on_node(index, elapsed_ms)

    def rebind(self, name: str, memory: Any) -> None:
        """Binds a plane that is a whole allocation to other device memory; the next run uses it. Nothing is copied.

        Args:
            name: the plane's.
            memory: an address, or an object with `__cuda_array_interface__`, which is kept alive; at least as many
                bytes as the plane has. Planes that are parts of the allocation move along.

        Raises:
            ProblemsFound: CG702 for an unknown name, CG744 with all reasons, CG859 where the driver refuses a node.
        """
        plane = self._plane(name)
        owned = self.owned
        with owned.device.current():
            address = bound_address(owned.device.call, self.graph, owned.memory, plane, memory)
            before = owned.memory.addresses[plane.allocation]
            owned.memory.addresses[plane.allocation] = address
            try:
                self._rebuild(self.graph)
            except BaseException:
                owned.memory.addresses[plane.allocation] = before
                raise
        owned.memory.kept[plane.allocation] = memory

    def set_scalar(self, node: int | tuple[int, int], slot: str, value: Any) -> None:
        """Changes an argument of a kernel or the value of a memset; the next run uses it.

        Args:
            node: its index, or, in a child graph, the level's number and the index.
            slot: `parameter 2`, counted from 0, or `value`.
            value: bytes or a NumPy scalar of the parameter's size, an int, or a float.

        Raises:
            ProblemsFound: CG744 with the reason, CG859 where the driver refuses the node.
        """
        level, index = (0, node) if isinstance(node, int) else node
        changed = with_scalar(self.graph, level, index, slot, value)
        with self.owned.device.current():
            self._rebuild(changed)
        self.graph = changed

    def close(self) -> None:
        """Frees everything, once or again. It happens by itself when nobody holds the executable any more."""
        self._finalizer()

    def _plane(self, name: str) -> ImportedPlane:
        if name not in self._planes:
            raise ProblemsFound([UnknownPlane(None, name, tuple(self._planes))])
        return self._planes[name]

    def _rebuild(self, graph: ImportedGraph) -> None:
        rebuild(graph, self.owned)

    def _launch(self, executable: Any, handles: Sequence[Any], indices: Sequence[int]) -> None:
        """Launches in the current context and waits. `handles` are those of its nodes, which have `indices`."""
        device = self.owned.device
        self.watch.begin()
        try:
            device.call(cu.cuGraphLaunch, executable, device.stream)
            device.synchronize()
        except ProblemsFound as stopped:
            raise ProblemsFound([*stopped.problems, *self._at_fault(handles, indices)]) from stopped
        problems = self.watch.take()
        if problems:
            raise ProblemsFound([*problems, *self._at_fault(handles, indices)])

    def _at_fault(self, handles: Sequence[Any], indices: Sequence[int]) -> Sequence[ImportedNodeAtFault]:
        counts = dict(self.watch.take_culprits())
        places = zip(handles, indices, strict=True)
        known = {int(handle): self.graph.describe(0, index) for handle, index in places}
        return [
            ImportedNodeAtFault(None, known.get(handle, "a node of a child graph"), count)
            for handle, count in counts.items()
        ]


def rebuild(graph: ImportedGraph, owned: Owned) -> None:
    """Builds the graph as it is now and puts it in place of the one before. Raises ProblemsFound (CG859, CG742)."""
    built = build(graph, owned.parts(), owned.device.call)
    try:
        owned.replace(built)
    except BaseException:
        cu.cuGraphDestroy(built.graph)
        raise
