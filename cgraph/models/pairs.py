"""A pair: a backward program and the forward program that it differentiates.

Receives two built graphs; guarantees that every plane which the backward program needs has a known origin: drawn values
(inputs, weights, gradients of outputs) or the forward program's run (what it keeps). Planes belong together by name,
family and indices. Finding and compiling the two programs is left to the caller.
"""

from bisect import bisect_right
from collections.abc import Iterator

from attrs import field, frozen

from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph, Plane
from cgraph.graph.ranges import Range, describe_range, missing_ranges, overlap
from cgraph.models.problems import NoGradients, NoLoss, NotKept, OutputMissing, PlanesDiffer
from cgraph.models.touched import Touched, touched

VARIABLE = (Role.INPUT, Role.WEIGHT)
KEPT = (Role.OUTPUT, Role.SAVED)


@frozen(eq=False)
class Pair:
    """Which planes of the two programs belong together.

    Args:
        forward, backward: the two graphs.
        variables: the inputs and weights of the forward program, then those that only the backward program has.
        losses: outputs of the forward program, each with the gradient that weighs it in the loss; None stands for 1.
        passed: names of the planes that the forward program writes and the backward program reads.
        results: variables, each with its gradient in the backward program, in the order of the variables.
        inner: names of gradients whose plane the forward program computes or no float can move: differences of the
            forward program cannot judge them.
    """

    forward: CommandGraph = field(repr=False)
    backward: CommandGraph = field(repr=False)
    variables: tuple[Plane, ...]
    losses: tuple[tuple[Plane, Plane | None], ...]
    passed: tuple[str, ...]
    results: tuple[tuple[Plane, Plane], ...]
    inner: tuple[str, ...]


def pair_graphs(forward: CommandGraph, backward: CommandGraph) -> Pair:
    """The two programs as a pair.

    The loss is the sum of the forward program's outputs, each times the gradient that the backward program is given for
    it. Where it is given none, the loss is the only output that has a single element.

    Raises:
        ProblemsFound: with all problems of CG711 to CG714 and CG716.
    """
    problems: list[Problem] = []
    variables, passed = _origins(touched(forward), touched(backward), problems)
    losses = tuple(_losses(touched(forward), touched(backward), problems))
    results, inner = _results(touched(backward), variables, problems)
    if problems:
        raise ProblemsFound(problems)
    return Pair(forward, backward, tuple(variables.values()), losses, passed, results, inner)


def missing_saved(graph: CommandGraph) -> tuple[str, ...]:
    """The saved planes that a graph reads and does not write: its forward program has to fill them."""
    uses = touched(graph)
    return tuple(plane.name for plane in graph.planes if uses.is_given_saved(plane))


def _origins(forward: Touched, backward: Touched, problems: list[Problem]) -> tuple[dict[str, Plane], tuple[str, ...]]:
    """The variables by name, and the names of the planes that the forward program passes on."""
    there = {plane.name: plane for plane in forward.graph.planes}
    variables = {name: plane for name, plane in there.items() if plane.role in VARIABLE}
    passed = []
    for plane in backward.graph.planes:
        if plane.role not in VARIABLE and not backward.is_given_saved(plane):
            continue
        other = there.get(plane.name)
        if other is not None and (plane.element, plane.extent) != (other.element, other.extent):
            problems.append(_difference(plane, other, "in the forward program it"))
        elif other is None and plane.role in VARIABLE:
            variables[plane.name] = plane
        elif plane.name not in variables:
            kept = forward.writes[other.index] if other is not None and other.role in KEPT else []
            passed.append(plane.name)
            problems.extend(_not_kept(plane, backward.reads[plane.index], other, kept))
    return variables, tuple(passed)


def _not_kept(plane: Plane, reads: list[Range], other: Plane | None, kept: list[Range]) -> Iterator[Problem]:
    """One problem, if any byte that the backward program reads was not written."""
    missing = list(missing_ranges(0, plane.size_bytes, kept))
    stops = [stop for _, stop in missing]
    for start, stop in reads:
        place = bisect_right(stops, start)
        if place < len(missing) and (gap := overlap((start, stop), missing[place])) is not None:
            role, span = (None, None) if other is None else (other.role.value, other.span)
            yield NotKept(plane.span, plane.name, describe_range(plane, *gap), role, span)
            return


def _losses(forward: Touched, backward: Touched, problems: list[Problem]) -> Iterator[tuple[Plane, Plane | None]]:
    outputs = {
        plane.name: plane for plane in forward.graph.planes if plane.role is Role.OUTPUT and forward.is_written(plane)
    }
    given = [plane for plane in backward.graph.planes if backward.is_given_gradient(plane)]
    for gradient in given:
        name = _base(backward.graph, gradient).name
        output = outputs.get(name)
        if output is None:
            problems.append(OutputMissing(gradient.span, name, gradient.name, tuple(outputs)))
        elif output.elements != gradient.elements:
            problems.append(_difference(gradient, output, f"its output {name}"))
        else:
            yield output, gradient
    if given:
        return
    scalars = [plane for plane in outputs.values() if plane.elements == 1]
    if len(scalars) == 1:
        yield scalars[0], None
    else:
        problems.append(NoLoss(None, backward.graph.entry, tuple(outputs)))


def _results(
    backward: Touched, variables: dict[str, Plane], problems: list[Problem]
) -> tuple[tuple[tuple[Plane, Plane], ...], tuple[str, ...]]:
    found = {
        _base(backward.graph, plane).name: plane
        for plane in backward.graph.planes
        if backward.is_gradient_of(plane, *VARIABLE)
    }
    if not found:
        problems.append(NoGradients(None, backward.graph.entry))
    results = []
    for name, variable in variables.items():
        if name not in found or variable.element is Element.I32:
            continue
        gradient = found.pop(name)
        if gradient.elements == variable.elements:
            results.append((variable, gradient))
        else:
            problems.append(_difference(gradient, variable, f"its plane {name}"))
    return tuple(results), tuple(gradient.name for gradient in found.values())


def _base(graph: CommandGraph, gradient: Plane) -> Plane:
    """The plane whose gradient it is, which `is_gradient_of` has found."""
    return graph.planes[-1 if gradient.gradient_of is None else gradient.gradient_of]


def _difference(plane: Plane, other: Plane, called: str) -> Problem:
    return PlanesDiffer(plane.span, plane.name, _shape(plane), called, _shape(other), other.span)


def _shape(plane: Plane) -> str:
    return f"{plane.element.value} {list(plane.extent)}"
