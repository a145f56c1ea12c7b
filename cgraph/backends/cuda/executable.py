"""A graph on a GPU, real or emulated.

Receives what `preparation` made; offers what every backend does (`Executable`), and changes of the executable graph
without instantiating it again. It owns the context's stream, memory, modules and graphs, and frees them in `close`: the
graph first, because its nodes name the others. A run is one launch.
"""

from collections.abc import Callable
from typing import Any
from weakref import finalize

import numpy as np
from attrs import define, field
from cuda.bindings import driver as cu
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.cuda.arena import DevicePlanes
from cgraph.backends.cuda.context import DeviceContext
from cgraph.backends.cuda.instantiated import InstantiatedGraph
from cgraph.backends.cuda.modules import LoadedModules
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.cuda.timing import run_each, run_timed
from cgraph.backends.cuda.update import (
    Change,
    DeviceArray,
    Rebind,
    SetScalar,
    array_of,
    change_graph,
    find_reasons,
    follow,
)
from cgraph.backends.cuda.watching import Watch
from cgraph.backends.dtypes import DTYPES
from cgraph.backends.planes import find_plane, fit_array
from cgraph.backends.protocol import OnNode
from cgraph.backends.recording_hook import current_watcher
from cgraph.backends.scalar_rules import graph_with, with_scalar
from cgraph.core.closing import ClosedByWith
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Access, CommandGraph, Node
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@define(eq=False)
class CudaExecutable(ClosedByWith):
    """A graph on a device; an `Executable` and a context manager.

    Planes outside the arena are zero at first; a scratch plane holds whatever is there until a command writes it. All
    methods wait until their work is done. After `close` none may be called but `close`.
    """

    graph: CommandGraph = field(repr=False)
    schedule: Schedule = field(repr=False)
    device: DeviceContext = field(repr=False)
    planes: DevicePlanes = field(repr=False)
    modules: LoadedModules = field(repr=False)
    instantiated: InstantiatedGraph = field(repr=False)
    watch: Watch = field(repr=False)
    plan: MemoryPlan = field(repr=False)
    device_name: str
    architectures: tuple[str, ...] = field(repr=False)
    stored: StoredKernels | None = field(default=None, repr=False)
    _changed: dict[int, Node] = field(factory=dict, init=False, repr=False)
    _finalizer: "finalize[..., CudaExecutable]" = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._finalizer = finalize(self, _free, self.device, self.instantiated, self.modules, self.planes)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane, as `Executable.set` says: into the memory that it is bound to now."""
        plane = find_plane(self.planes.by_name, name)
        values = np.ascontiguousarray(fit_array(plane, array))
        if values.nbytes:
            address = self.planes.addresses[plane.index]
            with self.device.current():
                self.device.call(cu.cuMemcpyHtoD, address, values.ctypes.data, values.nbytes)

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane, as `Executable.get` says."""
        plane = find_plane(self.planes.by_name, name)
        values = np.empty(plane.extent, DTYPES[plane.element])
        if values.nbytes:
            address = self.planes.addresses[plane.index]
            with self.device.current():
                self.device.call(cu.cuMemcpyDtoH, values.ctypes.data, address, values.nbytes)
        return values

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every command once, as `Executable.run` says.

        Without `on_node` the graph is launched. With it the commands run one by one on a stream, between events, so
        that each has a time of its own; the results have the same bits.

        Raises:
            ProblemsFound: CG742 where a kernel failed; on an emulated device also whatever it found (CG755 to CG766)
                and the commands that it is about (CG767); CG744 where memory that a plane is bound to is no longer
                there or does not fit any more.
        """
        watcher = current_watcher()
        if watcher is not None:
            watcher(self, on_node)
        elif on_node is None:
            self._do(self._launch)
        else:
            self._do(lambda: run_timed(self.schedule, self.instantiated.pieces, self.device, on_node, self.watch.note))

    def run_each(self, on_node: OnNode) -> None:
        """As `Steppable.run_each` says: waits for the device behind every command. Raises as `run`."""
        self._do(lambda: run_each(self.schedule, self.instantiated.pieces, self.device, on_node, self.watch.note))

    def _launch(self) -> None:
        self.device.call(cu.cuGraphLaunch, self.instantiated.executable, self.device.stream)
        self.device.synchronize()

    def _do(self, work: Callable[[], None]) -> None:
        """Runs the commands, and says what the device found in them."""
        pieces, watch = self.instantiated.pieces, self.watch
        watch.begin()
        try:
            with self.device.current():
                follow(self.graph, self.planes, self.instantiated, self.device.call)
                work()
        except ProblemsFound as stopped:
            raise ProblemsFound([*stopped.problems, *watch.blame(self.graph, pieces)]) from stopped
        watch.check(self.graph, pieces)

    def can_update(self, change: Change) -> tuple[str, ...]:
        """Why the executable graph cannot take a change, one reason a line; () where it can. Nothing is changed."""
        with self.device.current():
            return find_reasons(self.graph, self.planes, self.instantiated.pieces, change)

    def rebind(self, name: str, memory: int | DeviceArray) -> None:
        """Binds a plane to other memory of the device; the next run uses it. Nothing is copied.

        Args:
            name: the plane's; not of a scratch plane, whose place the memory plan chose.
            memory: the address of as many bytes as the plane has, or an array with `__cuda_array_interface__` of its
                element type and extent, which is kept alive. Who writes to it must have ended before a run.

        Raises:
            ProblemsFound: CG744 with all reasons, CG702 for an unknown name.
        """
        plane = find_plane(self.planes.by_name, name)
        address, kept = array_of(plane, memory)
        with self.device.current():
            change_graph(self.graph, self.planes, self.instantiated, self.device.call, Rebind(name, address))
        self.planes.kept[plane.index] = kept

    def set_scalar(self, node: int, slot: str, value: float) -> None:
        """Changes a scalar of a command; the next run uses it.

        Args:
            node: the command's index.
            slot: the name of a natural or float slot of its image; `value` for a fill.
            value: an int for a natural.

        Raises:
            ProblemsFound: CG744 with all reasons.
        """
        with self.device.current():
            change = SetScalar(node, slot, value)
            change_graph(self.graph, self.planes, self.instantiated, self.device.call, change)
        self._changed[node] = with_scalar(self._changed.get(node, self.graph.nodes[node]), slot, value)

    def current_graph(self) -> CommandGraph:
        """The graph with the scalars of now."""
        return graph_with(self.graph, self._changed)

    def bytes_of(self, access: Access) -> NDArray[np.uint8]:
        """A copy of a part of a plane's memory."""
        values = np.empty(access.stop - access.start, np.uint8)
        if values.size:
            address = self.planes.addresses[access.plane] + access.start
            with self.device.current():
                self.device.call(cu.cuMemcpyDtoH, values.ctypes.data, address, values.nbytes)
        return values

    def close(self) -> None:
        """Frees everything, once or again. It happens by itself when nobody holds the executable any more."""
        self._finalizer()


def _free(device: DeviceContext, instantiated: InstantiatedGraph, modules: LoadedModules, planes: DevicePlanes) -> None:
    """Frees the parts in the order in which they need each other."""
    cu.cuCtxPushCurrent(device.context)
    cu.cuStreamSynchronize(device.stream)
    instantiated.close()
    modules.close()
    planes.close()
    cu.cuCtxPopCurrent()
    device.close()
