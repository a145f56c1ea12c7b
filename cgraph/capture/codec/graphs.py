"""A command graph as plain data: tables of places, planes, phases, images, shapes and nodes.

Receives a graph as the builder makes it; guarantees, when reading, a graph whose every index is in range. That it reads
nothing unwritten, overruns no plane and asks only for launches that devices take is left to `verify`.
"""

from typing import Any

from cgraph.capture.codec import fields
from cgraph.capture.codec.images import BOUND_ELEMENTS, image_data, read_image
from cgraph.capture.codec.nodes import nodes_data, read_nodes
from cgraph.capture.codec.places import PlacesWriter, read_places
from cgraph.capture.codec.planes import phases_data, planes_data, read_phases, read_planes
from cgraph.capture.codec.shapes import ShapesWriter, read_shapes
from cgraph.check.limits import MOST_NATURAL
from cgraph.core.elements import Element
from cgraph.graph.model import CommandGraph

GRAPH_KEYS = (
    "entry", "half", "parameters", "sources", "texts", "origins", "planes", "phases", "images", "shapes", "nodes",
)  # fmt: skip
MOST_IMAGES = 65_536


def graph_data(graph: CommandGraph) -> dict[str, Any]:
    """A graph as plain data. Raises ValueError for one that no builder made."""
    places, shapes = PlacesWriter(), ShapesWriter()
    planes = planes_data(graph.planes, places)
    nodes = nodes_data(graph, shapes, places)
    images = [image_data(image, places) for image in shapes.images]
    return {
        "entry": graph.entry,
        "half": graph.half.value,
        "parameters": [[name, fields.number_data(value)] for name, value in graph.parameters],
        **places.data(),
        "planes": planes,
        "phases": phases_data(graph.phases),
        "images": images,
        "shapes": shapes.data(),
        "nodes": nodes,
    }


def read_graph(value: object, place: str) -> CommandGraph:
    """A graph from plain data. Raises FieldError."""
    (entry, half, parameters, sources, texts, origins, planes, phases, images, shapes, nodes) = fields.record(
        value, place, GRAPH_KEYS
    )
    places = read_places(sources, texts, origins, place)
    known_planes = read_planes(planes, f"{place}.planes", places)
    known_phases = read_phases(phases, f"{place}.phases")
    known_images = [
        read_image(image, f"{place}.images.{row}", places)
        for row, image in enumerate(fields.listing(images, f"{place}.images", most=MOST_IMAGES))
    ]
    known_shapes = read_shapes(shapes, f"{place}.shapes", known_images)
    return CommandGraph(
        entry=fields.name(entry, f"{place}.entry"),
        parameters=_read_parameters(parameters, f"{place}.parameters"),
        half=fields.choice(Element, half, f"{place}.half", BOUND_ELEMENTS),
        planes=known_planes,
        phases=known_phases,
        nodes=read_nodes(nodes, f"{place}.nodes", known_planes, len(known_phases), places.origins, known_shapes),
    )


def _read_parameters(value: object, place: str) -> tuple[tuple[str, int | float], ...]:
    parameters: list[tuple[str, int | float]] = []
    for row, data in enumerate(fields.listing(value, place)):
        name, given = fields.listing(data, f"{place}.{row}", 2)
        number = fields.number(given, f"{place}.{row}.1")
        if isinstance(number, int):
            fields.integer(number, f"{place}.{row}.1", 0, MOST_NATURAL - 1)
        parameters.append((fields.name(name, f"{place}.{row}.0"), number))
    fields.distinct([name for name, _ in parameters], place, "parameter")
    return tuple(parameters)
