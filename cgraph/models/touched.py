"""What a graph's commands touch, plane by plane, collected in one walk over its accesses."""

from attrs import field, frozen

from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph, Plane
from cgraph.graph.ranges import Range


@frozen(eq=False)
class Touched:
    """For each plane of a graph, by index.

    Args:
        graph: the graph.
        reads, writes: byte ranges in program order; accumulating is both.
        begins_read: whether the first command that touches the plane reads it.
    """

    graph: CommandGraph = field(repr=False)
    reads: tuple[list[Range], ...]
    writes: tuple[list[Range], ...]
    begins_read: tuple[bool, ...]

    def is_written(self, plane: Plane) -> bool:
        """Whether any command writes to it."""
        return bool(self.writes[plane.index])

    def is_gradient_of(self, plane: Plane, *roles: Role) -> bool:
        """Whether it is the gradient of a plane of one of these roles."""
        return plane.gradient_of is not None and self.graph.planes[plane.gradient_of].role in roles

    def is_given_gradient(self, plane: Plane) -> bool:
        """Whether it is a gradient of an output that enters the program: one that it reads before it writes it."""
        return self.is_gradient_of(plane, Role.OUTPUT) and self.begins_read[plane.index]

    def is_given_saved(self, plane: Plane) -> bool:
        """Whether it is a saved plane that another program has to fill."""
        return plane.role is Role.SAVED and bool(self.reads[plane.index]) and not self.writes[plane.index]


def touched(graph: CommandGraph) -> Touched:
    """The accesses of a graph by plane."""
    reads: tuple[list[Range], ...] = tuple([] for _ in graph.planes)
    writes: tuple[list[Range], ...] = tuple([] for _ in graph.planes)
    begins_read = [False] * len(graph.planes)
    for node in graph.nodes:
        new = {access.plane for access in node.accesses if not reads[access.plane] and not writes[access.plane]}
        for access in node.accesses:
            if access.mode.reads:
                reads[access.plane].append((access.start, access.stop))
                begins_read[access.plane] |= access.plane in new
            if access.mode.writes:
                writes[access.plane].append((access.start, access.stop))
    return Touched(graph, reads, writes, tuple(begins_read))
