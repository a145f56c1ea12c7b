"""One command of a graph as a node of a view.

Receives a verified node and the tables that its references go into; guarantees that all its facts are carried over.
"""

from collections.abc import Iterator, Mapping

from cgraph.graph.model import CommandGraph, CopyNode, FillNode, Image, LaunchNode, Node, PlaneArgument
from cgraph.schedule.cost import CostModel, moved_bytes, node_cost_us
from cgraph.schedule.operations import node_operations
from cgraph.view.model import Mode, NodeKind, ViewAccess, ViewArgument, ViewNode
from cgraph.view.places import Places


def view_node(
    graph: CommandGraph, node: Node, places: Places, kernels: Mapping[Image, int], model: CostModel
) -> ViewNode:
    """A node with its estimated cost; its time, where one was measured, is left to the caller."""
    read_bytes, written_bytes = moved_bytes(node)
    launch = node if isinstance(node, LaunchNode) else None
    kind, label = _kind(node)
    return ViewNode(
        kind=kind,
        label=label,
        phase=node.phase,
        kernel=None if launch is None else kernels[launch.image],
        grid=None if launch is None else launch.grid,
        block=None if launch is None else launch.block,
        shared_bytes=None if launch is None else launch.shared_bytes,
        arguments=tuple(_arguments(graph, node)),
        accesses=tuple(
            ViewAccess(access.plane, access.start, access.stop, access.mode.value) for access in node.accesses
        ),
        read_bytes=read_bytes,
        written_bytes=written_bytes,
        operations=node_operations(node),
        cost_us=node_cost_us(node, model),
        origin=places.origin(node.origin),
    )


def _kind(node: Node) -> tuple[NodeKind, str]:
    if isinstance(node, LaunchNode):
        return "launch", node.image.signature.name
    if isinstance(node, FillNode):
        return "fill", f"fill with {node.value!r}"
    if isinstance(node, CopyNode):
        return "copy", "copy"
    return "join", "join"


def _arguments(graph: CommandGraph, node: Node) -> Iterator[ViewArgument]:
    """What each slot gets; a fill and a copy have slots of their own names."""
    if isinstance(node, LaunchNode):
        for slot, argument, extent in zip(node.image.signature.slots, node.arguments, node.extents, strict=True):
            access: Mode | None = None if slot.access is None else slot.access.value
            if isinstance(argument, PlaneArgument):
                yield ViewArgument(slot.name, argument.plane, argument.offset, extent, access)
            else:
                yield ViewArgument(slot.name, access=access, value="null" if argument is None else repr(argument))
        return
    for slot_name, part in zip(("destination", "source"), node.accesses, strict=False):
        count, rest = divmod(part.stop - part.start, graph.planes[part.plane].element.size_bytes)
        yield ViewArgument(slot_name, part.plane, part.start, None if rest else (count,), part.mode.value)
    if isinstance(node, FillNode):
        yield ViewArgument("value", value=repr(node.value))
