"""The view of a command graph, at any stage: built, scheduled, planned, measured.

Receives verified values of the line from text to planes; a stage that is missing leaves its part of the view unknown.
Guarantees the same view for the same values, wherever the program lies. Cost linear in commands, accesses and edges.
"""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from cgraph.core.signatures import Slot
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph, Image, LaunchNode, Plane
from cgraph.memory.model import MemoryPlan
from cgraph.schedule.cost import CostModel, longest_path
from cgraph.schedule.model import Schedule
from cgraph.source import Source
from cgraph.view.commands import view_node
from cgraph.view.dependencies import edges_of_hazards, edges_of_schedule
from cgraph.view.documentation import documentation_of
from cgraph.view.model import (
    Roofline,
    View,
    ViewKernel,
    ViewKind,
    ViewLifetime,
    ViewMemory,
    ViewNote,
    ViewPhase,
    ViewPlane,
    ViewSlot,
)
from cgraph.view.places import Places


def view_of_graph(
    graph: CommandGraph,
    schedule: Schedule | None = None,
    plan: MemoryPlan | None = None,
    *,
    elapsed_ms: Sequence[float] | None = None,
    model: CostModel | None = None,
    title: str | None = None,
    kind: ViewKind = "program",
    sources: Iterable[Source] = (),
    registers: Mapping[Image, int] | None = None,
    notes: Iterable[ViewNote] = (),
) -> View:
    """A graph as a view.

    Args:
        graph: verified.
        schedule: of this graph. Without one the edges are the hazards, not reduced, and there is no critical path.
        plan: of this schedule; gives offsets and the memory's figures.
        elapsed_ms: measured time of each node, by index.
        model: that estimates are made with; the default is the cost model's.
        title: a heading; the entry's name where it is not given.
        kind: what the graph was made from.
        sources: further texts of the program, whose comments may document phases, planes and images.
        registers: of a thread, for the images whose code is at hand.
        notes: to be shown with the graph.
    """
    model = model or CostModel()
    places = Places()
    kernels: dict[Image, int] = {}
    for node in graph.nodes:
        if isinstance(node, LaunchNode):
            kernels.setdefault(node.image, len(kernels))
    nodes = [view_node(graph, node, places, kernels, model) for node in graph.nodes]
    plane_origins = [places.declaration(plane.span, plane.family) for plane in graph.planes]
    lifetimes = _lifetimes(graph)
    signatures = [image.signature.span.source for image in kernels]
    documents = documentation_of(dict.fromkeys((*places.sources, *signatures, *sources)))
    if elapsed_ms is not None:
        nodes = [attrs.evolve(node, elapsed_ms=time_ms) for node, time_ms in zip(nodes, elapsed_ms, strict=True)]
    sequence = tuple(range(len(nodes))) if schedule is None else schedule.sequence
    path: tuple[tuple[int, ...], float | None] = ((), None)
    if schedule is None:
        edges = edges_of_hazards(find_hazards(graph))
    else:
        costs_us = [node.cost_us or 0.0 for node in nodes]
        path = longest_path(schedule, costs_us if elapsed_ms is None else [1e3 * time_ms for time_ms in elapsed_ms])
        edges, barriers = edges_of_schedule(schedule)
        nodes += [barrier.node for barrier in barriers]
        sequence = _with_barriers(sequence, {barrier.first_after: place for place, barrier in enumerate(barriers)})
    positions = {node: position for position, node in enumerate(sequence)}
    origin_tables = places.tables()
    return View(
        title=title or graph.entry,
        kind=kind,
        entry=graph.entry,
        half=graph.half.value,
        parameters=graph.parameters,
        order=None if schedule is None else schedule.order.value,
        sources=origin_tables[0],
        origins=origin_tables[1],
        phases=tuple(
            ViewPhase(phase.name, phase.title, phase.parent, "phase", documents.get(phase.name))
            for phase in graph.phases
        ),
        kernels=tuple(_kernel(image, documents, registers or {}) for image in kernels),
        planes=tuple(
            _plane(plane, plan, documents, origin) for plane, origin in zip(graph.planes, plane_origins, strict=True)
        ),
        nodes=tuple(nodes),
        edges=tuple(edges),
        sequence=sequence,
        memory=None
        if plan is None
        else ViewMemory(plan.size_bytes, plan.lower_bound_bytes, plan.unshared_bytes, plan.persistent_bytes),
        lifetimes=tuple(
            ViewLifetime(plane, positions[first], positions[last]) for plane, (first, last) in lifetimes.items()
        ),
        critical_path=path[0],
        critical_path_us=path[1],
        timed=elapsed_ms is not None,
        roofline=Roofline(model.bandwidth_bytes_per_us, model.operations_per_us, model.overhead_us, model.device),
        notes=tuple(notes),
    )


def _lifetimes(graph: CommandGraph) -> dict[int, tuple[int, int]]:
    """First and last node, in program order, that touches each plane."""
    uses: dict[int, tuple[int, int]] = {}
    for node in graph.nodes:
        for access in node.accesses:
            first, _ = uses.get(access.plane, (node.index, 0))
            uses[access.plane] = (first, node.index)
    return dict(sorted(uses.items()))


def _with_barriers(sequence: Sequence[int], barrier_before: Mapping[int, int]) -> tuple[int, ...]:
    """The sequence with each barrier before the first node that waits for it; barriers are numbered after the nodes."""
    found = []
    for node in sequence:
        if node in barrier_before:
            found.append(len(sequence) + barrier_before[node])
        found.append(node)
    return tuple(found)


def _kernel(image: Image, documents: Mapping[str, str], registers: Mapping[Image, int]) -> ViewKernel:
    signature = image.signature
    return ViewKernel(
        name=signature.name,
        symbol=signature.entry,
        file=signature.file,
        slots=tuple(map(_slot, signature.slots)),
        registers=registers.get(image),
        constants=image.constants,
        doc=documents.get(signature.name),
    )


def _slot(slot: Slot) -> ViewSlot:
    return ViewSlot(
        slot.name,
        slot.kind.value,
        None if slot.element is None else slot.element.value,
        None if slot.access is None else slot.access.value,
    )


def _plane(plane: Plane, plan: MemoryPlan | None, documents: Mapping[str, str], origin: int) -> ViewPlane:
    return ViewPlane(
        name=plane.name,
        family=plane.family,
        element=plane.element.value,
        extent=plane.extent,
        role=plane.role.value,
        size_bytes=plane.size_bytes,
        offset=None if plan is None else plan.offsets[plane.index],
        gradient_of=plane.gradient_of,
        doc=documents.get(plane.family),
        origin=origin,
    )
