"""The gradients of a backward program, compared with differences of its forward program.

Receives a pair and its two programs ready to run, both in f64 as far as they allow; guarantees one row for each
gradient, and names everything that the rows leave out. What error is acceptable is the caller's choice (`verdict`).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.protocol import Executable
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph, Plane
from cgraph.models.differences import DOUBLE_ROUNDOFF, FloatArray, GradientRow, Progress, check_gradient
from cgraph.models.forward import not_finite, run_forward
from cgraph.models.pairs import Pair
from cgraph.models.random_planes import random_planes

UNIT_ROUNDOFF = {Element.F16: 2.0**-11, Element.BF16: 2.0**-8, Element.F32: 2.0**-24, Element.F64: DOUBLE_ROUNDOFF}


class Verdict(Enum):
    """What a row shows. `UNRESOLVED`: the forward program is too noisy for differences to show such an error."""

    OK = "ok"
    MISMATCH = "mismatch"
    UNRESOLVED = "unresolved"


@frozen(eq=False)
class GradientCheck:
    """How the gradients of a pair compare.

    Args:
        rows: by the variable's name, in the order of the pair's results.
        problems: gradients that are not finite.
        without_gradient: variables that the backward program computes no gradient of.
        without_weight: outputs of the forward program that the loss does not hold.
        zeros: variables of integers that no values were given for; they hold zeros.
    """

    rows: tuple[GradientRow, ...]
    problems: tuple[Problem, ...]
    without_gradient: tuple[str, ...]
    without_weight: tuple[str, ...]
    zeros: tuple[str, ...]


def verdict(row: GradientRow, tolerance: float) -> Verdict:
    """Whether both errors of a row keep to the tolerance, and whether differences could have shown one that does not.

    A gradient that is zero everywhere, and looks so to the differences, is right: there is no size to measure by.
    """
    if max(row.element_error, row.direction_error) > tolerance:
        return Verdict.MISMATCH
    if row.resolution > tolerance and row.norm > 0:
        return Verdict.UNRESOLVED
    return Verdict.OK


def check_pair(
    pair: Pair,
    forward: Executable,
    backward: Executable,
    *,
    samples: int,
    seed: int,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    on_progress: Progress | None = None,
) -> GradientCheck:
    """Runs the forward and then the backward program, and compares each gradient with differences of the former.

    Args:
        pair: the two programs.
        forward: prepared from `pair.forward`.
        backward: prepared from `pair.backward`.
        samples: elements to move one by one, of planes that have more.
        seed: of the values and of the draws.
        inputs: values by plane name, in the planes' element types and extents, to be used instead of random ones.
        on_progress: as for `check_gradient`.

    Raises:
        ProblemsFound: CG715, the forward program's results are not finite.
    """
    values = {**random_planes((pair.forward, pair.backward), seed), **(inputs or {})}
    kept = run_forward(pair.forward, forward, values)
    problems = not_finite(pair.forward, kept, "forward")
    if problems:
        raise ProblemsFound(problems)
    gradients = _run_backward(pair, backward, values, kept)
    loss = _Loss(pair, forward, values)
    rows = check_gradient(
        loss,
        {variable.name: values[variable.name].astype(np.float64) for variable, _ in pair.results},
        gradients,
        [variable.name for variable, _ in pair.results],
        samples=samples,
        seed=seed,
        roundoff=_roundoff(pair.forward),
        on_progress=on_progress,
    )
    return GradientCheck(
        rows=tuple(_explained(row, loss.moves) for row in rows),
        problems=tuple(not_finite(pair.backward, _by_gradient(pair, gradients), "backward")),
        without_gradient=tuple(
            plane.name for plane in pair.variables if plane.name not in gradients and plane.element is not Element.I32
        ),
        without_weight=_without_weight(pair),
        zeros=tuple(
            plane.name for plane in pair.variables if plane.element is Element.I32 and plane.name not in (inputs or {})
        ),
    )


def count_comparisons(pair: Pair, samples: int) -> int:
    """How often `on_progress` is called, if all gradients are finite."""
    return sum(min(variable.elements, samples) + 1 for variable, _ in pair.results)


@frozen(eq=False)
class _Loss:
    """The forward program as a function of its variables."""

    pair: Pair
    executable: Executable
    values: dict[str, NDArray[Any]]
    moves: dict[str, Plane] = field(init=False)
    # What the executable's planes hold; most calls move one plane only.
    _held: dict[str, object] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        names = {variable.name for variable, _ in self.pair.results}
        moves = {plane.name: plane for plane in self.pair.forward.planes if plane.name in names}
        object.__setattr__(self, "moves", moves)

    def __call__(self, planes: dict[str, FloatArray]) -> float:
        for name, plane in self.moves.items():
            values = planes[name]
            if self._held.get(name) is not values:
                self.executable.set(name, values.astype(DTYPES[plane.element]))
                self._held[name] = values
        self.executable.run()
        total = 0.0
        for output, gradient in self.pair.losses:
            found = self.executable.get(output.name).astype(np.float64).ravel()
            total += float(
                found.sum() if gradient is None else found @ self.values[gradient.name].astype(float).ravel()
            )
        return total


def _run_backward(
    pair: Pair, backward: Executable, values: dict[str, NDArray[Any]], kept: dict[str, NDArray[Any]]
) -> dict[str, FloatArray]:
    """The gradients by the variable's name, in the variable's shape."""
    given = {**values, **{name: kept[name] for name in pair.passed}}
    for plane in pair.backward.planes:
        if plane.name in given:
            backward.set(plane.name, given[plane.name])
    backward.run()
    return {
        variable.name: backward.get(gradient.name).astype(np.float64).reshape(variable.extent)
        for variable, gradient in pair.results
    }


def _by_gradient(pair: Pair, gradients: dict[str, FloatArray]) -> dict[str, NDArray[Any]]:
    return {gradient.name: gradients[variable.name].reshape(gradient.extent) for variable, gradient in pair.results}


def _explained(row: GradientRow, moves: dict[str, Plane]) -> GradientRow:
    if row.name in moves:
        return row
    return evolve(row, finding="the forward program does not use the plane")


def _without_weight(pair: Pair) -> tuple[str, ...]:
    weighed = {output.name for output, _ in pair.losses}
    return tuple(plane.name for plane in pair.forward.planes if plane.role is Role.OUTPUT and plane.name not in weighed)


def _roundoff(graph: CommandGraph) -> float:
    return max([DOUBLE_ROUNDOFF, *(UNIT_ROUNDOFF.get(plane.element, 0.0) for plane in graph.planes)])
