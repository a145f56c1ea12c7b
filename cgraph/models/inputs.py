"""Makes arrays from files fit the planes of a graph.

Receives arrays by plane name; gives those that the graph takes, in the planes' element types and extents, and warnings
for arrays that nothing takes and for values that are not finite.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.problems import PlaneMismatch
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import CommandGraph, Plane
from cgraph.graph.purposes import given_planes
from cgraph.models.problems_files import InputWithoutPlane, NotFinite, WrongKindOfNumbers

Arrays = dict[str, NDArray[Any]]
_MOST_NAMES_SHOWN = 5


def fit_inputs(graph: CommandGraph, arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, tuple[Problem, ...]]:
    """Arrays for the planes that must be given, and warnings.

    Floating arrays are rounded to the plane's element type; anything else must be of that type already.

    Raises:
        ProblemsFound: CG703 for another extent, CG725 for another kind of numbers.
    """
    by_name = {plane.name: plane for plane in given_planes(graph)}
    errors: list[Problem] = []
    warnings: list[Problem] = []
    fitted: Arrays = {}
    for name, array in arrays.items():
        plane = by_name.get(name)
        if plane is None:
            continue
        problem = _misfit(plane, array)
        if problem is not None:
            errors.append(problem)
            continue
        fitted[name] = array.astype(DTYPES[plane.element], copy=False)
        warnings.extend(_unusual(plane, array))
    if errors:
        raise ProblemsFound(errors)
    known = {plane.name for plane in graph.planes}
    strange = [f"`{name}`" for name in arrays if name not in known]
    if strange and len(strange) == len(arrays):
        more = len(strange) - _MOST_NAMES_SHOWN
        shown = ", ".join(strange[:_MOST_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
        warnings.append(InputWithoutPlane(None, shown))
    return fitted, tuple(warnings)


def _misfit(plane: Plane, array: NDArray[Any]) -> Problem | None:
    floating = plane.element is not Element.I32
    if _is_float(array) is not floating:
        return WrongKindOfNumbers(plane.span, plane.name, plane.element.value, str(array.dtype))
    if array.shape != plane.extent:
        expected = f"{DTYPES[plane.element]} {list(plane.extent)}"
        return PlaneMismatch(plane.span, plane.name, expected, f"{array.dtype} {list(array.shape)}")
    return None


def _unusual(plane: Plane, array: NDArray[Any]) -> list[Problem]:
    if plane.element is Element.I32:
        return []
    finite = np.isfinite(array)
    if finite.all():
        return []
    first = tuple(int(place) for place in np.unravel_index(int(np.argmin(finite)), array.shape))
    return [NotFinite(plane.span, plane.name, int(array.size - np.count_nonzero(finite)), int(array.size), first)]


def _is_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "f" or array.dtype == DTYPES[Element.BF16]
