"""What a bundle is, in memory: a planned graph, the code of its kernels, contents of planes, a recorded run.

Guarantees nothing by itself: a bundle that `load` returned was validated throughout, one that `save` takes was made
from a verified program. How it lies in a file is left to `container` and the codecs, running it to `replay`.
"""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.core.notebooks import ShownInNotebooks
from cgraph.graph.model import CommandGraph, Image, LaunchNode
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule

__all__ = ["Bundle", "Code", "KernelModule", "Recording", "launched_images"]


@frozen(eq=False)
class Recording:
    """What a run gave, to compare a replay with.

    Args:
        device: that it ran on, e.g. `host`.
        outputs: contents of the result planes after the run, by plane name.
        node_digests: for each node the SHA-256 of the bytes that it wrote, in node order; () where not recorded.
    """

    device: str
    outputs: Mapping[str, NDArray[Any]] = field(repr=False)
    node_digests: tuple[bytes, ...] = field(repr=False)


@frozen(eq=False)
class Bundle(ShownInNotebooks):
    """A program's graph, ready to be replayed.

    Args:
        graph, schedule, plan: as the pipeline made them.
        modules: kernel files.
        module_of: for each of `images`, in their order, the index of its module; None where only a NumPy meaning is
            known.
        data: contents of planes before the run, by plane name; may be empty.
        recording: of a run, where one was made.
    """

    graph: CommandGraph = field(repr=False)
    schedule: Schedule = field(repr=False)
    plan: MemoryPlan = field(repr=False)
    modules: tuple[KernelModule, ...]
    module_of: tuple[int | None, ...]
    data: Mapping[str, NDArray[Any]] = field(factory=dict, repr=False)
    recording: Recording | None = None

    @property
    def images(self) -> tuple[Image, ...]:
        """The images that the graph launches, each once, in the order of their first launch."""
        return launched_images(self.graph)


def launched_images(graph: CommandGraph) -> tuple[Image, ...]:
    """The images that a graph launches, each once, in the order of their first launch."""
    return tuple(dict.fromkeys(node.image for node in graph.nodes if isinstance(node, LaunchNode)))
