"""The host backend: NumPy and its BLAS.

Receives a verified graph, its schedule and its memory plan. Preparation allocates all memory and binds every argument
once, so a run is a loop over bound calls in the schedule's sequence. Commands run one after the other, each large one
on all cores: the order that was asked for changes neither the bits nor the time.
An image without a NumPy function is executed as a device would, by the emulator (`host_kernels`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from cgraph.backends.host_kernels import HostKernels, load_host_kernels
from cgraph.backends.planes import HostPlanes, allocate
from cgraph.backends.protocol import OnNode
from cgraph.graph.model import CommandGraph, CopyNode, FillNode, Image, JoinNode, LaunchNode, Node, PlaneArgument
from cgraph.images.context import HostContext
from cgraph.images.registry import Meaning, find_meaning, keyword_of
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

Command: TypeAlias = tuple[int, Callable[[], object]]


@frozen(eq=False)
class HostExecutable:
    """A graph bound to memory; an `Executable`.

    Args:
        graph: that it was prepared from.
        planes: its memory.
        commands: node index and bound call, in the order of the run.
    """

    graph: CommandGraph = field(repr=False)
    planes: HostPlanes = field(repr=False)
    commands: tuple[Command, ...] = field(repr=False)

    def set(self, name: str, array: ArrayLike) -> None:
        """Copies values into a plane, as `Executable.set` says."""
        self.planes.set(name, array)

    def get(self, name: str) -> NDArray[Any]:
        """A copy of a plane, as `Executable.get` says."""
        return self.planes.whole(name).copy()

    def run(self, on_node: OnNode | None = None) -> None:
        """Runs every command once, as `Executable.run` says. Overflow gives infinity and no warning.

        Raises:
            ProblemsFound: a kernel that is executed here does what no kernel may do (CG755 to CG766 with CG705), or
                leaves a part of what it shall write (CG706).
        """
        with np.errstate(all="ignore"):
            if on_node is None:
                for _index, call in self.commands:
                    call()
                return
            for index, call in self.commands:
                start = perf_counter()
                call()
                on_node(index, 1e3 * (perf_counter() - start))


def prepare_host(
    graph: CommandGraph, schedule: Schedule, plan: MemoryPlan, context: HostContext | None = None
) -> HostExecutable:
    """Allocates the planes and binds the commands.

    Args:
        graph: verified.
        schedule: of this graph; its sequence is the order of the run.
        plan: of this schedule.
        context: threads and scratch memory, shared with other executables of the same thread; None for new ones.

    Raises:
        ProblemsFound: images without a meaning whose kernels cannot be executed either: CG701 and CG704, one problem
            for each image, or CG731 to CG739 from the compiler.
    """
    meanings, others = _meanings(graph.nodes)
    planes = allocate(graph, plan)
    kernels = load_host_kernels(others, graph.half, planes) if others else None
    binder = _Binder(planes, HostContext() if context is None else context, meanings, kernels)
    return HostExecutable(graph, planes, tuple((index, binder.bind(graph.nodes[index])) for index in schedule.sequence))


def _meanings(nodes: Sequence[Node]) -> tuple[dict[Image, Meaning], list[LaunchNode]]:
    """The meaning of every image launched, and the first launch of each that has none."""
    found: dict[Image, Meaning] = {}
    others: dict[Image, LaunchNode] = {}
    for node in nodes:
        if not isinstance(node, LaunchNode) or node.image in found or node.image in others:
            continue
        function = find_meaning(node.image.signature.file, node.image.signature.entry)
        if function is None:
            others[node.image] = node
        else:
            found[node.image] = function
    return found, list(others.values())


@frozen(eq=False)
class _Binder:
    """Turns nodes into calls without arguments."""

    planes: HostPlanes
    context: HostContext
    meanings: dict[Image, Meaning]
    kernels: HostKernels | None

    def bind(self, node: Node) -> Callable[[], object]:
        match node:
            case LaunchNode():
                return self._launch(node)
            case FillNode(accesses=(target,), value=value):
                element = self.planes.planes[target.plane].element
                count = (target.stop - target.start) // element.size_bytes
                return partial(self.planes.view(target.plane, target.start, element, (count,)).fill, value)
            case CopyNode(accesses=(target, source)):
                memory = self.planes.memory
                destination = memory[target.plane][target.start : target.stop]
                return partial(np.copyto, destination, memory[source.plane][source.start : source.stop])
            case JoinNode():
                return _nothing
        raise TypeError(f"no such node: {node!r}")

    def _launch(self, node: LaunchNode) -> Callable[[], object]:
        if self.kernels is not None and node.image not in self.meanings:
            return self.kernels.bind(node)
        signature = node.image.signature
        keywords: dict[str, object] = {keyword_of(name): value for name, value in node.image.constants}
        for slot, argument, extent in zip(signature.slots, node.arguments, node.extents, strict=True):
            value: object = argument
            if isinstance(argument, PlaneArgument):
                element = slot.element or self.planes.planes[argument.plane].element
                value = self.planes.view(argument.plane, argument.offset, element, extent)
            keywords[keyword_of(slot.name)] = value
        return partial(self.meanings[node.image], self.context, **keywords)


def _nothing() -> None:
    """A join runs nothing."""
