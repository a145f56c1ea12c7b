"""What a program must offer to be trained: entries and their planes.

Receives a checked program or graphs built from it; reports all that is missing. The entries:

- `step` (AdamW) or `stepSgd`: one training step. It reads ids and targets of all microbatches and `cgControl`, changes
  the weights and the planes of role `state`, and gives `cgLoss` and `cgGradientNorm`;
- `evaluate`: from `cgTokenIds` and `cgTargets` to `cgLoss`;
- `predict`: from `cgTokenIds` to the logits in `cgPrediction`.

`cgControl` is [learning rate, beta1, beta2, epsilon, weight decay, largest gradient norm or 0, steps after which the
loss scale doubles or 0, largest loss scale]. `cgProgress` is [updates done, updates skipped for overflow, updates since
the scale last changed, 1 if the last step was skipped]. `cgScale` is the loss scale.
"""

from collections.abc import Mapping

from attrs import frozen

from cgraph.check.program import CheckedProgram
from cgraph.core.elements import Element, bind_element
from cgraph.core.roles import Role
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph, Plane
from cgraph.models.training.problems_training import EntryMissing, PlaneOfContract

STEP_ENTRIES = {"adamw": "step", "sgd": "stepSgd"}
EVALUATE = "evaluate"
PREDICT = "predict"
KEPT_ROLES = (Role.WEIGHT, Role.STATE)

_PURPOSES = {
    "step": ("computes one training step with AdamW", "`--optimizer sgd` uses `stepSgd`"),
    "stepSgd": ("computes one training step with plain SGD", "`--optimizer adamw` uses `step`"),
    EVALUATE: ("computes the loss of a batch", "do without it with `--evaluation-share 0`"),
    PREDICT: ("computes the logits of each position", "do without it with `--sample-length 0`"),
}


@frozen
class ContractPlane:
    """A plane that an entry must touch.

    Args:
        extent: numbers, and names of sizes: one name is one size in all planes of an entry.
    """

    name: str
    element: Element
    extent: tuple[int | str, ...]
    role: Role

    def __str__(self) -> str:
        return f"{self.element.value} [{', '.join(map(str, self.extent))}] {self.role.value}"


_STEP = (
    ContractPlane("cgStepIds", Element.I32, ("cgMicrobatches", "cgSeq", "cgBatch"), Role.INPUT),
    ContractPlane("cgStepTargets", Element.I32, ("cgMicrobatches", "cgSeq", "cgBatch"), Role.INPUT),
    ContractPlane("cgControl", Element.F32, (8,), Role.INPUT),
    ContractPlane("cgProgress", Element.I32, (4,), Role.STATE),
    ContractPlane("cgScale", Element.F32, (1,), Role.STATE),
    ContractPlane("cgLoss", Element.F32, (1,), Role.OUTPUT),
    ContractPlane("cgGradientNorm", Element.F32, (1,), Role.OUTPUT),
)
_PLANES = {
    "step": _STEP,
    "stepSgd": _STEP,
    EVALUATE: (
        ContractPlane("cgTokenIds", Element.I32, ("cgSeq", "cgBatch"), Role.INPUT),
        ContractPlane("cgTargets", Element.I32, ("cgSeq", "cgBatch"), Role.INPUT),
        ContractPlane("cgLoss", Element.F32, (1,), Role.OUTPUT),
    ),
    PREDICT: (
        ContractPlane("cgTokenIds", Element.I32, ("cgSeq", "cgBatch"), Role.INPUT),
        ContractPlane("cgPrediction", Element.F32, ("cgTokens", "cgVocab"), Role.OUTPUT),
    ),
}


def require_entries(program: CheckedProgram, file: str, entries: tuple[str, ...]) -> None:
    """Looks for entries in a program and what it imports.

    Raises:
        ProblemsFound: CG785 for each that is missing.
    """
    missing = [
        EntryMissing(None, file, entry, *_PURPOSES[entry]) for entry in entries if entry not in program.definitions
    ]
    if missing:
        raise ProblemsFound(missing)


def require_planes(graph: CommandGraph, sizes: Mapping[str, int]) -> dict[str, int]:
    """Looks at the planes of an entry's graph.

    Args:
        graph: of `step`, `stepSgd`, `evaluate` or `predict`.
        sizes: by name, that are known already.

    Returns:
        Those and the ones that the planes have: `cgMicrobatches`, `cgSeq`, `cgBatch`, `cgTokens`, `cgVocab`.

    Raises:
        ProblemsFound: CG786 for each plane that is missing or has another form.
    """
    by_name = {plane.name: plane for plane in graph.planes}
    found = dict(sizes)
    problems: list[Problem] = []
    for expected in _PLANES[graph.entry]:
        problem = _misfit(graph, by_name.get(expected.name), expected, found)
        if problem is not None:
            problems.append(problem)
        elif {"cgSeq", "cgBatch"} <= found.keys():
            found["cgTokens"] = found["cgSeq"] * found["cgBatch"]
    if problems:
        raise ProblemsFound(problems)
    return found


def require_weights(graph: CommandGraph, trained: CommandGraph) -> None:
    """Looks whether each weight that an entry reads is one that the training step has, in the same form.

    Raises:
        ProblemsFound: CG786 for each that is not.
    """
    known = {plane.name: _form(plane) for plane in trained.planes if plane.role is Role.WEIGHT}
    problems = [
        PlaneOfContract(plane.span, trained.entry, plane.name, _form(plane), known.get(plane.name, ""))
        for plane in graph.planes
        if plane.role is Role.WEIGHT and known.get(plane.name) != _form(plane)
    ]
    if problems:
        raise ProblemsFound(problems)


def kept_planes(graph: CommandGraph) -> tuple[Plane, ...]:
    """The planes that training changes: weights and state."""
    return tuple(plane for plane in graph.planes if plane.role in KEPT_ROLES)


def _misfit(graph: CommandGraph, plane: Plane | None, expected: ContractPlane, sizes: dict[str, int]) -> Problem | None:
    """What is wrong with a plane; new sizes are added to `sizes`."""
    if plane is None:
        return PlaneOfContract(None, graph.entry, expected.name, str(expected), "")
    fits = (
        plane.role is expected.role
        and plane.element is bind_element(expected.element, graph.half)
        and len(plane.extent) == len(expected.extent)
    )
    if fits:
        for size, wanted in zip(plane.extent, expected.extent, strict=True):
            fits &= size == (sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted)
    if fits:
        return None
    known = ", ".join(f"{size} = {sizes[size]}" for size in expected.extent if isinstance(size, str) and size in sizes)
    described = f"{expected}, where {known}" if known else str(expected)
    return PlaneOfContract(plane.span, graph.entry, plane.name, described, _form(plane))


def _form(plane: Plane) -> str:
    return f"{plane.element.value} [{', '.join(map(str, plane.extent))}] {plane.role.value}"
