"""How far the results of one device may lie from those of another.

Both round what they write to the planes' element types, and add in other orders. Along a chain of n commands each
element is rounded n times with the unit roundoff u of the coarsest type on the way, and a sum of m numbers in f32 whose
rounding errors are independent errs by about the root of m times the unit roundoff of f32 (Higham 2002, section 3.1 and
4.6). Errors are taken to pass through commands unamplified, as they do where activations and scores are near 1, so the
bound is for telling another rounding from another result, not a proof.
"""

from math import sqrt

from cgraph.core.elements import Element
from cgraph.graph.model import CommandGraph, LaunchNode
from cgraph.schedule.model import Schedule

UNIT_ROUNDOFF = {Element.F64: 2.0**-53, Element.F32: 2.0**-24, Element.F16: 2.0**-11, Element.BF16: 2.0**-8}


def derived_tolerance(graph: CommandGraph, schedule: Schedule) -> float:
    """A bound on ‖one - other‖ / ‖other‖ of each result, for runs on two kinds of devices.

    Args:
        graph: that ran.
        schedule: of it.
    """
    written = {access.plane for node in graph.nodes for access in node.accesses if access.mode.writes}
    elements = {graph.planes[plane].element for plane in written}
    coarsest = max((UNIT_ROUNDOFF[element] for element in elements if element in UNIT_ROUNDOFF), default=0.0)
    # Sums run along one axis of a plane.
    longest = max((size for plane in graph.planes for size in plane.extent), default=1)
    kept = UNIT_ROUNDOFF[Element.F64 if graph.half is Element.F64 else Element.F32]
    return 2 * _longest_chain(graph, schedule) * (coarsest + sqrt(longest) * kept)


def _longest_chain(graph: CommandGraph, schedule: Schedule) -> int:
    """The most launches that follow each other."""
    lengths = [0] * len(graph.nodes)
    # Commands behind one barrier share the tuple of their predecessors.
    before: dict[int, int] = {}
    for index in schedule.sequence:
        direct = schedule.predecessors[index]
        if id(direct) not in before:
            before[id(direct)] = max((lengths[earlier] for earlier in direct), default=0)
        lengths[index] = before[id(direct)] + isinstance(graph.nodes[index], LaunchNode)
    return max(lengths, default=0)
