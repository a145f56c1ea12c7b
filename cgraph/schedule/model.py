"""What a schedule is: for each command, those that must have ended before it starts.

A schedule is a value; how it is made from hazards is left to `orders`.
"""

from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

from cgraph.core.notebooks import ShownInNotebooks
from cgraph.graph.hazards import Hazard


class Order(Enum):
    """How much freedom a schedule leaves. All three give the same bits."""

    SERIAL = "serial"
    PHASE = "phase"
    DATAFLOW = "dataflow"


Reason: TypeAlias = Hazard | Order


@frozen(eq=False)
class Schedule(ShownInNotebooks):
    """A partial order on the nodes of a graph.

    Args:
        order: the kind of order that was asked for.
        sequence: node indices in one legal order: program order.
        predecessors: for each node, those it waits for directly, ascending. Nodes that wait for the same barrier share
            one tuple, so a barrier costs no more than the nodes on both sides, however many edges it stands for.
        reasons: for each of these edges the first hazard between the two, or the order where there is none.
        hazards: those that the schedule was made from.
    """

    order: Order
    sequence: tuple[int, ...] = field(repr=False)
    predecessors: tuple[tuple[int, ...], ...] = field(repr=False)
    reasons: tuple[tuple[Reason, ...], ...] = field(repr=False)
    hazards: tuple[Hazard, ...] = field(repr=False)
