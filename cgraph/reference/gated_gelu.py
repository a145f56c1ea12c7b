"""The gated feed-forward nonlinearity, GEGLU (Shazeer 2020): the GELU of one projection gates another."""

from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, real_array
from cgraph.reference.gelu import GeluForm, gelu, gelu_bwd


def gated_gelu(up: ArrayLike, gate: ArrayLike, *, form: GeluForm = "tanh") -> FloatArray:
    """gelu(gate) · up.

    Args:
        up: any shape.
        gate: the same shape.
        form: tanh, as the layer has it, or erf.

    Returns:
        gated: the same shape.

    Raises:
        ValueError: the shapes differ, the form is unknown, or a value is not finite.
    """
    up = real_array("up", up, (...,))
    gate = real_array("gate", gate, up.shape)
    return gelu(gate, form=form) * up


def gated_gelu_bwd(
    up: ArrayLike, gate: ArrayLike, dgated: ArrayLike, *, form: GeluForm = "tanh"
) -> tuple[FloatArray, FloatArray]:
    """Gradients of `gated_gelu`: dup = dgated · gelu(gate), dgate = dgated · up · gelu'(gate).

    Args:
        up: any shape.
        gate: the same shape.
        dgated: the same shape.
        form: as for `gated_gelu`.

    Returns:
        dup, dgate: the same shape.

    Raises:
        ValueError: the shapes differ, the form is unknown, or a value is not finite.
    """
    up = real_array("up", up, (...,))
    gate = real_array("gate", gate, up.shape)
    dgated = real_array("dgated", dgated, up.shape)
    return dgated * gelu(gate, form=form), gelu_bwd(gate, dgated * up, form=form)
