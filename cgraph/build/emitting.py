"""Turns command values into graph nodes: planes get indices, slots become arguments and accesses.

Receives launches, fills and copies whose sizes are ints. A command with a problem is reported and not emitted.
"""

from attrs import define, evolve, field

from cgraph.build.planes import PlaneTable
from cgraph.build.problems import CopyDiffers, NoPlaneHere
from cgraph.check.launches import check_launch
from cgraph.check.primitives import plane_name
from cgraph.check.problems_origins import blame
from cgraph.check.values import CopyCommand, FillCommand, LaunchCommand, PlaneValue, Unknown, Value
from cgraph.core.elements import bind_element
from cgraph.core.origins import Origin
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Problem
from cgraph.graph.model import Access, Argument, CopyNode, FillNode, Image, LaunchNode, Node, PlaneArgument
from cgraph.source import Source


@define(eq=False)
class Emitter:
    """Collects nodes; `phase` is the one that the next node belongs to."""

    table: PlaneTable
    root: Source
    problems: list[Problem]
    nodes: list[Node] = field(factory=list)
    phase: int | None = None
    _images: dict[str, Image] = field(factory=dict)

    def emit(self, command: LaunchCommand | FillCommand | CopyCommand) -> None:
        """Adds the command's node, or reports why it has none."""
        if isinstance(command, LaunchCommand):
            self._launch(command)
        elif isinstance(command, FillCommand):
            self._fill(command)
        else:
            self._copy(command)

    def _launch(self, command: LaunchCommand) -> None:
        """A launch whose slots fit the signature."""
        read, problems = check_launch(command)
        if problems or read is None or read.sizes is None:
            for problem in problems:
                self._report(problem)
            return
        sizes = read.sizes
        arguments: list[Argument] = []
        accesses: list[Access] = []
        for slot, filled, elements in zip(read.signature.slots, read.filled, sizes.elements, strict=True):
            value = None if filled is None else filled.value
            if slot.access is not None and isinstance(value, PlaneValue):
                access = self.table.access(value, elements, slot.access)
                accesses.append(access)
                arguments.append(PlaneArgument(access.plane, access.start))
            else:
                arguments.append(value)  # type: ignore[arg-type]  # check_launch made sure of the kind
        extents = tuple(
            () if filled is None else extent for filled, extent in zip(read.filled, sizes.extents, strict=True)
        )
        origin = command.origin
        self.nodes.append(
            LaunchNode(
                index=len(self.nodes),
                phase=self.phase,
                origin=Origin(origin.span, read.signature.name, origin.parent),
                accesses=tuple(accesses),
                image=self._image(read.signature),
                grid=command.grid,  # type: ignore[arg-type]  # a build has ints only
                block=sizes.block,  # type: ignore[arg-type]  # as above
                shared_bytes=sizes.shared_bytes,  # type: ignore[arg-type]  # as above
                arguments=tuple(arguments),
                extents=extents,  # type: ignore[arg-type]  # as above
            )
        )

    def _fill(self, command: FillCommand) -> None:
        """A fill, from the plane's offset to its end."""
        plane = self._plane(command.plane, command, "cgFill", "plane")
        if plane is not None and isinstance(command.value, float):
            access = self.table.access(plane, plane.elements, AccessMode.WRITE)
            self.nodes.append(FillNode(len(self.nodes), self.phase, command.origin, (access,), command.value))

    def _copy(self, command: CopyCommand) -> None:
        """A copy between two planes alike."""
        destination = self._plane(command.destination, command, "cgCopy", "destination")
        source = self._plane(command.source, command, "cgCopy", "source")
        if destination is None or source is None:
            return
        elements = destination.elements
        if elements != source.elements or destination.family.element is not source.family.element:
            names = plane_name(source), plane_name(destination)
            shapes = _shape(source), _shape(destination)
            self._report(CopyDiffers(command.origin.span, command.origin, *names, *shapes))
            return
        accesses = (
            self.table.access(destination, elements, AccessMode.WRITE),
            self.table.access(source, elements, AccessMode.READ),
        )
        self.nodes.append(CopyNode(len(self.nodes), self.phase, command.origin, accesses))

    def _plane(self, value: Value, command: FillCommand | CopyCommand, operation: str, what: str) -> PlaneValue | None:
        if isinstance(value, PlaneValue):
            return value
        if isinstance(value, Unknown) and self.problems:
            return None  # because of a problem that was reported
        found = f"the natural {value}" if isinstance(value, int) else "no plane"
        self._report(NoPlaneHere(command.origin.span, command.origin, operation, what, found))
        return None

    def _report(self, problem: Problem) -> None:
        self.problems.append(blame(problem, self.root))

    def _image(self, signature: Signature) -> Image:
        image = self._images.get(signature.name)
        if image is None:
            half = self.table.half
            slots = tuple(
                slot if slot.element is None else evolve(slot, element=bind_element(slot.element, half))
                for slot in signature.slots
            )
            bound = evolve(signature, slots=slots)
            image = Image(bound, signature.constants)  # type: ignore[arg-type]  # a build has ints only
            self._images[signature.name] = image
        return image


def _shape(plane: PlaneValue) -> str:
    return f"{plane.family.element.value}, {plane.elements} elements"
