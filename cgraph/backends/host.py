"""The host backend: NumPy and its BLAS.

Receives a verified graph, its schedule and its memory plan. Preparation allocates all memory and binds every argument
once, so a run is a loop over bound calls in the schedule's sequence. Commands run one after the other, each large one
on all cores: the order that was asked for changes neither the bits nor the time.
An image without a NumPy function is executed as a device would, by the emulator (`host_kernels`).
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.bound_arrays import BoundArray, bind_array, moved
from cgraph.backends.commands import describe
from cgraph.backends.cuda.stored import StoredKernels
from cgraph.backends.host_commands import Binder, find_meanings, planes_of
from cgraph.backends.host_kernels import load_host_kernels
from cgraph.backends.meaning_checks import failed_meaning
from cgraph.backends.planes import HostPlanes, allocate
from cgraph.backends.problems_devices import UpdateImpossible
from cgraph.backends.protocol import OnNode
from cgraph.backends.recording_hook import current_watcher
from cgraph.backends.scalar_rules import command_reasons, graph_with, with_scalar
from cgraph.core.closing import ClosedByWith
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Access, CommandGraph, LaunchNode, Node
from cgraph.images.context import HostContext
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

Command: TypeAlias = tuple[int, Callable[[], object]]


@define(eq=False)
class HostExecutable(ClosedByWith):
    """A graph bound to memory; an `Executable`.

    Args:
        graph: that it was prepared from.
        schedule: of the graph; plan: of the schedule.
        planes: its memory.
        commands: node index and bound call, in the order of the run.
        binder: made the calls.
        stored: stored kernels, where images without a meaning come from them.
    """

    graph: CommandGraph = field(repr=False)
    schedule: Schedule = field(repr=False)
    plan: MemoryPlan = field(repr=False)
    planes: HostPlanes = field(repr=False)
    commands: list[Command] = field(repr=False)
    binder: Binder = field(repr=False)
    stored: StoredKernels | None = field(repr=False)
    _changed: dict[int, Node] = field(factory=dict, init=False, repr=False)
    _bound: dict[int, BoundArray] = field(factory=dict, init=False, repr=False)
    _users: tuple[list[int], ...] | None = field(default=None, init=False, repr=False)
    _positions: dict[int, int] | None = field(default=None, init=False, repr=False)

    @property
    def device_name(self) -> str:
        """`host`."""
        return "host"

    @property
    def architectures(self) -> tuple[str, ...]:
        """None: meanings run here, and PTX in the emulator."""
        return ()

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane, as `Executable.set` says: into the memory that it is bound to now."""
        self._follow()
        if not self.planes.whole(name).flags.writeable:
            plane, reason = self.planes.named(name), "it is bound to an array that may only be read"
            raise ProblemsFound([UpdateImpossible(plane.span, f"setting plane {name}", (reason,))])
        self.planes.set(name, array)

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane, as `Executable.get` says."""
        self._follow()
        return self.planes.whole(name).copy()

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every command once, as `Executable.run` says. Overflow gives infinity and no warning.

        Raises:
            ProblemsFound: a kernel that is executed here does what no kernel may do (CG755 to CG766 with CG705), or
                leaves a part of what it shall write (CG706); CG709 where a NumPy function fails; CG744 where an array
                that a plane is bound to was changed so that it does not fit any more.
        """
        watcher = current_watcher()
        if watcher is not None:
            watcher(self, on_node)
        elif on_node is not None:
            self.run_each(on_node)
        else:
            self._follow()
            with np.errstate(all="ignore"):
                try:
                    for command in self.commands:
                        command[1]()
                except ProblemsFound:
                    raise
                except Exception as error:
                    raise self._failure(command[0], error) from error

    def run_each(self, on_node: OnNode) -> None:
        """As `Steppable.run_each` says. Raises as `run`."""
        self._follow()
        with np.errstate(all="ignore"):
            for index, call in self.commands:
                start = perf_counter()
                try:
                    call()
                except ProblemsFound:
                    raise
                except Exception as error:
                    raise self._failure(index, error) from error
                on_node(index, 1e3 * (perf_counter() - start))

    def rebind(self, name: str, memory: object) -> None:
        """Binds a plane to an array's memory, as `Executable.rebind` says.

        Args:
            name: the plane's; not of a scratch plane.
            memory: a NumPy array, or one of another library with `__dlpack__` in this process's memory. If its owner
                resizes it in place, the next run uses its new memory, or says why it cannot.

        Raises:
            ProblemsFound: CG744 with all reasons, CG702 for an unknown name.
        """
        plane = self.planes.named(name)
        users = self._users_of(plane.index)
        nodes = self.graph.nodes
        written = any(
            access.plane == plane.index and access.mode.writes
            for position in users
            for access in nodes[self.commands[position][0]].accesses
        )
        self._bound[plane.index] = bind_array(self.planes, plane, memory, written=written)
        for position in users:
            self._bind_again(position)

    def set_scalar(self, node: int, slot: str, value: float) -> None:
        """Changes a scalar of a command, as `Executable.set_scalar` says. Raises ProblemsFound (CG744)."""
        if not 0 <= node < len(self.graph.nodes):
            reason = f"there is no command {node}; the graph has {len(self.graph.nodes)}"
            raise ProblemsFound([UpdateImpossible(None, f"setting {slot} of command {node}", (reason,))])
        command = self._changed.get(node, self.graph.nodes[node])
        arguments = list(command.arguments) if isinstance(command, LaunchNode) else []
        reasons = tuple(command_reasons(command, arguments, slot, value))
        if reasons:
            change = f"setting {slot} of {describe(command)}, to {value}"
            raise ProblemsFound([UpdateImpossible(command.origin.span, change, reasons)])
        self._changed[node] = with_scalar(command, slot, value)
        if self._positions is None:
            self._positions = {index: position for position, (index, _call) in enumerate(self.commands)}
        self._bind_again(self._positions[node])

    def current_graph(self) -> CommandGraph:
        """The graph with the scalars of now."""
        return graph_with(self.graph, self._changed)

    def bytes_of(self, access: Access) -> NDArray[np.uint8]:
        """A part of a plane's memory, as it is until the next command."""
        return self.planes.memory[access.plane][access.start : access.stop]

    def close(self) -> None:
        """Lets go of all memory, once or again; nothing may be called afterwards but `close`."""
        self.commands.clear()
        self.planes.memory.clear()
        self._bound.clear()

    def _failure(self, index: int, error: Exception) -> Exception:
        """What a run raises where a command raised an error."""
        node = self.graph.nodes[index]
        if isinstance(node, LaunchNode):
            return ProblemsFound([failed_meaning(node, error)])
        return RuntimeError(f"{describe(node)} failed")

    def _follow(self) -> None:
        """Binds planes again whose arrays were moved by their owners."""
        if self._bound:
            for plane, source in moved(self._bound):
                self.rebind(self.graph.planes[plane].name, source)

    def _bind_again(self, position: int) -> None:
        index = self.commands[position][0]
        self.commands[position] = index, self.binder.bind(self._changed.get(index, self.graph.nodes[index]))

    def _users_of(self, plane: int) -> list[int]:
        """Positions in `commands` of the commands that use a plane."""
        if self._users is None:
            self._users = tuple([] for _ in self.graph.planes)
            for position, (index, _call) in enumerate(self.commands):
                for used in planes_of(self.graph.nodes[index]):
                    self._users[used].append(position)
        return self._users[plane]


def prepare_host(
    graph: CommandGraph,
    schedule: Schedule,
    plan: MemoryPlan,
    context: HostContext | None = None,
    stored: StoredKernels | None = None,
) -> HostExecutable:
    """Allocates the planes and binds the commands.

    Args:
        graph: verified.
        schedule: of this graph; its sequence is the order of the run.
        plan: of this schedule.
        context: threads and scratch memory, shared with other executables of the same thread; None for new ones.
        stored: where kernels of images without a meaning come from; None for the program's own files.

    Raises:
        ProblemsFound: CG708 for images that do not fit their meaning; CG701 and CG704, one problem for each image, for
            images without a meaning whose kernels cannot be executed either, CG731 to CG739 from the compiler, or CG830
            and CG831 where the stored ones will not do.
    """
    meanings, others = find_meanings(graph.nodes)
    planes = allocate(graph, plan)
    kernels = load_host_kernels(others, graph.half, planes, stored) if others else None
    binder = Binder(planes, HostContext() if context is None else context, meanings, kernels)
    commands = [(index, binder.bind(graph.nodes[index])) for index in schedule.sequence]
    return HostExecutable(graph, schedule, plan, planes, commands, binder, stored)
