"""Which access of a launch belongs to which slot of its signature."""

from collections.abc import Iterator

from cgraph.core.signatures import Slot
from cgraph.graph.model import Access, LaunchNode, PlaneArgument


def slot_accesses(node: LaunchNode) -> Iterator[tuple[Slot, Access]]:
    """Each pointer slot that names a plane, with its access; slots that were left out have none."""
    slots = node.image.signature.slots
    pointers = (slot for slot, value in zip(slots, node.arguments, strict=True) if isinstance(value, PlaneArgument))
    return zip(pointers, node.accesses, strict=True)
