"""The weights that a model starts from.

Receives a built graph; guarantees values that depend on a plane's name, its extent and the seed alone, so that they are
the same for every device, order and optimizer. Rules, the first that applies to a plane of role `weight`:

- two axes or more, of a family in `RESIDUAL` (the projections whose output is added to the stream of tokens): normal
  with deviation 0.02/sqrt(2·layers), where the layers are the planes of that family;
- two axes or more (matrices and embeddings): normal with deviation 0.02;
- one axis and a family's name that ends in `Gain`: 1;
- one axis (shifts and biases): 0.

Source: Radford et al., Language models are unsupervised multitask learners (2019), and the code that came with it.
"""

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgraph.backends.dtypes import DTYPES
from cgraph.core.roles import Role
from cgraph.graph.model import CommandGraph

DEVIATION = 0.02
RESIDUAL = frozenset({"cgOutputWeight", "cgDownWeight"})
GAIN = "Gain"


def first_weights(graph: CommandGraph, seed: int) -> dict[str, NDArray[Any]]:
    """Values for every weight plane by name, in the planes' element types and extents.

    Args:
        graph: of a training step.
        seed: 0 or more.
    """
    planes = [plane for plane in graph.planes if plane.role is Role.WEIGHT]
    layers = Counter(plane.family for plane in planes)
    weights: dict[str, NDArray[Any]] = {}
    for plane in planes:
        if len(plane.extent) > 1:
            deviation = DEVIATION / math.sqrt(2 * layers[plane.family]) if plane.family in RESIDUAL else DEVIATION
            values = deviation * np.random.default_rng([seed, *plane.name.encode()]).standard_normal(plane.extent)
        else:
            values = np.full(plane.extent, 1.0 if plane.family.endswith(GAIN) else 0.0)
        weights[plane.name] = values.astype(DTYPES[plane.element])
    return weights
