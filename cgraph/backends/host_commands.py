"""Commands of the host backend: nodes turned into calls without arguments.

Receives a graph's nodes and its planes in memory; guarantees a call for each that does what the node says, on the
memory that the planes have when it is bound. A plane that gets other memory needs its commands bound again.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from attrs import frozen

from cgraph.backends.host_kernels import HostKernels
from cgraph.backends.meaning_checks import check_meaning
from cgraph.backends.planes import HostPlanes
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CopyNode, FillNode, Image, JoinNode, LaunchNode, Node, PlaneArgument
from cgraph.images.context import HostContext
from cgraph.images.registry import Meaning, find_meaning, keyword_of


@frozen(eq=False)
class Binder:
    """Turns nodes into calls.

    Args:
        planes: the graph's, in memory.
        context: threads and scratch memory.
        meanings: of images.
        kernels: of the images that have no meaning; None where all have one.
    """

    planes: HostPlanes
    context: HostContext
    meanings: dict[Image, Meaning]
    kernels: HostKernels | None

    def bind(self, node: Node) -> Callable[[], object]:
        """A node as a call."""
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


def find_meanings(nodes: Sequence[Node]) -> tuple[dict[Image, Meaning], list[LaunchNode]]:
    """The meaning of every image launched, and the first launch of each that has none.

    Raises:
        ProblemsFound: CG708 for each image whose slots or constants are not those that its meaning takes.
    """
    found: dict[Image, Meaning] = {}
    others: dict[Image, LaunchNode] = {}
    problems: list[Problem] = []
    for node in nodes:
        if not isinstance(node, LaunchNode) or node.image in found or node.image in others:
            continue
        function = find_meaning(node.image.signature.file, node.image.signature.entry)
        if function is None:
            others[node.image] = node
        else:
            found[node.image] = function
            mismatch = check_meaning(function, node)
            if mismatch is not None:
                problems.append(mismatch)
    if problems:
        raise ProblemsFound(problems)
    return found, list(others.values())


def planes_of(node: Node) -> set[int]:
    """The planes whose memory a node's call holds."""
    planes = {access.plane for access in node.accesses}
    if isinstance(node, LaunchNode):
        planes.update(argument.plane for argument in node.arguments if isinstance(argument, PlaneArgument))
    return planes


def _nothing() -> None:
    """A join runs nothing."""
