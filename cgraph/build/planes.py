"""The planes of the graph being built: each plane that a command touches gets an index at its first use."""

from collections.abc import Callable

from attrs import define, evolve, field

from cgraph.build.problems import PlaneTooLarge
from cgraph.check.primitives import plane_name
from cgraph.check.values import PlaneValue
from cgraph.core.elements import Element, bind_element
from cgraph.core.naturals import Natural
from cgraph.core.roles import AccessMode
from cgraph.diagnostics import Problem
from cgraph.graph.model import Access, Plane

MOST_BYTES = 1 << 63


@define(eq=False)
class PlaneTable:
    """Planes by family and indices. All sizes that come here are ints."""

    half: Element
    problems: list[Problem]
    planes: list[Plane] = field(factory=list)
    _indices: dict[tuple[str, tuple[Natural, ...]], int] = field(factory=dict)
    _gradients: dict[int, str] = field(factory=dict)

    def plane(self, value: PlaneValue) -> Plane:
        """The graph's plane behind a value."""
        key = (value.family.name, value.indices)
        index = self._indices.get(key)
        if index is None:
            index = len(self.planes)
            self._indices[key] = index
            self.planes.append(self._new(index, value))
        return self.planes[index]

    def access(self, value: PlaneValue, elements: Natural, mode: AccessMode) -> Access:
        """The bytes of so many elements from the value's offset on."""
        plane = self.plane(value)
        size_bytes = plane.element.size_bytes
        start = _int(value.offset) * size_bytes
        return Access(plane.index, start, start + _int(elements) * size_bytes, mode)

    def finished(self, find: Callable[[str, tuple[Natural, ...]], PlaneValue | None]) -> tuple[Plane, ...]:
        """All planes; `find` gives a plane by family and indices.

        A plane whose gradient is there is added even where no command touches it: the gradient refers to it.
        """
        position = 0
        while position < len(self.planes):
            plane = self.planes[position]
            if plane.gradient_of is None and (of := self._gradients.get(plane.index)) is not None:
                base = find(of, plane.indices)
                if base is not None:
                    self.planes[position] = evolve(plane, gradient_of=self.plane(base).index)
            position += 1
        return tuple(self.planes)

    def _new(self, index: int, value: PlaneValue) -> Plane:
        family = value.family
        if family.gradient_of is not None:
            self._gradients[index] = family.gradient_of
        plane = Plane(
            index=index,
            name=plane_name(value),
            family=family.name,
            indices=tuple(map(_int, value.indices)),
            element=bind_element(family.element, self.half),
            extent=tuple(map(_int, value.extent)),
            role=family.role,
            gradient_of=None,
            span=family.span,
        )
        if plane.size_bytes >= MOST_BYTES:
            self.problems.append(PlaneTooLarge(plane.span, plane.name, plane.elements, plane.element.value))
        return plane


def _int(value: Natural) -> int:
    """A size of a build: parameters are bound, so nothing symbolic is left."""
    if not isinstance(value, int):
        raise TypeError(f"a size is still symbolic: {value}")
    return value
