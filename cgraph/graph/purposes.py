"""Which planes of a graph hold data before it runs, and which hold its results afterwards.

Follows from the planes' roles (`core.roles.Role`) and from what the graph itself writes.
"""

from collections.abc import Iterator

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph, Plane

GIVEN_ROLES = (Role.INPUT, Role.WEIGHT)
# What a run may leave in such a plane is worth keeping: a saved plane, a state, an updated weight.
_KEPT_ROLES = (Role.SAVED, Role.STATE, Role.WEIGHT)


def written_planes(graph: CommandGraph) -> frozenset[int]:
    """Indices of the planes that some command writes."""
    return frozenset(access.plane for node in graph.nodes for access in node.accesses if access.mode.writes)


def starts_filled(graph: CommandGraph, plane: Plane, *, written: bool) -> bool:
    """Whether a plane holds data before the first command; `written` says whether the graph writes it.

    A saved plane does unless this graph itself writes it, and so does a gradient whose plane the graph does not know.
    A state holds what the last run left, zeros at first.
    """
    if plane.role is Role.GRADIENT and plane.gradient_of is not None:
        return graph.planes[plane.gradient_of].role is Role.OUTPUT
    if plane.role in (Role.SAVED, Role.GRADIENT):
        return not written
    return plane.role in (*GIVEN_ROLES, Role.STATE)


def is_result(graph: CommandGraph, plane: Plane) -> bool:
    """Whether a plane is an output, or the gradient of an input or weight."""
    if plane.role is Role.GRADIENT and plane.gradient_of is not None:
        return graph.planes[plane.gradient_of].role in GIVEN_ROLES
    return plane.role is Role.OUTPUT


def given_planes(graph: CommandGraph) -> tuple[Plane, ...]:
    """Planes that hold data before a run, in the order of the graph: those that some command touches."""
    written = written_planes(graph)
    touched = {access.plane for node in graph.nodes for access in node.accesses}
    return tuple(
        plane
        for plane in graph.planes
        if plane.index in touched and starts_filled(graph, plane, written=plane.index in written)
    )


def result_planes(graph: CommandGraph) -> tuple[Plane, ...]:
    """Planes that are worth keeping after a run: outputs, gradients, and what this graph wrote of the rest.

    The rest are saved planes, states and weights; scratch is lost.
    """
    return tuple(_results(graph))


def _results(graph: CommandGraph) -> Iterator[Plane]:
    written = written_planes(graph)
    for plane in graph.planes:
        if plane.index in written and (is_result(graph, plane) or plane.role in _KEPT_ROLES):
            yield plane
