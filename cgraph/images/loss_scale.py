"""The factor that every gradient is larger by, so that f16 does not round small ones to 0."""

from cgraph.images.context import Array


def loss_scale(scale: Array) -> float:
    """The factor in scale[1]; a scale that was never set is 0 and counts as 1."""
    given = float(scale[0])
    return 1.0 if given == 0 else given
