"""Reproducible values for the planes that a program is given.

Receives built graphs; guarantees that a plane's values depend on its name, extent and the seed alone, so that the two
programs of a pair, another order of planes and another element type get the same values, up to rounding.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.backends.memory_needs import check_sizes, host_available_bytes
from cgraph.core.elements import Element
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph, Plane

GAIN_DEVIATION = 0.1


def random_planes(graphs: Iterable[CommandGraph], seed: int) -> dict[str, NDArray[Any]]:
    """Values for every input, weight, state and gradient of an output, by name.

    Inputs and gradients are normal with deviation 1. Weights of two or more axes have deviation 1/sqrt(last extent), as
    they are stored [outputs, inputs]: activations then stay near 1. Nothing tells a vector of gains from one of shifts
    or biases; all weights of one axis are 1 + 0.1 · normal, because gains near 0 would switch off what they scale, and
    shifts near 1 do no harm. A state is zero, as before a first run. Planes of i32 get zeros too: which integers a
    program can use is not known here, and 0 is an index of everything that has elements.

    Args:
        graphs: of one program or of several that share planes by name.
        seed: 0 or more.

    Returns:
        Arrays of the planes' element types and extents.

    Raises:
        ProblemsFound: CG718 where the values are more than this machine's memory holds.
    """
    planes = {
        plane.name: plane
        for graph in graphs
        for plane in graph.planes
        if plane.role in (Role.INPUT, Role.WEIGHT, Role.STATE) or _is_gradient_of_output(graph, plane)
    }
    check_sizes({name: plane.size_bytes for name, plane in planes.items()}, "the host", host_available_bytes())
    return {name: random_plane(plane, seed) for name, plane in planes.items()}


def _is_gradient_of_output(graph: CommandGraph, plane: Plane) -> bool:
    return plane.gradient_of is not None and graph.planes[plane.gradient_of].role is Role.OUTPUT


def random_plane(plane: Plane, seed: int) -> NDArray[Any]:
    """The values of one plane, as `random_planes` says."""
    if plane.element is Element.I32 or plane.role is Role.STATE:
        return np.zeros(plane.extent, DTYPES[plane.element])
    values = np.random.default_rng([seed, *plane.name.encode()]).standard_normal(plane.extent)
    if plane.role is Role.WEIGHT and len(plane.extent) > 1:
        values /= math.sqrt(max(1, plane.extent[-1]))
    elif plane.role is Role.WEIGHT:
        values = 1 + GAIN_DEVIATION * values
    return values.astype(DTYPES[plane.element])
