"""The projection without bias. Weights are stored [outputs, inputs]."""

from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array


def linear(x: ArrayLike, weight: ArrayLike) -> FloatArray:
    """The product y = x · weightᵀ.

    Args:
        x: [rows, inputs].
        weight: [outputs, inputs].

    Returns:
        y: [rows, outputs].

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    x = real_array("x", x, ("rows", "inputs"))
    weight = real_array("weight", weight, ("outputs", x.shape[1]))
    return x @ weight.T


def linear_bwd(x: ArrayLike, weight: ArrayLike, dy: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Gradients of `linear`: dx = dy · weight, dweight = dyᵀ · x.

    Args:
        x: [rows, inputs].
        weight: [outputs, inputs].
        dy: [rows, outputs].

    Returns:
        dx: [rows, inputs]; dweight: [outputs, inputs].

    Raises:
        ValueError: a shape does not fit or a value is not finite.
    """
    x = real_array("x", x, ("rows", "inputs"))
    weight = real_array("weight", weight, ("outputs", x.shape[1]))
    dy = real_array("dy", dy, (x.shape[0], weight.shape[0]))
    return dy @ weight, dy.T @ x
