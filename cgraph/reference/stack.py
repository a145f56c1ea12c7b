"""A stack of layers. A boundary is the plane between two layers: boundary l is the input of layer l."""

from collections.abc import Sequence
from typing import Unpack

from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array
from cgraph.reference.layer import LayerOptions, layer_backward, layer_forward
from cgraph.reference.weights import LayerGradients, LayerWeights


def stack_forward(
    x: ArrayLike, weights: Sequence[LayerWeights], **options: Unpack[LayerOptions]
) -> tuple[FloatArray, ...]:
    """Every boundary: x itself, then the output of each layer.

    Args:
        x: [seq, width].
        weights: one per layer, the lowest first.
        options: those of `layer_forward`, the same for every layer.

    Returns:
        len(weights) + 1 planes [seq, width]; the last is the stack's output.

    Raises:
        ValueError: as for `layer_forward`.
    """
    boundaries = [real_array("x", x, ("seq", "width"))]
    for layer in weights:
        y, _ = layer_forward(boundaries[-1], layer, **options)
        boundaries.append(y)
    return tuple(boundaries)


def stack_backward(
    x: ArrayLike,
    weights: Sequence[LayerWeights],
    dy: ArrayLike,
    **options: Unpack[LayerOptions],
) -> tuple[FloatArray, tuple[LayerGradients, ...]]:
    """Gradients of the stack's input and of every layer's weights, the lowest layer first.

    Args:
        x: [seq, width].
        weights: one per layer, the lowest first.
        dy: [seq, width], the gradient of the stack's output.
        options: those of `layer_forward`, the same for every layer.

    Raises:
        ValueError: as for `layer_forward`.
    """
    boundaries = stack_forward(x, weights, **options)
    return stack_backward_from_boundaries(boundaries, weights, dy, **options)


def stack_backward_from_boundaries(
    boundaries: Sequence[ArrayLike],
    weights: Sequence[LayerWeights],
    dy: ArrayLike,
    **options: Unpack[LayerOptions],
) -> tuple[FloatArray, tuple[LayerGradients, ...]]:
    """The same from given boundaries, which need not be what `stack_forward` gives (they may have been rounded).

    Args:
        boundaries: the input of each layer, the lowest first; the stack's output may follow and is not read.
        weights: one per layer, the lowest first.
        dy: [seq, width], the gradient of the stack's output.
        options: those of `layer_forward`, the same for every layer.

    Raises:
        ValueError: there are neither as many boundaries as layers nor one more; or as for `layer_forward`.
    """
    if len(boundaries) not in (len(weights), len(weights) + 1):
        raise ValueError(f"boundaries: expected {len(weights)} or one more, got {len(boundaries)}")
    gradient = real_array("dy", dy, ("seq", "width"))
    gradients = []
    for x, layer in zip(reversed(boundaries[: len(weights)]), reversed(weights), strict=True):
        gradient, of_weights = layer_backward(x, layer, gradient, **options)
        gradients.append(of_weights)
    return gradient, tuple(reversed(gradients))
