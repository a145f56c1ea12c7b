"""What a bundle is, in memory: a planned graph, the code of its kernels, contents of planes, a recorded run.

Guarantees nothing by itself: a bundle that `load` returned was validated throughout, one that `save` takes was made
from a verified program. How it lies in a file is left to `container` and the codecs, running it to `replay`.
"""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen
from numpy.typing import NDArray

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.entries import Entry
from cgraph.graph.model import CommandGraph, Image, LaunchNode
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.model import Schedule


@frozen(eq=False)
class Code:
    """Code of one kernel file for one architecture.

    Args:
        kind: a cubin, or PTX in UTF-8.
        architecture: of the devices that run it: `sm_90` for a cubin; for PTX the oldest one, `compute_80`.
        ptx_version: of the PTX, e.g. (9, 5); None for a cubin.
        data: the code.
        entries: the kernels in it; resources are known for cubins only.
    """

    kind: CodeKind
    architecture: str
    ptx_version: tuple[int, int] | None
    data: bytes = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)


@frozen(eq=False)
class KernelModule:
    """A kernel file with all that compiling it again takes, and the code that was made from it.

    Args:
        file: name of the .cu file, without a folder.
        source: its text.
        includes: name, as an `#include` finds it, and text of each local header that it needs.
        options: of the compiler, without architecture, folders and macros.
        defines: name and value of each macro, sorted.
        codes: PTX first, then cubins by architecture; () where no compiler was at hand.
    """

    file: str
    source: str = field(repr=False)
    includes: tuple[tuple[str, str], ...] = field(repr=False)
    options: tuple[str, ...]
    defines: tuple[tuple[str, str], ...]
    codes: tuple[Code, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its kernels with their parameters, as the first code has them; () without code."""
        return self.codes[0].entries if self.codes else ()


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
class Bundle:
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
