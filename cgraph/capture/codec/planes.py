"""Planes and phases as columns.

Receives what a graph holds; guarantees, when reading, planes whose names are the only ones, whose sizes are ints below
2^63 bytes, and phases that stand behind the phases around them. How planes are used is left to the commands.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from cgraph.capture.codec import fields
from cgraph.capture.codec.images import BOUND_ELEMENTS
from cgraph.capture.codec.places import NOTHING, Places, PlacesWriter
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.graph.model import Phase, Plane

PLANE_KEYS = ("name", "family", "indices", "element", "extent", "role", "gradient_of", "span")
PHASE_KEYS = ("name", "title", "parent")
MOST_DIMENSIONS = 64
MOST_TITLE = 100_000  # characters


def planes_data(planes: Sequence[Plane], places: PlacesWriter) -> dict[str, list[Any]]:
    """Planes as columns; their spans join the places."""
    rows = [
        (
            plane.name,
            plane.family,
            list(plane.indices),
            plane.element.value,
            list(plane.extent),
            plane.role.value,
            NOTHING if plane.gradient_of is None else plane.gradient_of,
            places.span(plane.span),
        )
        for plane in planes
    ]
    return {key: [row[column] for row in rows] for column, key in enumerate(PLANE_KEYS)}


def read_planes(value: object, place: str, places: Places) -> tuple[Plane, ...]:
    """Planes from columns. Raises FieldError."""
    columns = fields.record(value, place, PLANE_KEYS)
    count = len(fields.listing(columns[0], f"{place}.name"))
    for key, column in zip(PLANE_KEYS, columns, strict=True):
        fields.listing(column, f"{place}.{key}", count)
    names, families, indices, elements, extents, roles, gradients, spans = columns
    fields.texts(names, f"{place}.name", fields.name)
    fields.texts(families, f"{place}.family", fields.name)
    fields.distinct(names, f"{place}.name", "plane")
    fields.integers(gradients, f"{place}.gradient_of", NOTHING, count - 1)
    known = zip(
        names,
        families,
        fields.number_lists(indices, f"{place}.indices", count),
        fields.choices(Element, elements, f"{place}.element", count, BOUND_ELEMENTS),
        fields.number_lists(extents, f"{place}.extent", count),
        fields.choices(Role, roles, f"{place}.role", count),
        (None if row == NOTHING else row for row in gradients),
        places.column(spans, f"{place}.span", count),
        strict=True,
    )
    planes = tuple(Plane(index, *row) for index, row in enumerate(known))
    for plane in planes:
        # A size of 0 hides no size that an array could not have.
        if max(len(plane.extent), len(plane.indices)) > MOST_DIMENSIONS or (
            prod(filter(None, plane.extent)) * plane.element.size_bytes > fields.LARGEST
        ):
            expected = f"a plane of less than 2^63 bytes and at most {MOST_DIMENSIONS} dimensions"
            raise fields.wrong(f"{place}.extent.{plane.index}", expected, plane.extent)
    return planes


def phases_data(phases: Sequence[Phase]) -> dict[str, list[Any]]:
    """Phases as columns."""
    return {
        "name": [phase.name for phase in phases],
        "title": [phase.title for phase in phases],
        "parent": [NOTHING if phase.parent is None else phase.parent for phase in phases],
    }


def read_phases(value: object, place: str) -> tuple[Phase, ...]:
    """Phases from columns. Raises FieldError."""
    names, titles, parents = fields.record(value, place, PHASE_KEYS)
    count = len(fields.listing(names, f"{place}.name"))
    fields.listing(titles, f"{place}.title", count)
    fields.integers(parents, f"{place}.parent", NOTHING, count - 1, count)
    phases = []
    for index, (name, title, parent) in enumerate(zip(names, titles, parents, strict=True)):
        if parent >= index:
            raise fields.wrong(f"{place}.parent.{index}", "an earlier phase", parent)
        phases.append(
            Phase(
                index,
                fields.name(name, f"{place}.name.{index}"),
                fields.text(title, f"{place}.title.{index}", MOST_TITLE),
                None if parent == NOTHING else parent,
            )
        )
    return tuple(phases)
