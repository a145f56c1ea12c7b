"""Graphs of training steps with planes and without commands."""

from cgraph.core.elements import Element, bind_element
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph, Plane
from cgraph.source import Source, Span

SPAN = Span(Source("<planes>", ""), 0, 0)


def plane(name: str, element: Element, extent: tuple[int, ...], role: Role) -> Plane:
    return Plane(0, name, name.partition(" ")[0], (), element, extent, role, None, SPAN)


def weight(name: str, extent: tuple[int, ...]) -> Plane:
    return plane(name, Element.F32, extent, Role.WEIGHT)


def training_graph(planes: tuple[Plane, ...], half: Element = Element.F32) -> CommandGraph:
    bound = tuple(
        Plane(index, p.name, p.family, (), bind_element(p.element, half), p.extent, p.role, None, SPAN)
        for index, p in enumerate(planes)
    )
    return CommandGraph("step", (), half, bound, (), ())
