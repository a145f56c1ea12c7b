"""Gradients judged by differences of the function alone.

Receives a scalar function of named planes and the gradients claimed for them; guarantees that every element of every
named plane takes part in a comparison: single elements (all, or a random sample) and one dense direction through the
whole plane. It knows nothing of programs or of how the function computes; what error is acceptable is left to the
caller.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Function: TypeAlias = Callable[[dict[str, FloatArray]], float]
Progress: TypeAlias = Callable[[str, int, int], None]

DOUBLE_ROUNDOFF = 2.0**-53
# How often all planes are moved by one roundoff to see the function's noise.
NOISE_SAMPLES = 4
# A difference's four values have noise that differs by up to three times the typical one; among a plane's many
# differences the greatest is some three times as large again.
NOISE_ALLOWANCE = 9.0


@frozen
class GradientRow:
    """How the gradient of one plane compares with differences.

    Args:
        name: the plane's. elements: how many it has. checked: how many of them were moved one by one.
        element_error: the greatest |difference - gradient| over the checked elements, relative to the root mean square
            of the gradient over the plane or of the differences over the checked elements, whichever is greater.
        direction_error: |difference - gradient · direction| along the dense direction, relative to
            ‖gradient‖ · rms(direction) or to the difference, whichever is greater.
        resolution: what the function's noise alone may add to either error. It is already taken off both, so an error
            of 0 means 0 ± resolution.
        norm: ‖gradient‖, Euclidean.
        finding: what else is to be said, e.g. that the gradient is zero or not finite; otherwise empty. An error that
            cannot be worked out because a value is not finite is infinite.
    """

    name: str
    elements: int
    checked: int
    element_error: float
    direction_error: float
    resolution: float
    norm: float
    finding: str


def check_gradient(
    function: Function,
    inputs: Mapping[str, FloatArray],
    gradients: Mapping[str, FloatArray],
    names: Sequence[str],
    *,
    samples: int,
    seed: int,
    roundoff: float = DOUBLE_ROUNDOFF,
    on_progress: Progress | None = None,
) -> tuple[GradientRow, ...]:
    """Compares each named gradient with central differences of the function.

    A difference is Richardson's (4·D(h/2) - D(h)) / 3 with D(h) = (f(x+h) - f(x-h)) / 2h; its error falls with h⁴. The
    step h is the root mean square of the plane (1 for a plane of zeros) times the fifth root of the roundoff, where
    that error and the function's noise are about equal. The noise is how far f moves when every named plane moves by
    one roundoff, for a stable computation adds about as much on its own (Higham 2002, section 1.5); what it can explain
    is not counted as an error, so a gradient that is truly zero passes.

    The dense direction has random signs and sizes between 1/2 and 3/2: every element counts, and equal and opposite
    errors do not cancel.

    Args:
        function: a scalar of the planes; gives the same value for the same planes and does not change them.
        inputs: every plane that the function needs; the named ones in float64.
        gradients: the claimed gradient of each named plane, in the plane's shape.
        names: the planes to check, in the order of the rows.
        samples: of a plane with more elements than this, this many are drawn and checked one by one.
        seed: of the draws; the same seed gives the same rows.
        roundoff: unit roundoff of the least precise step inside the function.
        on_progress: called with the plane's name, how many of its comparisons are done, and how many it has.

    Returns:
        A row for each name, after four calls of the function for each comparison and five before the first.

    Raises:
        ValueError: a name has no input or no gradient, a gradient's shape differs from its input's, samples is below 1,
            or roundoff is not between 0 and 1.
    """
    _check_arguments(inputs, gradients, names, samples, roundoff)
    planes = dict(inputs)
    value = float(function(dict(planes)))
    noise = _noise(function, planes, names, value, roundoff, np.random.default_rng(seed))
    rows = []
    for name in names:
        probe = _Probe(function, planes, name, noise, _step(planes[name], roundoff))
        # The draws depend on the name and not on the planes before it.
        generator = np.random.default_rng([seed, *name.encode()])
        gradient = np.asarray(gradients[name], dtype=np.float64)
        rows.append(_row(probe, gradient, math.isfinite(value), samples, generator, on_progress))
    return tuple(rows)


@frozen(eq=False)
class _Probe:
    """Moves one plane of the function."""

    function: Function
    planes: dict[str, FloatArray]
    name: str
    noise: float
    step: float

    @property
    def resolution(self) -> float:
        """Differences that lie closer than this cannot be told apart."""
        return NOISE_ALLOWANCE * self.noise / self.step

    def element(self, place: tuple[int, ...]) -> float:
        """The difference when one element moves."""
        return self._difference(lambda step: _moved(self.planes[self.name], place, step))

    def along(self, direction: FloatArray) -> float:
        """The difference when the whole plane moves along a direction."""
        return self._difference(lambda step: self.planes[self.name] + step * direction)

    def _difference(self, moved: Callable[[float], FloatArray]) -> float:
        def value(step: float) -> float:
            return float(self.function({**self.planes, self.name: moved(step)}))

        wide = (value(self.step) - value(-self.step)) / (2 * self.step)
        narrow = (value(self.step / 2) - value(-self.step / 2)) / self.step
        return (4 * narrow - wide) / 3


def _row(
    probe: _Probe,
    gradient: FloatArray,
    function_is_finite: bool,
    samples: int,
    generator: np.random.Generator,
    on_progress: Progress | None,
) -> GradientRow:
    name, size = probe.name, gradient.size
    if size == 0:
        return GradientRow(name, 0, 0, 0.0, 0.0, 0.0, 0.0, "the plane has no elements")
    if not np.isfinite(gradient).all():
        bad = np.argwhere(~np.isfinite(gradient))
        finding = f"the gradient is not finite at {bad[0].tolist()}, {len(bad)} of its {size} elements"
        return GradientRow(name, size, 0, math.inf, math.inf, math.inf, math.inf, finding)
    norm = _norm(gradient)
    if not function_is_finite:
        return GradientRow(name, size, 0, math.inf, math.inf, math.inf, norm, "the function is not finite here")

    chosen = np.arange(size) if size <= samples else np.sort(generator.choice(size, samples, replace=False))
    found = np.empty(len(chosen))
    for done, index in enumerate(chosen, 1):
        found[done - 1] = probe.element(tuple(int(i) for i in np.unravel_index(index, gradient.shape)))
        if on_progress is not None:
            on_progress(name, done, len(chosen) + 1)
    signs = generator.choice([-1.0, 1.0], gradient.shape)
    direction = signs * generator.uniform(0.5, 1.5, gradient.shape)
    along = probe.along(direction)
    if on_progress is not None:
        on_progress(name, len(chosen) + 1, len(chosen) + 1)

    usual = max(norm / math.sqrt(size), _norm(found) / math.sqrt(len(chosen)))
    overall = max(norm * _norm(direction) / math.sqrt(size), abs(along))
    unlike = float(np.abs(found - gradient.ravel()[chosen]).max())
    askew = abs(along - float((gradient * direction).sum()))
    return GradientRow(
        name=name,
        elements=size,
        checked=len(chosen),
        element_error=_relative(unlike - probe.resolution, usual),
        direction_error=_relative(askew - probe.resolution, overall),
        resolution=max(_relative(probe.resolution, usual), _relative(probe.resolution, overall)),
        norm=norm,
        finding=_finding(found, along, gradient, chosen, probe.resolution),
    )


def _finding(found: FloatArray, along: float, gradient: FloatArray, chosen: NDArray[np.intp], resolution: float) -> str:
    if not np.isfinite(found).all():
        place = np.unravel_index(chosen[~np.isfinite(found)][0], gradient.shape)
        return f"the function is not finite when the element at {[int(i) for i in place]} moves"
    if not math.isfinite(along):
        return "the function is not finite when the whole plane moves"
    if not gradient.any():
        return "the gradient is zero everywhere"
    if np.abs(gradient).max() <= resolution:
        return "the gradient is too small for differences to resolve"
    return ""


def _relative(error: float, scale: float) -> float:
    """The error in units of the scale; no error is 0 at any scale, and infinite is what cannot be worked out."""
    if not (math.isfinite(error) and math.isfinite(scale)):
        return math.inf
    return error / scale if error > 0 and scale > 0 else 0.0


def _noise(
    function: Function,
    planes: dict[str, FloatArray],
    names: Sequence[str],
    value: float,
    roundoff: float,
    generator: np.random.Generator,
) -> float:
    """How far the function strays by rounding: at least one roundoff of its value."""
    noise = roundoff * abs(value)
    for _ in range(NOISE_SAMPLES):
        # Moves of one spacing, for a move of half of one, the roundoff, would be rounded away.
        moved = {
            name: planes[name] * (1 + 2 * roundoff * generator.choice([-1.0, 1.0], np.shape(planes[name])))
            for name in names
        }
        noise = max(noise, abs(float(function({**planes, **moved})) - value))
    return noise


def _step(plane: FloatArray, roundoff: float) -> float:
    scale = _norm(plane) / math.sqrt(max(1, plane.size))
    return (scale if math.isfinite(scale) and scale > 0 else 1.0) * math.pow(roundoff, 1 / 5)


def _norm(plane: FloatArray) -> float:
    """The Euclidean norm, without overflow or underflow of the squares."""
    greatest = float(np.abs(plane).max(initial=0.0))
    if greatest == 0 or not math.isfinite(greatest):
        return greatest
    return greatest * float(np.linalg.norm(plane / greatest))


def _moved(plane: FloatArray, place: tuple[int, ...], step: float) -> FloatArray:
    moved = np.array(plane, dtype=np.float64)
    moved[place] += step
    return moved


def _check_arguments(
    inputs: Mapping[str, FloatArray],
    gradients: Mapping[str, FloatArray],
    names: Sequence[str],
    samples: int,
    roundoff: float,
) -> None:
    if samples < 1:
        raise ValueError(f"samples: expected 1 or more, got {samples}")
    if not 0 < roundoff < 1:
        raise ValueError(f"roundoff: expected a number between 0 and 1, got {roundoff}")
    for name in names:
        if name not in inputs:
            raise ValueError(f"names: no input is called {name}")
        if name not in gradients:
            raise ValueError(f"gradients: none is given for {name}")
        given, expected = list(np.shape(gradients[name])), list(np.shape(inputs[name]))
        if given != expected:
            raise ValueError(f"gradients: {name} has shape {given}, its input {expected}")
